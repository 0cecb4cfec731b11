#include "sonictrace/sink/writer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace sonictrace {

Result<UniqueFd> open_log(const std::string& path) {
  // O_CLOEXEC: the log must not leak into the traced program.
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) {
    const int why = errno;
    return Error::saying("can't open " + path + " for writing: " + std::strerror(why) +
                         "; name another file with -o");
  }
  return UniqueFd(fd);
}

Writer::Writer(UniqueFd fd, Buffering buffering, std::string name)
    : fd_(std::move(fd)), buffering_(buffering), name_(std::move(name)) {
  pending_.reserve(kBlockSize + kBlockSize / 16);
}

void Writer::flush() {
  if (pending_.empty()) return;
  if (!gave_up_ && write_pending()) return;
  if (pending_.size() > kMaxPending) gave_up_ = true;
  // From here on the log would have a gap, so nothing more is written.
  if (gave_up_) pending_.clear();
}

bool Writer::write_pending() {
  std::size_t done = 0;
  bool success = true;
  while (done < pending_.size()) {
    const ssize_t n = ::write(fd_.get(), pending_.data() + done, pending_.size() - done);
    const int error = errno;
    if (n >= 0) {
      done += static_cast<std::size_t>(n);
      continue;
    }
    if (error == EINTR) continue;
    if (error == EAGAIN) { // stderr may have been made non-blocking by anybody who shares it
      pollfd wait = {fd_.get(), POLLOUT, 0};
      ::poll(&wait, 1, -1);
      continue;
    }
    if (error == EPIPE) gave_up_ = true; // nobody will ever read it
    note_failure(Error(static_cast<std::errc>(error), "can't write " + name_));
    success = false;
    break;
  }
  written_ += done;
  pending_.erase(0, done);
  return success;
}

void Writer::note_failure(Error error) {
  if (!first_error_) first_error_ = std::move(error);
}

Result<void> Writer::status() const {
  if (first_error_) return *first_error_;
  return {};
}

} // namespace sonictrace
