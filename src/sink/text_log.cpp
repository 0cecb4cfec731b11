#include "sink/text_log.hpp"

#include <utility>

#include "sink/signal_text.hpp"
#include "sonictrace/decode/digits.hpp"
#include "sonictrace/decode/quote.hpp"

namespace sonictrace {
namespace {

using wire::RecordKind;

constexpr std::string_view kUnfinished = " <unfinished ...>";
constexpr std::string_view kNoReturn = " <no return ...>";
/// What -i shows where there is no instruction: `[0xffffffffffffffff]`.
constexpr std::uint64_t kNoInstruction = ~std::uint64_t{0};

TextOptions sound(TextOptions options) {
  // Whether a call was short is known at its return: too late to leave out the half that a split
  // line has of it already.
  if (options.min_time_ns != 0) options.form = LineForm::Whole;
  return options;
}

} // namespace

TextSink::Log::Log(Writer writer, const TextOptions& options, bool module_lines)
    : writer_(std::move(writer)), options_(sound(options)),
      module_lines_(module_lines), style_{options.string_limit, options.ltrace, options.whole_paths},
      time_(options.time, options.nanoseconds),
      functions_({options.demangle, options.show_caller, !options.ltrace}), out_(writer_.text()) {}

// ---- records ---------------------------------------------------------------------------------

void TextSink::Log::write(RecordBatch batch) {
  RecordReader records(batch);
  while (const auto record = records.next()) {
    if (record->header.kind == RecordKind::Enter) {
      enter(*record);
    } else {
      leave(*record);
    }
  }
  if (records.error() != nullptr) ++left_out_.damaged_batches;
}

void TextSink::Log::enter(const RecordView& record) {
  const wire::RecordHeader& header = record.header;
  if (is_too_deep(header.depth)) {
    ++left_out_.deep_calls;
    functions_.called(header.function); // the closing line counts all functions that were called
    return;
  }
  PendingCall& call = calls_.thread(static_cast<pid_t>(header.thread)).push();
  call.call = header.call;
  call.function = header.function;
  call.depth = header.depth;
  call.order = entered_++;
  call.time_ns = header.time_ns;
  call.return_address = header.detail;
  if (!is_split()) {
    call.captured.assign(record.payload.begin(), record.payload.end());
    return;
  }
  begin_line(kUnfinished, call.thread, call.time_ns, call.return_address);
  append_call(call, record.payload);
  open_line_ = OpenLine{call.call, call.thread, out_.size() - line_start_};
}

void TextSink::Log::leave(const RecordView& record) {
  const wire::RecordHeader& header = record.header;
  if (is_too_deep(header.depth)) return;
  const pid_t thread = static_cast<pid_t>(header.thread);
  const PendingCall* const call = calls_.thread(thread).pop(header.call);
  // ltrace drops the calls that an exception or a longjmp leaves, without a word.
  if (header.kind == RecordKind::Unwound && options_.ltrace) return;

  if (call != nullptr && !is_split() && call->arguments_known) {
    write_whole(record, *call);
    return;
  }
  const Function& function = functions_.called(header.function);
  if (open_line_ && open_line_->call == header.call) {
    line_start_ = out_.size() - open_line_->width; // wraps around where a part is written already
    open_line_.reset();
    out_ += ") ";
  } else {
    begin_line(kUnfinished, thread, header.time_ns, call != nullptr ? call->return_address : 0);
    append_indent(header.depth);
    out_ += "<... ";
    out_ += function.name;
    out_ += " resumed> ) ";
  }
  write_end(record, function);
}

void TextSink::Log::write_whole(const RecordView& record, const PendingCall& call) {
  if (record.header.detail < options_.min_time_ns) {
    ++left_out_.short_calls;
    functions_.called(call.function); // for the closing line, as above
    return;
  }
  begin_line({}, call.thread, call.time_ns, call.return_address);
  append_call(call, call.captured);
  out_ += ") ";
  write_end(record, functions_.called(call.function));
}

/// From the padding on. LTRACE-COMPAT's rule: `=` stands in column `align`, counted from 1, or one
/// blank behind the `)`.
void TextSink::Log::write_end(const RecordView& record, const Function& function) {
  const std::size_t width = out_.size() - line_start_;
  if (width + 1 < options_.align) out_.append(options_.align - 1 - width, ' ');
  out_ += "= ";
  if (record.header.kind == RecordKind::Unwound) {
    out_ += "<unwound>";
  } else {
    append_result(out_, *function.prototype, record.payload, style_);
  }
  if (options_.durations) {
    out_ += ' ';
    append_duration(out_, record.header.detail, options_.nanoseconds);
  }
  end_line();
}

// ---- lines -----------------------------------------------------------------------------------

void TextSink::Log::begin_line(std::string_view end_of_open_line, pid_t thread,
                               std::uint64_t time_ns, std::uint64_t instruction) {
  end_open_line(end_of_open_line);
  line_start_ = out_.size();
  const bool other_thread = options_.thread_after_time && first_thread_ && thread != *first_thread_;
  const bool behind_time = other_thread && options_.time != TimeStamp::None;
  if (options_.pid_prefix || (other_thread && !behind_time)) {
    if (options_.brackets) out_ += "[pid ";
    append_decimal(out_, thread);
    out_ += options_.brackets ? "] " : " ";
  }
  if (options_.time != TimeStamp::None) {
    time_.append(out_, time_ns);
    if (behind_time && !options_.pid_prefix) {
      out_ += '/';
      append_decimal(out_, thread);
    }
    out_ += ' ';
  }
  if (options_.instruction_pointer) {
    out_ += '[';
    append_hex(out_, instruction);
    out_ += "] ";
  }
}

void TextSink::Log::begin_event(pid_t thread, std::uint64_t time_ns, std::uint64_t instruction,
                                bool ends_calls) {
  // ltrace says of any call that an event interrupts that it does not return.
  const bool said = options_.ltrace || (ends_calls && open_line_ && open_line_->thread == thread);
  begin_line(said ? kNoReturn : kUnfinished, thread, time_ns, instruction);
}

void TextSink::Log::end_line() {
  out_ += '\n';
  writer_.end_line();
}

void TextSink::Log::end_open_line(std::string_view how) {
  if (!open_line_) return;
  open_line_.reset();
  out_ += how;
  end_line();
}

void TextSink::Log::append_indent(std::uint16_t depth) {
  if (options_.indent != 0 && depth > 1) out_.append(options_.indent * (depth - 1u), ' ');
}

/// `NAME(ARGS`
void TextSink::Log::append_call(const PendingCall& call, std::span<const std::byte> captured) {
  const Function& function = functions_.called(call.function);
  append_indent(call.depth);
  out_ += function.shown;
  out_ += '(';
  if (call.arguments_known) append_arguments(out_, *function.prototype, captured, style_);
}

/// Calls that will not return: in the whole form nothing was written of them so far.
void TextSink::Log::write_open_calls(const std::vector<PendingCall>& calls) {
  if (is_split()) return; // they have their line
  for (const PendingCall& call : calls) {
    if (call.inherited) continue; // has its line in the parent process
    begin_line({}, call.thread, call.time_ns, call.return_address);
    append_call(call, call.captured);
    out_ += kNoReturn;
    end_line();
  }
}

// ---- events ----------------------------------------------------------------------------------

void TextSink::Log::take(const ThreadStarted& thread) {
  if (thread.first) first_thread_ = thread.tid;
  calls_.thread_started(thread.pid, thread.tid);
}

void TextSink::Log::take(const InheritedCall& inherited) {
  if (is_too_deep(inherited.depth)) return;
  const PendingCall* const found = calls_.find(inherited.parent_call);
  std::optional<PendingCall> parent;
  if (found != nullptr) parent = *found; // by value: push may move the parent's
  PendingCall& call = calls_.thread(inherited.tid).push();
  call.call = inherited.call;
  call.function = inherited.function;
  call.depth = inherited.depth;
  call.inherited = true;
  call.arguments_known = parent.has_value();
  call.order = entered_++;
  call.time_ns = parent ? parent->time_ns : 0;
  call.return_address = parent ? parent->return_address : 0;
  if (parent) call.captured = std::move(parent->captured);
}

void TextSink::Log::take(const ThreadEnded& ended) {
  write_open_calls(
      calls_.collect([&](const ThreadCalls& calls) { return calls.tid() == ended.tid; }));
  calls_.forget(ended.tid);
  begin_event(ended.tid, ended.time_ns, kNoInstruction, true);
  if (ended.killed) {
    out_ += "+++ killed by ";
    out_ += signal_name(ended.status, options_.ltrace);
    out_ += " +++";
  } else {
    out_ += "+++ exited (status ";
    append_decimal(out_, ended.status & 0xff);
    out_ += ") +++";
  }
  end_line();
}

void TextSink::Log::take(const SignalDelivered& delivered) {
  if (!options_.signals) return;
  begin_event(delivered.tid, delivered.time_ns, delivered.instruction, false);
  out_ += "--- ";
  out_ += signal_name(delivered.signal, options_.ltrace);
  out_ += " (";
  append_sanitized(out_, signal_description(delivered.signal));
  out_ += ") ---";
  end_line();
}

void TextSink::Log::take(const ProgramReplaced& replaced) {
  const pid_t pid = calls_.thread(replaced.tid).pid();
  write_open_calls(calls_.collect([&](const ThreadCalls& calls) { return calls.pid() == pid; }));
  calls_.program_replaced(pid, replaced.tid);
  begin_event(replaced.tid, replaced.time_ns,
              replaced.instruction != 0 ? replaced.instruction : kNoInstruction, true);
  out_ += "--- Called exec() ---";
  end_line();
}

void TextSink::Log::take(const Remark& remark) {
  end_open_line(kUnfinished);
  line_start_ = out_.size();
  if (options_.time != TimeStamp::None) {
    time_.append(out_, remark.time_ns);
    out_ += ' ';
  }
  out_ += "+++ ";
  append_sanitized(out_, remark.text);
  out_ += " +++";
  end_line();
}

// ---- the end ---------------------------------------------------------------------------------

void TextSink::Log::close(const SessionSummary& summary) {
  write_open_calls(calls_.collect([](const ThreadCalls&) { return true; }));
  end_open_line(kNoReturn);
  if (!options_.closing_lines) return;
  if (module_lines_) {
    for (const auto& [name, soname] : functions_.called_places()) {
      out_ += "+++ " + name + " is in " + soname + " +++";
      end_line();
    }
  }
  out_ += closing_line(summary);
  end_line();
}

std::string TextSink::Log::closing_line(const SessionSummary& summary) const {
  return make_closing_line(summary, functions_.called_count(), left_out_, options_);
}

} // namespace sonictrace
