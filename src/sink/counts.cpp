#include "sink/counts.hpp"

#include <algorithm>
#include <utility>

#include "sink/call_end.hpp"
#include "sink/closing_line.hpp"
#include "sonictrace/decode/digits.hpp"
#include "sonictrace/decode/quote.hpp"

namespace sonictrace {
namespace {

using wire::RecordKind;

constexpr std::uint64_t kSecond = 1'000'000'000;
/// Ids of damaged records may be anything.
constexpr FunctionId kMaxFunctions = FunctionId{1} << 20;
/// A clock that was put forward by a day is no reason for a thousand tables.
constexpr std::uint64_t kMostIdleIntervals = 100;
constexpr std::size_t kMostOpenNames = 10;

/// `5.000 s`
void append_span(std::string& out, std::uint64_t ns) {
  append_decimal(out, ns / kSecond);
  out += '.';
  append_padded(out, ns % kSecond / 1'000'000, 3);
  out += " s";
}

void append_calls(std::string& out, std::uint64_t calls) {
  append_decimal(out, calls);
  out += calls == 1 ? " call" : " calls";
}

std::uint64_t length(std::uint64_t begin_ns, std::uint64_t end_ns) {
  return end_ns > begin_ns ? end_ns - begin_ns : 0; // the clock may have been put back
}

} // namespace

CountSink::Counts::Counts(Writer writer, const CountOptions& options)
    : writer_(std::move(writer)), options_(options),
      functions_({options.demangle, false, false, options.ltrace}),
      selection_({options.min_time_ns, options.max_depth, 1}), time_(TimeStamp::Seconds, false) {}

// ---- counting --------------------------------------------------------------------------------

void CountSink::Counts::write(RecordBatch batch) {
  RecordReader records(batch);
  RecordView record;
  while (records.next(record)) {
    switch (record.header.kind) {
      case RecordKind::Enter: enter(record.header); break;
      case RecordKind::Return:
      case RecordKind::Unwound: leave(record.header); break;
      case RecordKind::Call: whole_call(record.header); break;
      case RecordKind::Counts: add_counts(record); break;
      case RecordKind::Frames: break;
    }
  }
  if (records.error() != nullptr) ++damaged_batches_;
}

void CountSink::Counts::enter(const wire::RecordHeader& header) {
  if (selection_.is_too_deep(header.depth)) return selection_.leave_out_deep();
  note_time(header.time_ns);
  PendingCall& call = calls_.thread(static_cast<pid_t>(header.thread)).push();
  call.call = header.call;
  call.function = header.function;
  call.time_ns = header.time_ns;
}

void CountSink::Counts::leave(const wire::RecordHeader& header) {
  if (selection_.is_too_deep(header.depth)) return;
  note_time(header.time_ns);
  const PendingCall* const call = calls_.thread(static_cast<pid_t>(header.thread)).pop(header.call);
  // Counted where it was made. LTRACE: in each process that returns from it.
  if (call != nullptr && call->inherited && !options_.ltrace) return;
  if (header.kind == RecordKind::Unwound && options_.ltrace) return;
  if (selection_.leaves_out_short(header.detail)) return;
  count(header.function, header.detail);
}

void CountSink::Counts::whole_call(const wire::RecordHeader& header) {
  if (selection_.is_too_deep(header.depth)) return selection_.leave_out_deep();
  note_time(header.time_ns + header.detail);
  const EndOfCall end = call_end(header, {});
  if (end.how == EndOfCall::How::Unwound && options_.ltrace) return;
  if (selection_.leaves_out_short(end.duration_ns)) return;
  if (end.has_duration()) return count(header.function, end.duration_ns);
  ++row_of(header.function).interval.calls; // a time that is not known is no value of percentiles
}

void CountSink::Counts::add_counts(const RecordView& record) {
  note_time(record.header.time_ns);
  const CountsView counts(record.payload);
  if (counts.sums().calls == 0) return;
  CallCount& counted = row_of(record.header.function).interval;
  counted.calls += counts.sums().calls;
  counted.time_ns += counts.sums().sum_ns;
  if (!options_.percentiles) return;
  for (std::size_t at = 0; at < counts.bucket_count(); ++at)
    counted.times.add_bucket(counts.bucket(at).bucket, counts.bucket(at).calls);
  if (counts.bucket_count() != 0) counted.times.note_largest(counts.sums().most_ns);
}

void CountSink::Counts::count(FunctionId function, std::uint64_t duration_ns) {
  CallCount& counted = row_of(function).interval;
  ++counted.calls;
  counted.time_ns += duration_ns;
  if (options_.percentiles) counted.times.add(duration_ns);
}

CountSink::Counts::Row& CountSink::Counts::row_of(FunctionId function) {
  if (function < row_of_.size() && row_of_[function] != 0) return rows_[row_of_[function] - 1];
  return new_row_of(function);
}

CountSink::Counts::Row& CountSink::Counts::new_row_of(FunctionId function) {
  const auto& called = functions_.called(function);
  auto& rows = called.syscall ? syscall_rows_ : library_rows_;
  const auto [found, is_new] = rows.try_emplace(called.name, rows_.size());
  if (is_new) rows_.push_back({called.name, called.syscall, {}, {}});
  if (function < kMaxFunctions) {
    if (function >= row_of_.size()) row_of_.resize(function + std::size_t{1});
    row_of_[function] = static_cast<std::uint32_t>(found->second + 1);
  }
  return rows_[found->second];
}

void CountSink::Counts::take(const ThreadStarted& thread) {
  calls_.thread_started(thread.pid, thread.tid);
  if (!options_.banner.empty() && !options_.json) {
    std::string clean; // it has names of processes, which they choose themselves
    append_sanitized(clean, std::exchange(options_.banner, {}));
    append_line(clean);
    writer_.flush(); // it says that tracing has begun
  }
  note_time(thread.time_ns);
}

void CountSink::Counts::take(const InheritedCall& inherited) {
  if (selection_.is_too_deep(inherited.depth)) return;
  PendingCall& call = calls_.thread(inherited.tid).push();
  call.call = inherited.call;
  call.function = inherited.function;
  call.inherited = true;
}

// ---- intervals -------------------------------------------------------------------------------

void CountSink::Counts::note_time(std::uint64_t now_ns) {
  if (now_ns >= interval_end_ns_) return end_interval(now_ns);
  if (interval_begin_ns_ != 0 || now_ns == 0) return;
  begin_ns_ = interval_begin_ns_ = now_ns;
  if (options_.interval_ns != 0) interval_end_ns_ = now_ns + options_.interval_ns;
}

void CountSink::Counts::tick(std::uint64_t now_ns) { note_time(now_ns); }

/// Prints all intervals that have ended at `now_ns`.
void CountSink::Counts::end_interval(std::uint64_t now_ns) {
  const std::uint64_t passed = (now_ns - interval_end_ns_) / options_.interval_ns;
  for (std::uint64_t idle = 0; idle <= std::min(passed, kMostIdleIntervals); ++idle) {
    print_interval(sorted(&Row::interval), {interval_begin_ns_, interval_end_ns_});
    for (Row& row : rows_) {
      row.total.calls += row.interval.calls;
      row.total.time_ns += row.interval.time_ns;
      row.total.times.add(row.interval.times);
      row.interval.calls = 0;
      row.interval.time_ns = 0;
      row.interval.times.clear();
    }
    interval_begin_ns_ = interval_end_ns_;
    interval_end_ns_ += options_.interval_ns;
  }
  if (now_ns >= interval_end_ns_) { // the clock was put forward
    interval_begin_ns_ = now_ns;
    interval_end_ns_ = now_ns + options_.interval_ns;
  }
  writer_.flush();
}

void CountSink::Counts::print_interval(const std::vector<CallRow>& rows, Span span) {
  if (options_.json) return append_json(rows, span, nullptr);
  std::uint64_t calls = 0;
  for (const CallRow& row : rows)
    calls += row.count->calls;
  std::string text;
  time_.append(text, span.end_ns);
  text += ": ";
  append_calls(text, calls);
  text += " in ";
  append_span(text, length(span.begin_ns, span.end_ns));
  append_line("+++ " + text + " +++");
  if (rows.empty()) return;
  append_table(writer_.text(), rows, options_.percentiles);
  append_line({});
}

// ---- the end ---------------------------------------------------------------------------------

void CountSink::Counts::close(const SessionSummary& summary) {
  note_time(summary.time_ns);
  const Span last = {interval_begin_ns_, std::max(summary.time_ns, interval_begin_ns_)};
  if (options_.interval_ns != 0) {
    // What has passed of the last interval: the sum of all tables is the summary.
    interval_end_ns_ = last.end_ns;
    if (const auto rows = sorted(&Row::interval); !rows.empty()) print_interval(rows, last);
  }
  for (Row& row : rows_) {
    row.total.calls += row.interval.calls;
    row.total.time_ns += row.interval.time_ns;
    row.total.times.add(row.interval.times);
  }
  print_total(sorted(&Row::total), {begin_ns_, last.end_ns}, summary);
}

void CountSink::Counts::print_total(const std::vector<CallRow>& rows, Span span,
                                    const SessionSummary& summary) {
  if (options_.json) return append_json(rows, span, &summary);
  if (options_.interval_ns != 0) {
    std::string text = "+++ summary of ";
    append_span(text, length(span.begin_ns, span.end_ns));
    append_line(text + " +++");
  }
  append_table(writer_.text(), rows, options_.percentiles);
  if (options_.ltrace || !options_.closing_lines) return;
  const auto open = open_calls(summary.time_ns);
  if (!open.empty()) {
    std::uint64_t calls = 0;
    for (const Open& one : open)
      calls += one.calls;
    std::string text = "+++ ";
    append_calls(text, calls);
    text += calls == 1 ? " has not returned:" : " have not returned:";
    for (std::size_t at = 0; at < std::min(open.size(), kMostOpenNames); ++at) {
      text += at == 0 ? " " : ", ";
      text += open[at].name;
      text += ' ';
      append_span(text, open[at].time_ns);
    }
    if (open.size() > kMostOpenNames) text += ", ...";
    append_line(text + " +++");
  }
  append_line(closing_line(summary));
}

/// Of the threads that are there at the end: those that exit() was the last call of are not.
std::vector<CountSink::Counts::Open> CountSink::Counts::open_calls(std::uint64_t now_ns) {
  std::vector<Open> open;
  for (const PendingCall& call : calls_.collect([](const ThreadCalls&) { return true; })) {
    if (call.inherited) continue;
    const std::string name = shown_name(row_of(call.function));
    auto same =
        std::find_if(open.begin(), open.end(), [&](const Open& one) { return one.name == name; });
    if (same == open.end()) same = open.insert(open.end(), {name, 0, 0});
    ++same->calls;
    same->time_ns += length(call.time_ns, now_ns);
  }
  std::stable_sort(open.begin(), open.end(),
                   [](const Open& a, const Open& b) { return a.time_ns > b.time_ns; });
  return open;
}

std::string CountSink::Counts::shown_name(const Row& row) const {
  // A system call of which a library function has the name too.
  if (row.syscall && !options_.ltrace && library_rows_.count(row.name) != 0)
    return row.name + "@SYS";
  return row.name;
}

std::vector<CallRow> CountSink::Counts::sorted(CallCount Row::*counts) const {
  std::vector<CallRow> rows;
  for (const Row& row : rows_)
    if ((row.*counts).calls != 0) rows.push_back({shown_name(row), &(row.*counts)});
  sort_rows(rows);
  return rows;
}

void CountSink::Counts::append_line(std::string_view text) {
  writer_.text() += text;
  writer_.text() += '\n';
}

std::string CountSink::Counts::closing_line(const SessionSummary& summary) const {
  LeftOut left_out = selection_.left_out(summary.left_out);
  left_out.damaged_batches = damaged_batches_;
  TextOptions options;
  options.min_time_ns = options_.min_time_ns;
  options.max_depth = options_.max_depth;
  return make_closing_line(summary, functions_.called_count(), left_out, options);
}

void CountSink::Counts::append_json(const std::vector<CallRow>& rows, Span span,
                                    const SessionSummary* summary) {
  std::string& out = writer_.text();
  JsonObject object(out);
  object.number("v", kJsonVersion);
  object.text("kind", "counts");
  object.text("host", options_.host);
  json_time_.append(object, span.end_ns);
  object.boolean("final", summary != nullptr);
  object.number("span_ns", length(span.begin_ns, span.end_ns));
  std::string& list = object.value("functions");
  list += '[';
  for (const CallRow& row : rows) {
    if (&row != rows.data()) list += ',';
    JsonObject function(list);
    function.text("name", row.name);
    function.number("calls", row.count->calls);
    function.number("time_ns", row.count->time_ns);
    if (options_.percentiles) {
      function.number("p50_ns", row.count->times.percentile(50));
      function.number("p90_ns", row.count->times.percentile(90));
      function.number("p99_ns", row.count->times.percentile(99));
      function.number("max_ns", row.count->times.largest());
    }
    function.end();
  }
  list += ']';
  if (summary != nullptr) {
    std::string& open_list = object.value("open");
    open_list += '[';
    const auto open = open_calls(summary->time_ns);
    for (const Open& one : open) {
      if (&one != open.data()) open_list += ',';
      JsonObject function(open_list);
      function.text("name", one.name);
      function.number("calls", one.calls);
      function.number("time_ns", one.time_ns);
      function.end();
    }
    open_list += ']';
    append_json_summary(object, *summary, damaged_batches_);
  }
  object.end();
  out += '\n';
}

} // namespace sonictrace
