#include "sink/outlet.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace sonictrace {

Outlet::Outlet(UniqueFd fd, std::string name, Compression compression)
    : fd_(std::move(fd)), name_(std::move(name)), compressor_(make_compressor(compression)) {}

void Outlet::write(std::string& text, Compressor::Ending ending) {
  using Ending = Compressor::Ending;
  if (!compressor_) return write_bytes(text);
  const bool has_something = !text.empty() || !is_flushed_ || ending == Ending::Ended;
  if (has_something && !is_finished_) {
    if (!gave_up_) compressor_->compress(text, ending, compressed_);
    is_flushed_ = ending != Ending::Open;
    is_finished_ = ending == Ending::Ended;
    text.clear();
  }
  write_bytes(compressed_);
}

void Outlet::finish(std::string& text) {
  write(text, Compressor::Ending::Ended);
  if (!is_blocked_) return;
  give_up("its reader does not read, so the log is cut");
  text.clear();
  compressed_.clear();
}

void Outlet::write_bytes(std::string& bytes) {
  if (bytes.empty()) return;
  if (!gave_up_ && try_bytes(bytes)) return;
  if (is_blocked_ && bytes.size() > kMaxBlocked) give_up("its reader does not read");
  if (!is_blocked_ && bytes.size() > kMaxPending) gave_up_ = true;
  // From here on the log would have a gap, so nothing more is written.
  if (gave_up_) bytes.clear();
}

bool Outlet::try_bytes(std::string& bytes) {
  std::size_t done = 0;
  bool success = true;
  is_blocked_ = false;
  while (done < bytes.size()) {
    const ssize_t n = ::write(fd_.get(), bytes.data() + done, bytes.size() - done);
    const int error = errno;
    if (n >= 0) {
      done += static_cast<std::size_t>(n);
      continue;
    }
    if (error == EAGAIN) { // stderr may have been made non-blocking by anybody who shares it
      pollfd wait = {fd_.get(), POLLOUT, 0};
      if (::poll(&wait, 1, -1) >= 0 || errno != EINTR) continue;
    }
    if (error == EAGAIN || error == EINTR) {
      is_blocked_ = true;
      success = false;
      break;
    }
    if (error == EPIPE) gave_up_ = true; // nobody will ever read it
    note_failure(Error(static_cast<std::errc>(error), "can't write " + name_));
    success = false;
    break;
  }
  written_ += done;
  bytes.erase(0, done);
  return success;
}

void Outlet::give_up(const char* why) {
  is_blocked_ = false;
  gave_up_ = true;
  note_failure(Error::saying("can't write " + name_ + ": " + why));
}

void Outlet::note_failure(Error error) {
  if (!first_error_) first_error_ = std::move(error);
}

} // namespace sonictrace
