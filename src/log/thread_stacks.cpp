#include "log/thread_stacks.hpp"

namespace sonictrace::log {

ThreadState& ThreadStacks::find(std::uint32_t tid) {
  if (const auto known = threads_.find(tid); known != threads_.end()) {
    last_ = known->second.get();
    return *last_;
  }
  if (threads_.size() >= kMostThreads) // a log that never says that a thread has ended
    std::erase_if(threads_, [](const auto& one) { return one.second->open.empty(); });
  if (threads_.size() >= kMostThreads) threads_.clear();
  ++seen_;
  auto thread = std::make_unique<ThreadState>();
  thread->tid = tid;
  last_ = thread.get();
  threads_.emplace(tid, std::move(thread));
  return *last_;
}

std::uint64_t ThreadStacks::first_of_function(ThreadState& thread, FunctionId function,
                                              EntryKey key, std::uint64_t total_ns) {
  if (function >= thread.place_of.size()) {
    const std::size_t more = function + 1 - thread.place_of.size();
    if (places_ + more > kMostPlaces) return 0;
    places_ += more;
    thread.place_of.resize(function + 1);
  }
  if (places_ + 10 > kMostPlaces) return 0;
  places_ += 10;
  thread.same.emplace_back();
  thread.place_of[function] = static_cast<std::uint32_t>(thread.same.size());
  return thread.same.back().take_inside(key, total_ns);
}

void ThreadStacks::end_thread(ThreadState& thread) {
  places_ -= thread.place_of.size() + 10 * thread.same.size();
  thread.open.clear();
  thread.ended.clear();
  thread.indents.clear();
  thread.place_of.clear();
  thread.same.clear();
  if (last_ == &thread) last_ = nullptr;
  threads_.erase(thread.tid);
}

} // namespace sonictrace::log
