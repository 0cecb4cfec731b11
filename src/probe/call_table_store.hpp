#pragma once

#include <optional>
#include <string>

#include "sonictrace/base/result.hpp"
#include "sonictrace/elf/calls.hpp"

namespace sonictrace {

/// Call tables in files, one for each image with a build id, so that its code need not be searched
/// in the next session.
///
/// A table says where breakpoints and patches go, so that one from somebody else must not be taken.
/// The directory and the file must be the user's own, written by nobody else, and no symbolic
/// links. What is read is checked as a whole (version, the program that has written it, size of the
/// image, checksum) and each entry against the image: a site must be an instruction's end that
/// refers to its slot. Whatever is wrong with a file or the directory, there is then no kept table,
/// and nobody is told. The directory is made only within one that is the user's own.
class CallTableStore {
public:
  explicit CallTableStore(std::string directory) : directory_(std::move(directory)) {}

  std::optional<elf::CallTable> load(const elf::Image& image) const;
  /// Replaces the file as a whole, or leaves what is there.
  void keep(const elf::Image& image, const elf::CallTable& table) const;

private:
  std::string directory_;
};

} // namespace sonictrace
