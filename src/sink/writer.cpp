#include "sonictrace/sink/writer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "sink/compressor.hpp"

namespace sonictrace {

Result<UniqueFd> open_log(const std::string& path) {
  // O_CLOEXEC: the log must not leak into the traced program.
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return Error::from_errno("can't open " + path + " for writing");
  return UniqueFd(fd);
}

Compression compression_of(std::string_view path) {
  if (path.ends_with(".zst")) return Compression::Zstd;
  if (path.ends_with(".gz")) return Compression::Gzip;
  return Compression::None;
}

Writer::Writer(UniqueFd fd, Buffering buffering, std::string name, Compression compression)
    : fd_(std::move(fd)), buffering_(buffering), name_(std::move(name)),
      compressor_(make_compressor(compression)) {
  pending_.reserve(kBlockSize + kBlockSize / 16);
}

Writer::Writer(Writer&&) noexcept = default;
Writer::~Writer() = default;

void Writer::write_block() {
  if (compressor_) {
    if (!gave_up_) compressor_->compress(pending_, Compressor::Ending::Open, compressed_);
    is_flushed_ = false;
    pending_.clear();
  }
  write_outgoing();
}

void Writer::flush() {
  if (compressor_ && !is_finished_ && !(pending_.empty() && is_flushed_)) {
    if (!gave_up_) compressor_->compress(pending_, Compressor::Ending::Flushed, compressed_);
    is_flushed_ = true;
    pending_.clear();
  }
  write_outgoing();
}

void Writer::finish() {
  if (compressor_ && !is_finished_) {
    if (!gave_up_) compressor_->compress(pending_, Compressor::Ending::Ended, compressed_);
    is_finished_ = true;
    pending_.clear();
  }
  write_outgoing();
  if (!is_blocked_) return;
  give_up("its reader does not read, so the log is cut");
  outgoing().clear();
}

void Writer::write_outgoing() {
  std::string& bytes = outgoing();
  if (bytes.empty()) return;
  if (!gave_up_ && try_outgoing()) return;
  if (is_blocked_ && bytes.size() > kMaxBlocked) give_up("its reader does not read");
  if (!is_blocked_ && bytes.size() > kMaxPending) gave_up_ = true;
  // From here on the log would have a gap, so nothing more is written.
  if (gave_up_) bytes.clear();
}

bool Writer::try_outgoing() {
  std::string& bytes = outgoing();
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

void Writer::give_up(const char* why) {
  is_blocked_ = false;
  gave_up_ = true;
  note_failure(Error::saying("can't write " + name_ + ": " + why));
}

void Writer::note_failure(Error error) {
  if (!first_error_) first_error_ = std::move(error);
}

Result<void> Writer::status() const {
  if (first_error_) return *first_error_;
  return {};
}

} // namespace sonictrace
