#pragma once

#include <cstddef>
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
  /// Mappings have changed (dlclose).
  void forget();

private:
  struct Code {
    AddressRange range;
    const CodeModule* module; ///< null: its file can't be read
  };
  std::unique_ptr<CodeModule> find_module(const AddressSpace& space, const Mapping& mapping) const;

  OpenImage open_;
  std::vector<Code> code_;
  std::vector<std::unique_ptr<CodeModule>> modules_;
};

} // namespace sonictrace
