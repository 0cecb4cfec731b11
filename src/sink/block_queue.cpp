#include "sink/block_queue.hpp"

#include <csignal>
#include <utility>

namespace sonictrace {
namespace {

/// No signal is taken by the threads that are begun in its lifetime: those that there are mean the
/// thread that traces.
class NoSignals {
public:
  NoSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;

private:
  sigset_t before_ = {};
};

} // namespace

BlockQueue::BlockQueue(Outlet& outlet, const cpu_set_t& cores)
    : outlet_(outlet), outlet_is_compressed_(outlet.is_compressed()), size_(outlet.size()) {
  const NoSignals while_it_begins;
  thread_ = std::thread([this] { run(); });
  // Where it may not run, it runs where this thread does.
  ::pthread_setaffinity_np(thread_.native_handle(), sizeof cores, &cores);
}

BlockQueue::~BlockQueue() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool BlockQueue::put(std::string& block) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return blocks_.size() < kMostBlocks || has_failed_; });
  if (has_failed_) return false;
  if (!outlet_is_compressed_) size_ += block.size();
  blocks_.push_back(std::move(block));
  block.clear();
  if (!spare_.empty()) {
    block = std::move(spare_.back());
    spare_.pop_back();
  }
  changed_.notify_all();
  return true;
}

void BlockQueue::settle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return blocks_.empty() || has_failed_; });
}

void BlockQueue::give_back(std::string& text) {
  const std::lock_guard lock(mutex_);
  std::string all;
  for (const std::string& block : blocks_)
    all += block;
  blocks_.clear();
  text.insert(0, all);
}

void BlockQueue::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !blocks_.empty() || is_ending_; });
    if (blocks_.empty()) return;
    std::string& block = blocks_.front(); // stays where it is while others are put behind it
    lock.unlock();
    outlet_.write(block, Compressor::Ending::Open);
    lock.lock();
    if (outlet_is_compressed_) size_ = outlet_.size();
    if (!block.empty() || outlet_.first_error()) {
      has_failed_ = true;
      changed_.notify_all();
      return;
    }
    spare_.push_back(std::move(block));
    blocks_.pop_front();
    changed_.notify_all();
  }
}

} // namespace sonictrace
