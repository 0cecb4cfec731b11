#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sink/call_end.hpp"
#include "sink/call_selection.hpp"
#include "sink/frame_texts.hpp"
#include "sink/function_names.hpp"
#include "sink/json_text.hpp"
#include "sink/pending_calls.hpp"
#include "sonictrace/decode/render.hpp"
#include "sonictrace/sink/json_sink.hpp"
#include "sonictrace/stream/record_reader.hpp"

namespace sonictrace {

/// The objects of a JSON log. A call is remembered at its entry and written at its end.
class JsonSink::Log {
public:
  Log(Writer writer, const JsonOptions& options);

  void write(RecordBatch batch);
  void close(const SessionSummary& summary);
  std::string closing_line(const SessionSummary& summary) const;
  Writer& writer() { return writer_; }
  const Writer& writer() const { return writer_; }

  void take(const ModuleDefinition& module) { functions_.define(module); }
  void take(const FunctionDefinition& function) { functions_.define(function); }
  void take(const FunctionRebound& rebound);
  void take(const FrameDefinition& frame) { frames_.define(frame); }
  void take(const ThreadStarted& thread);
  void take(const InheritedCall& inherited);
  void take(const ThreadEnded& ended);
  void take(const SignalDelivered& delivered);
  void take(const ProgramReplaced& replaced);
  void take(const Remark& remark);

private:
  void enter(const RecordView& record);
  void leave(const RecordView& record);
  void whole_call(const RecordView& record);
  void write_call(const PendingCall& call, pid_t pid, const EndOfCall& end_of_call);
  void write_open_calls(const std::vector<PendingCall>& calls);
  /// Begins a line with the members that all have: up to `time_ns`.
  JsonObject begin(std::string_view kind, std::uint64_t time_ns, std::optional<pid_t> pid = {},
                   std::optional<pid_t> tid = {});
  void end(JsonObject& object);
  void append_result(JsonObject& object, const FunctionNames::Function& function,
                     std::span<const std::byte> leave);
  void append_frames(JsonObject& object, std::span<const std::uint32_t> ids);
  const std::string& function_members(FunctionId id);

  Writer writer_;
  JsonOptions options_;
  ValueStyle style_;
  FunctionNames functions_;
  FrameTexts frames_;
  PendingCalls calls_;
  CallSelection selection_;
  JsonTime time_;
  std::string host_;                 ///< as a JSON string
  std::vector<std::string> members_; ///< by FunctionId: `"module":...,"mangled":...`
  std::string unknown_members_;
  PendingCall whole_call_; ///< the one that is being written; its memory is used again and again
  std::uint64_t damaged_batches_ = 0;
  std::uint64_t entered_ = 0;
};

} // namespace sonictrace
