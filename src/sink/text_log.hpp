#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sink/call_end.hpp"
#include "sink/call_selection.hpp"
#include "sink/closing_line.hpp"
#include "sink/frame_texts.hpp"
#include "sink/function_names.hpp"
#include "sink/line_prefix.hpp"
#include "sink/pending_calls.hpp"
#include "sink/plain_lines.hpp"
#include "sonictrace/decode/render.hpp"
#include "sonictrace/sink/text_sink.hpp"
#include "sonictrace/stream/record_reader.hpp"

namespace sonictrace {

/// The lines of the classic log, in both forms. Split: one line of all threads may be open, that
/// of the call that began last, and is ended by whatever comes next. Whole: a call is remembered
/// at its entry and written at its return. In the split form calls are whole lines too where their
/// opening line is held back, when the log is being thinned, and where one record tells all of
/// them.
class TextSink::Log {
public:
  Log(Writer writer, const TextOptions& options, bool module_lines);

  void write(RecordBatch batch);
  void tick(std::uint64_t now_ns);
  void close(const SessionSummary& summary);
  std::string closing_line(const SessionSummary& summary) const;
  std::vector<FunctionId> take_thinned() { return selection_.take_newly_thinned(); }
  Writer& writer() { return writer_; }
  const Writer& writer() const { return writer_; }

  void take(const ModuleDefinition& module) { functions_.define(module); }
  void take(const FunctionDefinition& function) { functions_.define(function); }
  void take(const FunctionRebound& rebound) { functions_.rebind(rebound); }
  void take(const FrameDefinition& frame) { frames_.define(frame); }
  void take(const ThreadStarted& thread);
  void take(const InheritedCall& inherited);
  void take(const ThreadEnded& ended);
  void take(const SignalDelivered& delivered);
  void take(const ProgramReplaced& replaced);
  void take(const Remark& remark);

private:
  static constexpr std::string_view kUnfinished = " <unfinished ...>";
  static constexpr std::string_view kNoReturn = " <no return ...>";
  /// What -i shows where there is no instruction: `[0xffffffffffffffff]`.
  static constexpr std::uint64_t kNoInstruction = ~std::uint64_t{0};
  /// What was thinned is told at least this often.
  static constexpr std::uint64_t kThinPeriod = 9'000'000'000;

  using Function = FunctionNames::Function;
  bool is_split() const { return options_.form == LineForm::Split; }

  void enter(const RecordView& record);
  void note_frames(const RecordView& record);
  void leave(const RecordView& record);
  void finish_split(const RecordView& record, const PendingCall* call);
  void write_pending(const PendingCall& call, const EndOfCall& end);
  void write_end(const Function& function, const EndOfCall& end);
  bool append_error(const Function& function, std::span<const std::byte> leave);

  void whole_call(const RecordView& record);
  bool leaves_out(const wire::RecordHeader& call);
  void write_plain_lines();
  void write_whole(const wire::RecordHeader& header, const CallFields& fields,
                   const Function& function);
  void add_counts(const RecordView& record);
  void begin_thinning_if_large();
  void write_thinned();

  void begin_line(std::string_view end_of_open_line, pid_t thread, std::uint64_t time_ns,
                  std::uint64_t instruction);
  /// `ends_calls`: the open calls of this thread do not return after the event.
  void begin_event(pid_t thread, std::uint64_t time_ns, std::uint64_t instruction, bool ends_calls);
  void end_line();
  void end_open_line(std::string_view how);
  void append_indent(std::uint16_t depth);
  /// `NAME(ARGUMENTS`, as known at the entry; of what was captured when it was to `leave`, the
  /// others too.
  void append_call(const PendingCall& call, std::span<const std::byte> captured, ArgumentPart part,
                   std::optional<std::span<const std::byte>> leave = std::nullopt);
  bool is_open(const PendingCall& call) const {
    return open_line_ && open_line_->call == call.call;
  }
  void write_open_calls(const std::vector<PendingCall>& calls);
  void write_remark(std::uint64_t time_ns, std::string_view text);

  Writer writer_;
  TextOptions options_;
  bool module_lines_;
  ValueStyle style_;
  LinePrefix prefix_;
  FunctionNames functions_;
  PendingCalls calls_;
  FrameTexts frames_;
  CallSelection selection_;
  std::uint64_t damaged_batches_ = 0;
  std::uint64_t now_ns_ = 0;        ///< of the latest record or tick
  std::uint64_t thinned_at_ns_ = 0; ///< when what was left out was told last
  std::uint64_t entered_ = 0;

  std::vector<std::uint32_t> frames_of_next_; ///< of the Call that follows

  std::string& out_;           ///< the writer's pending text
  std::size_t line_start_ = 0; ///< of the line being made, in out_
  /// The line that is not ended: of this call, so many columns wide. Split form only.
  struct OpenLine {
    std::uint64_t call;
    pid_t thread;
    std::size_t width;
  };
  std::optional<OpenLine> open_line_;
  PlainLines plain_lines_; ///< none outside of write()
};

} // namespace sonictrace
