#include "sonictrace/report/stage_times.hpp"

namespace sonictrace::report {

void IntervalSet::add(std::uint64_t begin_ns, std::uint64_t end_ns) {
  auto next = ends_.upper_bound(begin_ns);
  if (next != ends_.begin()) {
    const auto before = std::prev(next);
    if (before->second >= end_ns) return; // most calls of a log that is sorted by their ends
    if (before->second >= begin_ns) {
      begin_ns = before->first;
      next = ends_.erase(before);
    }
  }
  while (next != ends_.end() && next->first <= end_ns) {
    end_ns = std::max(end_ns, next->second);
    next = ends_.erase(next);
  }
  ends_.emplace_hint(next, begin_ns, end_ns);
  if (ends_.size() > most_) shrink();
}

void IntervalSet::add(const IntervalSet& other) {
  for (const auto& [begin, end] : other.ends_)
    add(begin, end);
  joined_ns_ += other.joined_ns_;
}

/// Joins the half with the smallest gaps.
void IntervalSet::shrink() {
  std::vector<std::uint64_t> gaps;
  for (auto one = ends_.begin(), next = std::next(one); next != ends_.end(); ++one, ++next)
    gaps.push_back(next->first - one->second);
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  const auto limit = *middle;
  for (auto one = ends_.begin(), next = std::next(one); next != ends_.end();) {
    const auto gap = next->first - one->second;
    if (gap > limit) {
      one = next++;
      continue;
    }
    joined_ns_ += gap;
    one->second = next->second;
    next = ends_.erase(next);
  }
}

std::vector<IntervalSet::Interval> IntervalSet::intervals() const {
  std::vector<Interval> intervals;
  for (const auto& [begin, end] : ends_)
    intervals.push_back({begin, end});
  return intervals;
}

std::uint64_t IntervalSet::length_ns() const {
  std::uint64_t sum = 0;
  for (const auto& [begin, end] : ends_)
    sum += end - begin;
  return sum;
}

/// By function: which stage it is of is known at the end of the log only.
class StageTimes::Collector final : public LogPart {
public:
  Collector(StageTimes& times, CallFilter& filter, const log::FunctionTable& functions)
      : times_(times), filter_(filter), functions_(functions) {}

  void finish(const log::LogReader& /*reader*/) override {
    for (log::FunctionId id = 0; id < parts_.size(); ++id) {
      auto& part = parts_[id];
      if (part.calls == 0) continue;
      const auto& function = functions_[id];
      if (!filter_.accepts_module(function.module)) {
        filter_.refuse(part.calls, part.total_ns, part.self_ns);
        continue;
      }
      auto& sum = times_.parts_[std::string(times_.stages_.stage_of(function))];
      sum.calls += part.calls;
      sum.busy.add(part.busy);
    }
  }

  void on_call(const log::Call& call) override {
    if (call.entry_ns == log::kNoTime || call.end == log::Call::End::Unfinished) return;
    if (!filter_.accepts(call, functions_)) return;
    if (call.function >= parts_.size()) parts_.resize(functions_.size());
    auto& part = parts_[call.function];
    ++part.calls;
    if (call.has_duration()) {
      part.total_ns += call.duration_ns;
      part.self_ns += call.self_ns;
    }
    part.busy.add(call.entry_ns, call.end_ns());
  }

private:
  StageTimes& times_;
  CallFilter& filter_;
  const log::FunctionTable& functions_;
  std::vector<Part> parts_;
};

std::unique_ptr<LogPart> StageTimes::begin(const log::FunctionTable& functions,
                                           CallFilter& filter) {
  return std::make_unique<Collector>(*this, filter, functions);
}

Result<void> StageTimes::add(log::LogReader& reader, CallFilter& filter) {
  Collector collector(*this, filter, reader.functions());
  auto read = reader.pump(collector);
  collector.finish(reader);
  return read;
}

std::vector<StageTime> StageTimes::times() const {
  auto names = stages_.names();
  if (std::find(names.begin(), names.end(), "other") == names.end()) names.emplace_back("other");
  std::vector<StageTime> times;
  for (const auto& name : names) {
    const auto found = parts_.find(name);
    if (found == parts_.end()) continue;
    const auto intervals = found->second.busy.intervals();
    StageTime time;
    time.name = name;
    time.calls = found->second.calls;
    time.first_ns = intervals.front().begin_ns;
    time.last_ns = intervals.back().end_ns;
    time.busy_ns = found->second.busy.length_ns();
    time.joined_ns = found->second.busy.joined_ns();
    for (std::size_t i = 1; i < intervals.size(); ++i) {
      const auto gap = intervals[i].begin_ns - intervals[i - 1].end_ns;
      if (gap <= time.longest_gap_ns) continue;
      time.longest_gap_ns = gap;
      time.longest_gap_at_ns = intervals[i - 1].end_ns;
    }
    if (!times.empty() && name != "other") {
      const auto before = times.back().last_ns;
      time.wait_ns = time.first_ns - std::min(time.first_ns, before);
      time.overlap_ns = before - std::min(time.first_ns, before);
    }
    times.push_back(std::move(time));
  }
  return times;
}

Table stage_times_table(const std::vector<StageTime>& times, std::uint64_t origin_ns) {
  const auto since = [origin_ns](std::uint64_t time_ns) {
    return Seconds{time_ns < origin_ns ? 0 : time_ns - origin_ns};
  };
  Table table;
  table.columns = {{"stage", "stage", true},
                   {"calls", "calls"},
                   {"first_start_ns", "first_start_s"},
                   {"last_end_ns", "last_end_s"},
                   {"busy_ns", "busy"},
                   {"busy_percent", "%busy"},
                   {"gap_ns", "gap"},
                   {"longest_gap_ns", "longest_gap"},
                   {"longest_gap_at_ns", "at_s"},
                   {"wait_ns", "wait_before"},
                   {"overlap_ns", "overlap_before"}};
  for (const auto& time : times) {
    std::vector<Cell> row = {time.name,
                             time.calls,
                             since(time.first_ns),
                             since(time.last_ns),
                             Nanoseconds{time.busy_ns},
                             Percent{time.span_ns() == 0 ? 100.0
                                                         : 100 * static_cast<double>(time.busy_ns) /
                                                               static_cast<double>(time.span_ns())},
                             Nanoseconds{time.gap_ns()},
                             Nanoseconds{time.longest_gap_ns},
                             std::monostate(),
                             std::monostate(),
                             std::monostate()};
    if (time.longest_gap_ns > 0) row[8] = since(time.longest_gap_at_ns);
    if (time.wait_ns > 0) row[9] = Nanoseconds{time.wait_ns};
    if (time.overlap_ns > 0) row[10] = Nanoseconds{time.overlap_ns};
    table.rows.push_back(std::move(row));
  }
  return table;
}

} // namespace sonictrace::report
