#include "sonictrace/report/frame_calls.hpp"

#include <algorithm>

namespace sonictrace::report {

bool FrameCalls::is_frame(log::FunctionId function) {
  if (function >= is_frame_.size()) is_frame_.resize(function + 1);
  auto& known = is_frame_[function];
  if (known == 0) known = frame_function_.matches(functions_[function].name) ? 1 : -1;
  return known > 0;
}

/// Adds a call and what is inside of it.
void FrameCalls::take(const Pending& pending, Counts& counts) {
  if (pending.counts) ++counts[pending.function];
  if (pending.inside == 0) return;
  auto& inside = insides_[pending.inside - 1];
  if (counts.empty())
    counts.swap(inside);
  else
    for (const auto& [function, count] : inside)
      counts[function] += count;
  inside.clear();
  free_.push_back(pending.inside);
}

void FrameCalls::on_call(const log::Call& call) {
  if (call.end == log::Call::End::Unfinished) return;
  auto& pending = threads_[call.tid];
  Counts counts;
  for (std::uint32_t i = 0; i < call.children && !pending.empty(); ++i) {
    take(pending.back(), counts);
    pending.pop_back();
  }
  const bool is_frame_call = is_frame(call.function);
  Pending one{call.function, !is_frame_call && filter_.accepts(call, functions_), 0};
  if (is_frame_call && call.end != log::Call::End::NoReturn) {
    note_frame(counts);
  } else if (!counts.empty()) {
    if (free_.empty()) {
      insides_.emplace_back();
      free_.push_back(static_cast<std::uint32_t>(insides_.size()));
    }
    one.inside = free_.back();
    free_.pop_back();
    insides_[one.inside - 1].swap(counts);
  }
  // One that does not return has nothing around it that does.
  if (call.end == log::Call::End::NoReturn) {
    std::vector<Pending> alone = {one};
    leave_outside(alone, 1);
    return;
  }
  pending.push_back(one);
  if (pending.size() >= kMostPending) leave_outside(pending, kMostPending / 2);
}

void FrameCalls::on_event(const log::Event& event) {
  if (event.kind != log::LineKind::Exited && event.kind != log::LineKind::Exec) return;
  const auto thread = threads_.find(event.tid);
  if (thread == threads_.end()) return;
  leave_outside(thread->second, thread->second.size());
  threads_.erase(thread);
}

void FrameCalls::finish() {
  for (auto& [tid, pending] : threads_)
    leave_outside(pending, pending.size());
  threads_.clear();
}

/// The oldest ones are in no frame.
void FrameCalls::leave_outside(std::vector<Pending>& pending, std::size_t count) {
  Counts counts;
  for (std::size_t i = 0; i < count; ++i)
    take(pending[i], counts);
  pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(count));
  for (const auto& [function, calls] : counts) {
    functions_of_frames_[function].outside += calls;
    all_.outside += calls;
  }
}

void FrameCalls::note_frame(const Counts& counts) {
  ++frames_;
  std::uint64_t sum = 0;
  for (const auto& [function, count] : counts) {
    add_to(functions_of_frames_[function], count, frames_);
    sum += count;
  }
  add_to(all_, sum, frames_);
}

void FrameCalls::add_to(PerFrame& sums, std::uint64_t count, std::uint64_t frame) {
  sums.counts.add(count);
  sums.in_frames += count;
  if (count <= sums.most) return;
  sums.most = count;
  sums.worst = frame;
}

Table FrameCalls::table() const {
  Table table;
  table.columns = {{"median", "median"},
                   {"p99", "p99"},
                   {"max", "max"},
                   {"worst_frame", "worst frame"},
                   {"in_frames", "in frames"},
                   {"outside", "outside"},
                   {"calls", "calls"},
                   {"function", "function", true}};
  const auto add_row = [&](PerFrame sums, const std::string& name) {
    for (std::uint64_t i = sums.counts.total(); i < frames_; ++i)
      sums.counts.add(0);
    table.rows.push_back({sums.counts.quantile(500), sums.counts.quantile(990), sums.most,
                          sums.worst, sums.in_frames, sums.outside, sums.in_frames + sums.outside,
                          name});
  };
  std::vector<std::pair<log::FunctionId, const PerFrame*>> rows;
  for (const auto& [function, sums] : functions_of_frames_)
    if (filter_.accepts_module(functions_[function].module)) rows.emplace_back(function, &sums);
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    if (a.second->in_frames != b.second->in_frames)
      return a.second->in_frames > b.second->in_frames;
    return a.first < b.first;
  });
  for (const auto& [function, sums] : rows)
    add_row(*sums, functions_[function].name);
  add_row(all_, "(all)");
  return table;
}

} // namespace sonictrace::report
