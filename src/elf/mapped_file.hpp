#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "sonictrace/base/result.hpp"
#include "sonictrace/base/unique_fd.hpp"

namespace sonictrace::elf {

/// Owns a read-only, private mapping of a whole regular file.
///
/// A file that is truncated while it is mapped raises SIGBUS on access (mmap(2)). Package managers
/// and linkers replace files by rename or unlink, which leaves the mapped inode whole.
class MappedFile {
public:
  static Result<MappedFile> map(const UniqueFd& file, const std::string& name);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> bytes_;
};

} // namespace sonictrace::elf
