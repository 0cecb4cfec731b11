#include "engine/inline/collector_queue.hpp"

#include <iterator>
#include <utility>

namespace sonictrace {

void CollectorQueue::push(QueueItem item) {
  bool is_much = false;
  {
    const std::scoped_lock lock(mutex_);
    if (const auto* batch = std::get_if<QueuedBatch>(&item.what)) bytes_ += batch->bytes.size();
    items_.push_back(std::move(item));
    is_much = bytes_ >= kManyBytes;
  }
  if (is_much) wanted_.notify_one();
}

void CollectorQueue::take(std::deque<QueueItem>& to) {
  const std::scoped_lock lock(mutex_);
  if (to.empty()) return std::swap(to, items_);
  to.insert(to.end(), std::make_move_iterator(items_.begin()),
            std::make_move_iterator(items_.end()));
  items_.clear();
}

void CollectorQueue::passed_on(std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  bytes_ -= bytes;
  if (bytes_ < kMostBytes) room_.notify_one();
}

void CollectorQueue::wait_for_room(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  room_.wait_for(lock, at_most, [this] { return bytes_ < kMostBytes || stopped_; });
}

void CollectorQueue::wait(std::chrono::nanoseconds at_most) {
  std::unique_lock lock(mutex_);
  wanted_.wait_for(lock, at_most, [this] { return stopped_ || bytes_ >= kManyBytes; });
}

void CollectorQueue::stop() {
  const std::scoped_lock lock(mutex_);
  stopped_ = true;
  wanted_.notify_one();
  room_.notify_one();
}

bool CollectorQueue::is_stopped() const {
  const std::scoped_lock lock(mutex_);
  return stopped_;
}

} // namespace sonictrace
