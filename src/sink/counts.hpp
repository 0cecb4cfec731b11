#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sink/call_selection.hpp"
#include "sink/call_table.hpp"
#include "sink/function_names.hpp"
#include "sink/json_text.hpp"
#include "sink/pending_calls.hpp"
#include "sink/time_text.hpp"
#include "sonictrace/sink/count_sink.hpp"
#include "sonictrace/stream/record_reader.hpp"

namespace sonictrace {

/// The counters of -c, and what is printed of them. Each call is counted in the current interval;
/// at its end the interval is added to the total, so that the sum of the intervals is the total.
class CountSink::Counts {
public:
  Counts(Writer writer, const CountOptions& options);

  void write(RecordBatch batch);
  void tick(std::uint64_t now_ns);
  void close(const SessionSummary& summary);
  std::string closing_line(const SessionSummary& summary) const;
  Writer& writer() { return writer_; }
  const Writer& writer() const { return writer_; }

  void take(const FunctionDefinition& function) { functions_.define(function); }
  void take(const ThreadStarted& thread);
  void take(const InheritedCall& inherited);
  void take(const ThreadEnded& ended) { calls_.forget(ended.tid); }
  void take(const ProgramReplaced& replaced) {
    calls_.program_replaced(calls_.thread(replaced.tid).pid(), replaced.tid);
  }
  /// The others are no matter of a table.
  template <class Other>
  void take(const Other&) {}

private:
  struct Row {
    std::string name;
    bool syscall = false;
    CallCount interval;
    CallCount total;
  };
  struct Span {
    std::uint64_t begin_ns, end_ns;
  };
  /// Calls that had not returned at the end.
  struct Open {
    std::string name;
    std::uint64_t calls = 0;
    std::uint64_t time_ns = 0;
  };

  void note_time(std::uint64_t now_ns);
  void enter(const wire::RecordHeader& header);
  void leave(const wire::RecordHeader& header);
  void whole_call(const wire::RecordHeader& header);
  void add_counts(const RecordView& record);
  void count(FunctionId function, std::uint64_t duration_ns);
  Row& row_of(FunctionId function);
  Row& new_row_of(FunctionId function);
  std::string shown_name(const Row& row) const;
  std::vector<CallRow> sorted(CallCount Row::*counts) const;
  void end_interval(std::uint64_t end_ns);
  void print_interval(const std::vector<CallRow>& rows, Span span);
  void print_total(const std::vector<CallRow>& rows, Span span, const SessionSummary& summary);
  std::vector<Open> open_calls(std::uint64_t now_ns);
  void append_json(const std::vector<CallRow>& rows, Span span, const SessionSummary* summary);
  void append_line(std::string_view text);

  Writer writer_;
  CountOptions options_;
  FunctionNames functions_;
  PendingCalls calls_;
  CallSelection selection_;
  TimeText time_;
  JsonTime json_time_;
  std::vector<Row> rows_;
  std::unordered_map<std::string, std::size_t> library_rows_, syscall_rows_; ///< by name
  std::vector<std::uint32_t> row_of_; ///< by FunctionId: the index in rows_ and one
  std::uint64_t damaged_batches_ = 0;
  std::uint64_t begin_ns_ = 0;          ///< of the trace, as far as it is known
  std::uint64_t interval_begin_ns_ = 0; ///< 0: not begun
  std::uint64_t interval_end_ns_ = ~std::uint64_t{0};
};

} // namespace sonictrace
