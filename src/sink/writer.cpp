#include "sonictrace/sink/writer.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>

#include <system_error>
#include <utility>

#include "sink/block_queue.hpp"
#include "sink/outlet.hpp"

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

struct Writer::Cores {
  cpu_set_t set;
};

Writer::Writer(UniqueFd fd, Buffering buffering, std::string name, Compression compression)
    : buffering_(buffering),
      outlet_(std::make_unique<Outlet>(std::move(fd), std::move(name), compression)) {
  pending_.reserve(kBlockSize + kBlockSize / 16);
  struct stat file = {};
  if (buffering != Buffering::Background || ::fstat(outlet_->fd(), &file) != 0 ||
      !S_ISREG(file.st_mode))
    return;
  // Now, as a thread that traces may be bound to the core of its tracee later.
  Cores cores = {};
  if (::sched_getaffinity(0, sizeof cores.set, &cores.set) == 0)
    cores_ = std::make_unique<const Cores>(cores);
}

Writer::Writer(Writer&&) noexcept = default;
Writer::~Writer() = default;

void Writer::write_block() {
  if (cores_ && put_in_background()) return;
  if (!outlet_->is_blocked()) outlet_->write(pending_, Compressor::Ending::Open);
}

/// False, and then for ever, where something has failed.
bool Writer::put_in_background() {
  if (!queue_) {
    try {
      queue_ = std::make_unique<BlockQueue>(*outlet_, cores_->set);
    } catch (const std::system_error&) { // there is no room for a thread
      cores_.reset();
      return false;
    }
  }
  if (queue_->put(pending_)) {
    pending_.reserve(kBlockSize + kBlockSize / 16);
    return true;
  }
  settle();
  return false;
}

/// Waits until the outlet is free.
void Writer::settle() {
  if (!queue_) return;
  queue_->settle();
  if (!queue_->has_failed()) return;
  queue_->give_back(pending_);
  queue_.reset();
  cores_.reset();
}

void Writer::flush() {
  settle();
  outlet_->write(pending_, Compressor::Ending::Flushed);
  if (!queue_) return;
  if (outlet_->first_error()) {
    queue_.reset();
    cores_.reset();
  } else {
    queue_->outlet_used();
  }
}

void Writer::finish() {
  settle();
  queue_.reset();
  cores_.reset();
  outlet_->finish(pending_);
}

std::uint64_t Writer::size() const {
  const std::uint64_t size = queue_ ? queue_->size() : outlet_->size();
  return outlet_->is_compressed() ? size : size + pending_.size();
}

bool Writer::is_healthy() const { return queue_ ? !queue_->has_failed() : !outlet_->first_error(); }

Result<void> Writer::status() const {
  if (!is_healthy()) return *outlet_->first_error(); // a queue that has failed has left the outlet
  return {};
}

} // namespace sonictrace
