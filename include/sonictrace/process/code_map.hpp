#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sonictrace/base/address_range.hpp"
#include "sonictrace/elf/image.hpp"
#include "sonictrace/process/address_space.hpp"

namespace sonictrace {

/// An image whose code is mapped in an address space.
struct CodeModule {
  AddressRange range; ///< from its first segment to the end of its last
  LoadBias bias;
  std::shared_ptr<const elf::Image> image; ///< never null
  std::string soname;                      ///< or the base name of the file

  /// Bytes of the file that lie at `from` in memory where the program can't have changed them:
  /// empty in a writable segment and outside of the image.
  std::span<const std::byte> constant_bytes(TraceeAddress from, std::size_t size) const;
};

/// A piece of a file that is mapped as code.
struct MappedCode {
  AddressRange range;
  std::uint64_t device = 0, inode = 0, offset = 0; ///< inode 0: the vdso
  std::shared_ptr<const CodeModule> module;        ///< null: its file can't be read

  bool operator==(const MappedCode&) const = default;
};

/// Which image holds a piece of code, by what the kernel has mapped: also modules that the dynamic
/// linker does not list (its own, the vdso, a static program). Remembers what it has found, so that
/// most questions cost no system call.
class CodeMap {
public:
  using OpenImage =
      std::function<Result<std::shared_ptr<const elf::Image>>(const UniqueFd&, const std::string&)>;
  struct Place {
    bool is_code = false;               ///< in an executable mapping
    const CodeModule* module = nullptr; ///< null: code that no file holds; lives until `forget`
  };

  explicit CodeMap(OpenImage open) : open_(std::move(open)) {}

  Place at(const AddressSpace& space, TraceeAddress address);
  /// The module whose segments hold `address`, of those that were found so far.
  const CodeModule* known_at(TraceeAddress address) const;

  /// All code of files that a process has mapped now, sorted by address. Modules in `known` are not
  /// parsed again. For a CodeMap that is asked later, when the process may be gone.
  static std::vector<MappedCode> survey(const AddressSpace& space, const OpenImage& open,
                                        const std::vector<MappedCode>& known);
  /// What a survey has found takes the place of all that is known. Returns whether something that
  /// was known is gone.
  bool learn(std::vector<MappedCode> all);

  /// How often `at` has asked the kernel.
  std::uint64_t questions() const { return questions_; }

  /// Mappings have changed (dlclose): of all, or only in a range.
  void forget();
  void forget(AddressRange range);

private:
  static std::shared_ptr<const CodeModule>
  find_module(const AddressSpace& space, const OpenImage& open, const Mapping& mapping);
  void list_modules();

  OpenImage open_;
  std::uint64_t questions_ = 0;
  std::vector<MappedCode> code_;                           ///< sorted by address
  std::vector<std::shared_ptr<const CodeModule>> modules_; ///< likewise; each once
};

} // namespace sonictrace
