#include "sonictrace/log/log_input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "log/unpacker.hpp"

namespace sonictrace::log {
namespace {

Error cant_open(const std::string& path) {
  const int reason = errno;
  const char* advice = "";
  if (reason == ENOENT) advice = "; give the log that sonictrace -o or ltrace -o has written";
  if (reason == EACCES) advice = "; it has to be readable for this user";
  return Error::saying(fmt::format("can't open log {}: {}{}", path, std::strerror(reason), advice));
}

} // namespace

LogInput::LogInput(UniqueFd fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {}
LogInput::LogInput(LogInput&& other) noexcept = default;
LogInput& LogInput::operator=(LogInput&& other) noexcept = default;
LogInput::~LogInput() = default;

Result<LogInput> LogInput::open(const std::string& path) {
  UniqueFd fd;
  if (path == "-") {
    fd = UniqueFd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!fd)
      return Error::saying(
          "can't read standard input: it is closed; give a log, or `-` and a pipe");
  } else {
    fd = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return cant_open(path);
  }
  const std::string name = path == "-" ? "standard input" : path;
  struct stat what = {};
  if (::fstat(fd.get(), &what) == 0 && S_ISDIR(what.st_mode))
    return Error::saying(
        fmt::format("can't read log {}: it is a directory; give the log files in it", name));

  std::string begun(4, '\0');
  std::size_t size = 0;
  while (size < begun.size()) { // a pipe may give a byte at a time
    auto n = read_some(fd.get(), std::span(begun).subspan(size), name);
    if (!n) return n.error();
    if (*n == 0) break;
    size += *n;
  }
  begun.resize(size);
  LogInput input(std::move(fd), name);
  input.unpacker_ = make_unpacker(input.fd_.get(), begun, name);
  if (!input.unpacker_) input.begun_ = std::move(begun);
  return input;
}

Result<std::size_t> LogInput::read(std::span<char> into) {
  if (unpacker_) return unpacker_->read(into);
  if (!begun_.empty()) {
    const auto n = std::min(begun_.size(), into.size());
    std::memcpy(into.data(), begun_.data(), n);
    begun_.erase(0, n);
    return n;
  }
  return read_some(fd_.get(), into, name_);
}

bool LogInput::is_cut() const { return unpacker_ && unpacker_->is_cut(); }

} // namespace sonictrace::log
