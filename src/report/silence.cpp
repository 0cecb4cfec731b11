#include "sonictrace/report/silence.hpp"

#include <algorithm>

namespace sonictrace::report {

void SilenceFinder::on_call(const log::Call& call) {
  if (call.entry_ns == log::kNoTime || !filter_.accepts(call, functions_)) return;
  timed_calls_ += call.has_duration() ? 1 : 0;
  Thread& thread = threads_[options_.any_thread ? log::kNoTid : call.tid];
  if (thread.begun && call.entry_ns > thread.last_end_ns) {
    if (call.entry_ns - thread.last_end_ns >= options_.min_ns) {
      if (thread.spans.size() >= most_open_) settle(thread, most_open_ / 2);
      thread.spans.push_back(
          {thread.last_end_ns, call.entry_ns, call.tid, thread.last, call.function});
    }
  } else {
    // What seemed silent was inside of it, or its end was.
    if (call.entry_ns < thread.settled_to_ns) ++late_calls_;
    while (!thread.spans.empty() && thread.spans.back().from_ns >= call.entry_ns)
      thread.spans.pop_back();
    if (!thread.spans.empty() && thread.spans.back().to_ns >= call.entry_ns) {
      SilentSpan& cut = thread.spans.back();
      cut.to_ns = call.entry_ns;
      cut.after = call.function;
      if (cut.length_ns() < options_.min_ns) thread.spans.pop_back();
    }
  }
  // A call that did not end runs as long as its thread does.
  if (!thread.begun || call.end_ns() >= thread.last_end_ns) {
    thread.last_end_ns = call.end_ns();
    thread.last = call.function;
  }
  thread.begun = true;
}

void SilenceFinder::on_event(const log::Event& event) {
  if (event.kind != log::LineKind::Exited || options_.any_thread) return;
  const auto ended = threads_.find(event.tid);
  if (ended == threads_.end()) return;
  settle(ended->second, ended->second.spans.size());
  threads_.erase(ended); // its number may be another one's next
}

void SilenceFinder::settle(Thread& thread, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto& span = thread.spans[i];
    ++spans_;
    total_ns_ += span.length_ns();
    longest_.add(span);
    thread.settled_to_ns = span.to_ns;
  }
  thread.spans.erase(thread.spans.begin(),
                     thread.spans.begin() + static_cast<std::ptrdiff_t>(count));
}

void SilenceFinder::finish() {
  for (auto& [tid, thread] : threads_)
    settle(thread, thread.spans.size());
  threads_.clear();
}

} // namespace sonictrace::report
