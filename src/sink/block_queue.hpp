#pragma once

#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "sink/outlet.hpp"

namespace sonictrace {

/// Hands blocks of text to an Outlet on a thread of its own, in their order, as long as all goes
/// well. After the first failure it does nothing more, and gives back what it did not write: then
/// the caller goes on by itself.
///
/// For files only: their writes end soon whatever happens. The thread takes no signals, so nothing
/// would end its wait for a reader who does not read.
class BlockQueue {
public:
  /// The outlet has to live as long. `cores`: where the thread may run; threads that trace follow
  /// their tracee, and this one must not be in their way.
  BlockQueue(Outlet& outlet, const cpu_set_t& cores);
  ~BlockQueue();
  BlockQueue(const BlockQueue&) = delete;

  /// Takes the text of `block` and leaves it empty; waits while there are many. False, with nothing
  /// done, after a failure.
  bool put(std::string& block);
  /// Waits until all is written, or something has failed. From then on, up to the next `put`, the
  /// outlet may be used.
  void settle();
  /// After settle(), in front of `text`: what was not written.
  void give_back(std::string& text);

  bool has_failed() const { return has_failed_; }
  /// Bytes of log: what was written, and what waits if it need not be compressed first.
  std::uint64_t size() const { return size_; }
  /// The outlet was used.
  void outlet_used() { size_ = outlet_.size(); }

private:
  static constexpr std::size_t kMostBlocks = 4;

  void run();

  Outlet& outlet_;
  const bool outlet_is_compressed_;
  std::atomic<bool> has_failed_ = false;
  std::atomic<std::uint64_t> size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by the mutex.
  std::deque<std::string> blocks_; ///< the first is the one that is being written, or was
  std::vector<std::string> spare_; ///< empty, with memory that is used again
  bool is_ending_ = false;
  std::thread thread_; ///< begins when all else is there
};

} // namespace sonictrace
