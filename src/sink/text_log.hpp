#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sink/closing_line.hpp"
#include "sink/function_names.hpp"
#include "sink/pending_calls.hpp"
#include "sink/time_text.hpp"
#include "sonictrace/decode/render.hpp"
#include "sonictrace/sink/text_sink.hpp"
#include "sonictrace/stream/record_reader.hpp"

namespace sonictrace {

/// The lines of the classic log, in both forms. Split: one line of all threads may be open, that
/// of the call that began last, and is ended by whatever comes next. Whole: a call is remembered
/// at its entry and written at its return.
class TextSink::Log {
public:
  Log(Writer writer, const TextOptions& options, bool module_lines);

  void write(RecordBatch batch);
  void close(const SessionSummary& summary);
  std::string closing_line(const SessionSummary& summary) const;
  Writer& writer() { return writer_; }
  const Writer& writer() const { return writer_; }

  void take(const ModuleDefinition& module) { functions_.define(module); }
  void take(const FunctionDefinition& function) { functions_.define(function); }
  void take(const FunctionRebound& rebound) { functions_.rebind(rebound); }
  void take(const ThreadStarted& thread);
  void take(const InheritedCall& inherited);
  void take(const ThreadEnded& ended);
  void take(const SignalDelivered& delivered);
  void take(const ProgramReplaced& replaced);
  void take(const Remark& remark);

private:
  using Function = FunctionNames::Function;
  bool is_split() const { return options_.form == LineForm::Split; }
  bool is_too_deep(std::uint16_t depth) const {
    return options_.max_depth != 0 && depth > options_.max_depth;
  }

  void enter(const RecordView& record);
  void leave(const RecordView& record);
  void write_whole(const RecordView& record, const PendingCall& call);
  void write_end(const RecordView& record, const Function& function);

  void begin_line(std::string_view end_of_open_line, pid_t thread, std::uint64_t time_ns,
                  std::uint64_t instruction);
  /// `ends_calls`: the open calls of this thread do not return after the event.
  void begin_event(pid_t thread, std::uint64_t time_ns, std::uint64_t instruction, bool ends_calls);
  void end_line();
  void end_open_line(std::string_view how);
  void append_indent(std::uint16_t depth);
  void append_call(const PendingCall& call, std::span<const std::byte> captured);
  void write_open_calls(const std::vector<PendingCall>& calls);

  Writer writer_;
  TextOptions options_;
  bool module_lines_;
  ValueStyle style_;
  TimeText time_;
  FunctionNames functions_;
  PendingCalls calls_;
  LeftOut left_out_;
  std::optional<pid_t> first_thread_;
  std::uint64_t entered_ = 0;

  std::string& out_;           ///< the writer's pending text
  std::size_t line_start_ = 0; ///< of the line being made, in out_
  /// The line that is not ended: of this call, so many columns wide. Split form only.
  struct OpenLine {
    std::uint64_t call;
    pid_t thread;
    std::size_t width;
  };
  std::optional<OpenLine> open_line_;
};

} // namespace sonictrace
