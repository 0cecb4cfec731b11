#include "sonicreport/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace sonictrace::sonicreport {

constexpr std::size_t kBuffer = 1 << 18; ///< bytes

Result<OutputFile> OutputFile::open(const std::string& path) {
  if (path.empty()) return OutputFile(UniqueFd(), "standard output", "");
  struct stat status {};
  const bool is_special = ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  const std::string name = is_special ? path : path + ".tmp";
  const int flags = is_special ? O_WRONLY : O_WRONLY | O_CREAT | O_TRUNC;
  UniqueFd fd(::open(name.c_str(), flags | O_CLOEXEC, 0666));
  if (!fd) return Error::from_errno("can't write " + name);
  return OutputFile(std::move(fd), path, is_special ? "" : name);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : fd_(std::move(other.fd_)), path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})), buffer_(std::move(other.buffer_)) {}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<void> OutputFile::write(std::string_view text) {
  buffer_ += text;
  return buffer_.size() < kBuffer ? Result<void>() : flush();
}

Result<void> OutputFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t n = ::write(fd_ ? fd_.get() : STDOUT_FILENO, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error::from_errno("can't write " + path_);
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  buffer_.clear();
  return {};
}

Result<void> OutputFile::commit() {
  if (auto flushed = flush(); !flushed) return flushed;
  if (temporary_.empty()) return {};
  // Where the disk is full, some file systems say so only now (close(2)).
  if (::fsync(fd_.get()) != 0 && errno != EINVAL && errno != EROFS)
    return Error::from_errno("can't write " + temporary_);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0)
    return Error::from_errno("can't rename " + temporary_ + " to " + path_);
  temporary_.clear();
  return {};
}

} // namespace sonictrace::sonicreport
