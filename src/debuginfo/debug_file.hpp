#pragma once

#include <elfutils/libdw.h>
#include <libelf.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "debuginfo/budget.hpp"
#include "sonictrace/base/unique_fd.hpp"
#include "sonictrace/elf/image.hpp"

namespace sonictrace::debuginfo {

struct CloseElf {
  void operator()(Elf* elf) const { ::elf_end(elf); }
};
struct CloseDwarf {
  void operator()(Dwarf* dwarf) const { ::dwarf_end(dwarf); }
};

/// A file with debug information, opened by libdw, and the one that it shares parts with.
class DebugFile {
public:
  /// Nothing where libdw can't read it, or not within the time.
  static std::unique_ptr<DebugFile> open(UniqueFd file, std::shared_ptr<const elf::Image> image,
                                         const Budget& budget);

  /// Where dwz has put what several files share (.gnu_debugaltlink).
  struct Link {
    std::string path;
    std::string build_id;
  };
  std::optional<Link> shared_link() const;
  void set_shared(std::unique_ptr<DebugFile> shared);

  const elf::Image& image() const { return *image_; }
  Dwarf* dwarf() const { return dwarf_.get(); }

private:
  std::unique_ptr<DebugFile> shared_; ///< outlives what refers to it
  UniqueFd file_;
  std::shared_ptr<const elf::Image> image_;
  std::unique_ptr<Elf, CloseElf> elf_;
  std::unique_ptr<Dwarf, CloseDwarf> dwarf_;
};

/// Are types and functions described in it?
bool has_debug_info(const elf::Image& image);

/// A section without its compression: how large it is; nothing where that can't be true.
std::optional<std::uint64_t> plain_size(const elf::Section& section);

} // namespace sonictrace::debuginfo
