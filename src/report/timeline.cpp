#include "sonictrace/report/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "report/slice_list.hpp"
#include "sonictrace/report/quantity.hpp"

namespace sonictrace::report {
namespace {

constexpr std::size_t kMostMarks = 100'000;
constexpr std::size_t kMostTracks = 10'000;
constexpr std::uint32_t kOtherThreads = 0xffff'ffff;

std::uint64_t length(const Slice& slice) { return slice.end_ns - slice.begin_ns; }

} // namespace

std::string Track::label() const {
  if (tid == log::kNoTid) return "first thread";
  if (tid == kOtherThreads) return "other threads";
  return fmt::format("thread {}", tid);
}

/// Takes the calls of one log while it is read.
class Timeline::Collector final : public LogPart {
public:
  struct Thread {
    SliceList slices;
    std::vector<Mark> marks;
  };

  Collector(Timeline& timeline, CallFilter& filter, const log::FunctionTable& functions)
      : timeline_(timeline), filter_(filter), functions_(functions) {
    for (const auto& track : timeline_.tracks_)
      kept_ += track.slices.size();
  }

  void finish(const log::LogReader& reader) override { timeline_.take(*this, filter_, reader); }

  void on_begin(const log::Call& call) override { thread(call.tid).slices.begin(call.depth); }

  void on_call(const log::Call& call) override {
    Thread& thread = this->thread(call.tid);
    thread.slices.end(call.depth);
    const bool accepted = filter_.accepts(call, functions_);
    const bool has_times = call.entry_ns != log::kNoTime && call.has_duration();
    if (accepted && !has_times) {
      if (call.entry_ns != log::kNoTime && call.end != log::Call::End::Returned)
        add_mark(thread, call.entry_ns, functions_[call.function].name + " <no return>");
      else
        ++timeline_.timeless_;
    }
    if (call.end == log::Call::End::NoReturn || call.end == log::Call::End::Unfinished) return;
    const Slice slice = {call.entry_ns, call.end_ns(), call.function, 0, 0};
    thread.slices.add(call.children, accepted && has_times ? &slice : nullptr);
    if (!accepted || !has_times) return;
    if (++kept_ >= 2 * std::max<std::size_t>(timeline_.options_.max_events, 1000)) cut();
  }

  void on_event(const log::Event& event) override {
    if (event.kind == log::LineKind::Closing || event.kind == log::LineKind::Remark) return;
    Thread& thread = this->thread(event.tid);
    if (event.kind != log::LineKind::Signal) thread.slices.flush();
    if (event.time_ns != log::kNoTime) add_mark(thread, event.time_ns, std::string(event.text));
  }

  /// Leaves out the shortest, of all logs so far.
  void cut() {
    const auto most = timeline_.options_.max_events;
    if (kept_ <= most) return;
    std::vector<std::uint64_t> lengths;
    lengths.reserve(kept_);
    for (auto& [tid, thread] : threads_)
      for (const auto& slice : thread.slices.slices())
        lengths.push_back(length(slice));
    // Those of earlier logs are nested already: they stay.
    const std::size_t before = kept_ - lengths.size();
    const std::size_t room = most > before ? most - before : 0;
    const std::size_t out = lengths.size() - std::min(room, lengths.size());
    std::uint64_t limit = ~std::uint64_t{0};
    if (out < lengths.size()) {
      std::nth_element(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(out),
                       lengths.end());
      limit = lengths[out];
    }
    auto at_limit = static_cast<std::size_t>(
        std::count_if(lengths.begin() + static_cast<std::ptrdiff_t>(out), lengths.end(),
                      [limit](std::uint64_t one) { return one == limit; }));
    for (auto& [tid, thread] : threads_)
      thread.slices.filter([&](const Slice& slice) {
        if (length(slice) > limit || (length(slice) == limit && at_limit > 0)) {
          if (length(slice) == limit) --at_limit;
          return true;
        }
        timeline_.longest_cut_ns_ = std::max(timeline_.longest_cut_ns_, length(slice));
        ++timeline_.cut_;
        --kept_;
        return false;
      });
  }

  std::map<std::uint32_t, Thread>& threads() { return threads_; }
  void count_out(std::size_t slices) { kept_ -= slices; }

private:
  Thread& thread(std::uint32_t tid) {
    if (last_ != nullptr && last_tid_ == tid) return *last_;
    const bool is_new = threads_.find(tid) == threads_.end();
    const auto key = is_new && threads_.size() >= kMostTracks ? kOtherThreads : tid;
    last_ = &threads_[key];
    last_tid_ = tid;
    return *last_;
  }

  void add_mark(Thread& thread, std::uint64_t time_ns, std::string text) {
    if (++marks_ > kMostMarks) {
      ++timeline_.cut_marks_;
      return;
    }
    thread.marks.push_back({time_ns, std::move(text)});
  }

  Timeline& timeline_;
  CallFilter& filter_;
  const log::FunctionTable& functions_;
  std::map<std::uint32_t, Thread> threads_; ///< in the order of the tids
  std::uint32_t last_tid_ = 0;
  Thread* last_ = nullptr;
  std::size_t kept_ = 0;
  std::size_t marks_ = 0;
};

std::unique_ptr<LogPart> Timeline::begin(const log::FunctionTable& functions, CallFilter& filter) {
  return std::make_unique<Collector>(*this, filter, functions);
}

Result<void> Timeline::add(log::LogReader& reader, CallFilter& filter) {
  Collector collector(*this, filter, reader.functions());
  auto read = reader.pump(collector);
  take(collector, filter, reader);
  return read;
}

void Timeline::take(Collector& collector, CallFilter& filter, const log::LogReader& reader) {
  const auto& functions = reader.functions();
  is_time_of_day_ = is_time_of_day_ && reader.accounting().clock == log::Clock::TimeOfDay;

  if (!filter.accepts_all())
    for (auto& [tid, thread] : collector.threads()) // modules are known now
      thread.slices.filter([&](const Slice& slice) {
        if (filter.accepts_module(functions[slice.name].module)) return true;
        filter.refuse(1, length(slice), 0); // what it contained is not kept
        collector.count_out(1);
        return false;
      });
  collector.cut();
  const auto log = static_cast<std::uint32_t>(logs_.size());
  logs_.push_back(reader.name());
  constexpr auto kNone = ~std::uint32_t{0};
  std::vector<std::uint32_t> numbers(functions.size(), kNone); // only what is in the picture
  for (auto& [tid, thread] : collector.threads()) {
    Track track;
    track.log = log;
    track.tid = tid;
    track.slices = thread.slices.take_nested();
    track.marks = std::move(thread.marks);
    for (auto& slice : track.slices) {
      auto& number = numbers[slice.name];
      if (number == kNone) {
        number = static_cast<std::uint32_t>(names_.size());
        const auto& function = functions[slice.name];
        names_.push_back({options_.demangle == DemangleStyle::None
                              ? function.name
                              : demangle(function.name, options_.demangle),
                          function.module, class_of(function)});
      }
      slice.name = number;
      first_ns_ = std::min(first_ns_, slice.begin_ns);
      last_ns_ = std::max(last_ns_, slice.end_ns);
    }
    if (!track.slices.empty() || !track.marks.empty()) tracks_.push_back(std::move(track));
  }
}

void Timeline::finish() {
  if (first_ns_ > last_ns_) first_ns_ = last_ns_ = 0; // no slice
  // The reader counts times of day from the midnight before the first day, for calls that were
  // entered then. Nearly always there are none.
  constexpr std::uint64_t kDay = 86'400'000'000'000;
  bool is_day_later = is_time_of_day_ && first_ns_ >= kDay;
  for (const auto& track : tracks_)
    for (const auto& mark : track.marks)
      is_day_later = is_day_later && mark.time_ns >= kDay;
  if (!is_day_later) return;
  first_ns_ -= kDay;
  last_ns_ -= kDay;
  for (auto& track : tracks_) {
    for (auto& slice : track.slices) {
      slice.begin_ns -= kDay;
      slice.end_ns -= kDay;
    }
    for (auto& mark : track.marks)
      mark.time_ns -= kDay;
  }
}

std::size_t Timeline::slices() const {
  std::size_t sum = 0;
  for (const auto& track : tracks_)
    sum += track.slices.size();
  return sum;
}

std::string timeline_note(const Timeline& timeline) {
  std::string note;
  if (timeline.cut_slices() > 0)
    note +=
        fmt::format("cut: {} calls of at most {}, so that the longest {} are left "
                    "(--max-events)\n",
                    format_count(timeline.cut_slices()), format_duration(timeline.longest_cut_ns()),
                    format_count(timeline.options().max_events));
  if (timeline.cut_marks() > 0)
    note += fmt::format("cut: {} signals and ends\n", format_count(timeline.cut_marks()));
  if (timeline.timeless() > 0)
    note += fmt::format("not in the picture: {} calls without a time (trace with -T -tt)\n",
                        format_count(timeline.timeless()));
  return note;
}

} // namespace sonictrace::report
