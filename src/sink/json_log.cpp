#include "sink/json_log.hpp"

#include <utility>

#include "sink/result_value.hpp"
#include "sink/signal_text.hpp"
#include "sonictrace/decode/digits.hpp"
#include "sonictrace/decode/json.hpp"
#include "sonictrace/decode/syscall_result.hpp"

namespace sonictrace {
namespace {

using wire::RecordKind;

constexpr FunctionId kMaxFunctions = FunctionId{1} << 20;

std::string_view state_of(EndOfCall::How how) {
  switch (how) {
    case EndOfCall::How::Open: return "open";
    case EndOfCall::How::Returned: return "returned";
    case EndOfCall::How::Unwound: return "unwound";
    case EndOfCall::How::Unknown: break;
  }
  return "unknown";
}

void append_address(JsonObject& object, std::string_view name, std::uint64_t address) {
  std::string& out = object.value(name);
  out += '"';
  append_hex(out, address);
  out += '"';
}

} // namespace

JsonSink::Log::Log(Writer writer, const JsonOptions& options)
    : writer_(std::move(writer)), options_(options), functions_({options.demangle, false, false}),
      frames_(options.demangle, false),
      selection_({options.min_time_ns, options.max_depth, options.sample}) {
  style_.string_limit = options.string_limit;
  style_.whole_paths = options.whole_paths;
  json_string(host_, options.host);
}

// ---- calls -----------------------------------------------------------------------------------

void JsonSink::Log::write(RecordBatch batch) {
  RecordReader records(batch);
  while (const auto record = records.next()) {
    const wire::RecordHeader& header = record->header;
    switch (header.kind) {
      case RecordKind::Enter: enter(*record); break;
      case RecordKind::Frames:
        if ((header.flags & wire::kFramesOfNext) != 0)
          read_frames(*record, whole_call_.frames);
        else if (auto* call = calls_.thread(static_cast<pid_t>(header.thread)).find(header.call))
          read_frames(*record, call->frames);
        break;
      case RecordKind::Return:
      case RecordKind::Unwound: leave(*record); break;
      case RecordKind::Call:
        whole_call(*record);
        whole_call_.frames.clear();
        break;
      case RecordKind::Counts:
        functions_.called(header.function);
        selection_.count_thinned(header.function, CountsView(record->payload).sums().calls, 0);
        break;
    }
  }
  if (records.error() != nullptr) ++damaged_batches_;
}

void JsonSink::Log::enter(const RecordView& record) {
  const wire::RecordHeader& header = record.header;
  functions_.called(header.function); // the summary counts all functions that were called
  if (selection_.is_too_deep(header.depth)) return selection_.leave_out_deep();
  PendingCall& call = calls_.thread(static_cast<pid_t>(header.thread)).push();
  call.call = header.call;
  call.function = header.function;
  call.depth = header.depth;
  call.order = entered_++;
  call.time_ns = header.time_ns;
  call.return_address = header.detail;
  call.captured.assign(record.payload.begin(), record.payload.end());
}

void JsonSink::Log::leave(const RecordView& record) {
  const wire::RecordHeader& header = record.header;
  if (selection_.is_too_deep(header.depth)) return;
  ThreadCalls& thread = calls_.thread(static_cast<pid_t>(header.thread));
  const PendingCall* call = thread.pop(header.call);
  if (selection_.leaves_out_short(header.detail)) return;
  if (selection_.leaves_out_of_sample(header.function)) return;
  PendingCall unseen; // its entry was not seen
  if (call == nullptr) {
    unseen.function = header.function;
    unseen.depth = header.depth;
    unseen.thread = thread.tid();
    unseen.time_ns = header.time_ns - header.detail;
    unseen.arguments_known = false;
    call = &unseen;
  }
  write_call(*call, thread.pid(), call_end(record));
}

void JsonSink::Log::whole_call(const RecordView& record) {
  const wire::RecordHeader& header = record.header;
  functions_.called(header.function); // for the summary, as above
  if (selection_.is_too_deep(header.depth)) return selection_.leave_out_deep();
  const CallFields fields = call_fields(record);
  const EndOfCall end_of_call = call_end(header, fields);
  if (selection_.leaves_out_short(end_of_call.duration_ns)) return;
  if (selection_.leaves_out_of_sample(header.function)) return;
  PendingCall& call = whole_call_;
  call.function = header.function;
  call.depth = header.depth;
  call.thread = static_cast<pid_t>(header.thread);
  call.time_ns = header.time_ns;
  call.captured.assign(fields.entry.begin(), fields.entry.end());
  write_call(call, calls_.thread(call.thread).pid(), end_of_call);
}

void JsonSink::Log::write_call(const PendingCall& call, pid_t pid, const EndOfCall& end_of_call) {
  const FunctionNames::Function& function = functions_.called(call.function);
  JsonObject object = begin(function.syscall ? "syscall" : "call", call.time_ns, pid, call.thread);
  object.append(function_members(call.function));
  std::string& arguments = object.value("args");
  if (call.arguments_known) {
    json_arguments(arguments, *function.plan, call.captured, end_of_call.returned(), style_);
  } else {
    arguments += "null";
  }
  if (end_of_call.returned()) {
    append_result(object, function, end_of_call.leave);
  } else {
    object.value("result") += "null";
  }
  if (end_of_call.has_duration()) {
    object.number("duration_ns", end_of_call.duration_ns);
  } else {
    object.value("duration_ns") += "null";
  }
  object.number("depth", call.depth);
  object.text("state", state_of(end_of_call.how));
  if (!call.frames.empty()) append_frames(object, call.frames);
  end(object);
}

void JsonSink::Log::append_result(JsonObject& object, const FunctionNames::Function& function,
                                  std::span<const std::byte> leave) {
  if (function.syscall) {
    const auto value = result_value(*function.plan, leave);
    std::string text; // `-1 ENOENT (No such file or directory)`
    if (value && append_syscall_error(text, *value)) {
      std::string_view name = text;
      if (const auto blank = name.find(' '); blank != name.npos) name.remove_prefix(blank + 1);
      object.value("result") += "-1";
      object.text("error", name.substr(0, name.find(' ')));
      return;
    }
  }
  json_result(object.value("result"), *function.plan, leave, style_);
}

void JsonSink::Log::append_frames(JsonObject& object, std::span<const std::uint32_t> ids) {
  if (const FrameTexts::Frame* const first = frames_.find(ids.front());
      first != nullptr && first->is_python) {
    JsonObject python(object.value("python"));
    python.text("function", first->function);
    python.text("file", first->file);
    if (first->line != 0)
      python.number("line", first->line);
    else
      python.value("line") += "null";
    python.end();
    ids = ids.subspan(1);
    if (ids.empty()) return;
  }
  std::string& out = object.value("frames");
  out += '[';
  for (std::size_t at = 0; at < ids.size(); ++at) {
    if (at != 0) out += ',';
    const FrameTexts::Frame* const frame = frames_.find(ids[at]);
    JsonObject place(out);
    place.text_or_null("module", frame != nullptr ? frame->soname : std::string_view());
    place.text_or_null("function", frame != nullptr ? frame->function : std::string_view());
    place.number("offset", frame != nullptr ? frame->offset : 0);
    append_address(place, "address", frame != nullptr ? frame->address : 0);
    place.end();
  }
  out += ']';
}

/// Calls that will not return.
void JsonSink::Log::write_open_calls(const std::vector<PendingCall>& calls) {
  for (const PendingCall& call : calls)
    if (!call.inherited) write_call(call, calls_.thread(call.thread).pid(), EndOfCall());
}

/// The same for all calls of one function.
const std::string& JsonSink::Log::function_members(FunctionId id) {
  const FunctionDefinition* const definition = functions_.definition(id);
  const bool is_known = definition != nullptr && id < kMaxFunctions;
  if (is_known && id >= members_.size()) members_.resize(id + std::size_t{1});
  std::string& members = is_known ? members_[id] : unknown_members_;
  if (!members.empty()) return members;
  const FunctionNames::Function& function = functions_.called(id);
  std::string object_text;
  JsonObject object(object_text);
  object.text_or_null("module", definition != nullptr
                                    ? functions_.soname(definition->implemented_by)
                                    : std::string());
  object.text_or_null("caller", definition != nullptr ? functions_.soname(definition->caller)
                                                      : std::string());
  object.text("name", function.name);
  object.text("mangled", definition != nullptr ? definition->mangled : "?");
  members = object_text.substr(1); // without the brace
  return members;
}

void JsonSink::Log::take(const FunctionRebound& rebound) {
  functions_.rebind(rebound);
  if (rebound.id < members_.size()) members_[rebound.id].clear();
}

// ---- events ----------------------------------------------------------------------------------

void JsonSink::Log::take(const ThreadStarted& thread) {
  calls_.thread_started(thread.pid, thread.tid);
  if (!options_.banner.empty()) take(Remark{thread.time_ns, std::exchange(options_.banner, {})});
  JsonObject object = begin("thread", thread.time_ns, thread.pid, thread.tid);
  end(object);
}

void JsonSink::Log::take(const InheritedCall& inherited) {
  if (selection_.is_too_deep(inherited.depth)) return;
  const PendingCall* const found = calls_.find(inherited.parent_call);
  PendingCall parent; // by value: push may move the parent's
  if (found != nullptr) parent = *found;
  PendingCall& call = calls_.thread(inherited.tid).push();
  call.call = inherited.call;
  call.function = inherited.function;
  call.depth = inherited.depth;
  call.inherited = true;
  call.arguments_known = found != nullptr;
  call.order = entered_++;
  call.time_ns = parent.time_ns;
  call.return_address = parent.return_address;
  call.captured = std::move(parent.captured);
  call.frames = std::move(parent.frames);
}

void JsonSink::Log::take(const ThreadEnded& ended) {
  write_open_calls(
      calls_.collect([&](const ThreadCalls& calls) { return calls.tid() == ended.tid; }));
  const pid_t pid = calls_.thread(ended.tid).pid();
  calls_.forget(ended.tid);
  JsonObject object = begin("exit", ended.time_ns, pid, ended.tid);
  if (ended.killed) {
    object.value("status") += "null";
    object.text("signal", signal_name(ended.status, false));
  } else {
    object.signed_number("status", ended.status & 0xff);
    object.value("signal") += "null";
  }
  object.boolean("whole_process", ended.whole_process);
  end(object);
}

void JsonSink::Log::take(const SignalDelivered& delivered) {
  if (!options_.signals) return;
  JsonObject object =
      begin("signal", delivered.time_ns, calls_.thread(delivered.tid).pid(), delivered.tid);
  object.text("signal", signal_name(delivered.signal, false));
  object.signed_number("number", delivered.signal);
  append_address(object, "instruction", delivered.instruction);
  end(object);
}

void JsonSink::Log::take(const ProgramReplaced& replaced) {
  const pid_t pid = calls_.thread(replaced.tid).pid();
  write_open_calls(calls_.collect([&](const ThreadCalls& calls) { return calls.pid() == pid; }));
  calls_.program_replaced(pid, replaced.tid);
  JsonObject object = begin("exec", replaced.time_ns, pid, replaced.tid);
  end(object);
}

void JsonSink::Log::take(const Remark& remark) {
  JsonObject object = begin("remark", remark.time_ns);
  object.text("text", remark.text);
  end(object);
}

// ---- lines and the end -----------------------------------------------------------------------

JsonObject JsonSink::Log::begin(std::string_view kind, std::uint64_t time_ns,
                                std::optional<pid_t> pid, std::optional<pid_t> tid) {
  JsonObject object(writer_.text());
  object.number("v", kJsonVersion);
  object.text("kind", kind);
  object.value("host") += host_;
  if (pid) object.signed_number("pid", *pid);
  if (tid) object.signed_number("tid", *tid);
  time_.append(object, time_ns);
  return object;
}

void JsonSink::Log::end(JsonObject& object) {
  object.end();
  writer_.text() += '\n';
  writer_.end_line();
}

void JsonSink::Log::close(const SessionSummary& summary) {
  write_open_calls(calls_.collect([](const ThreadCalls&) { return true; }));
  if (!options_.summary) return;
  JsonObject object = begin("summary", summary.time_ns);
  append_json_summary(object, summary, damaged_batches_);
  object.number("functions", functions_.called_count());
  const LeftOut left_out = selection_.left_out(summary.left_out);
  object.number("left_out_short", left_out.short_calls);
  object.number("left_out_deep", left_out.deep_calls);
  object.number("left_out_sampled", left_out.sampled_calls);
  if (left_out.thinned_calls != 0) object.number("left_out_counted", left_out.thinned_calls);
  end(object);
}

std::string JsonSink::Log::closing_line(const SessionSummary& summary) const {
  LeftOut left_out = selection_.left_out(summary.left_out);
  left_out.damaged_batches = damaged_batches_;
  TextOptions options;
  options.min_time_ns = options_.min_time_ns;
  options.max_depth = options_.max_depth;
  options.sample = options_.sample;
  return make_closing_line(summary, functions_.called_count(), left_out, options);
}

} // namespace sonictrace
