#include "sink/text_log.hpp"

#include <algorithm>
#include <utility>

#include "sink/result_value.hpp"
#include "sonictrace/decode/digits.hpp"
#include "sonictrace/decode/syscall_result.hpp"

namespace sonictrace {
namespace {

using wire::RecordKind;

ValueStyle style_of(const TextOptions& options) {
  ValueStyle style;
  style.string_limit = options.string_limit;
  style.ltrace = options.ltrace;
  style.whole_paths = options.whole_paths;
  return style;
}

TextOptions sound(TextOptions options) {
  // Whether a call was short is known at its return: too late to leave out the half that a split
  // line has of it already.
  if (options.min_time_ns != 0) options.form = LineForm::Whole;
  if (options.ltrace) options.thin_after = 0;
  return options;
}

} // namespace

TextSink::Log::Log(Writer writer, const TextOptions& options, bool module_lines)
    : writer_(std::move(writer)), options_(sound(options)), module_lines_(module_lines),
      style_(style_of(options)), prefix_(options_),
      functions_({options.demangle, options.show_caller, !options.ltrace, options.ltrace, style_}),
      frames_(options.demangle, options.ltrace),
      selection_({options.min_time_ns, options.max_depth, options.sample}), out_(writer_.text()),
      plain_lines_(options_, prefix_) {}

// ---- records ---------------------------------------------------------------------------------

void TextSink::Log::write(RecordBatch batch) {
  RecordReader records(batch);
  RecordView record;
  while (records.next(record)) {
    if (record.header.kind == RecordKind::Call) {
      whole_call(record);
      frames_of_next_.clear();
      continue;
    }
    write_plain_lines();
    now_ns_ = record.header.time_ns;
    switch (record.header.kind) {
      case RecordKind::Enter: enter(record); break;
      case RecordKind::Frames: note_frames(record); break;
      case RecordKind::Return:
      case RecordKind::Unwound: leave(record); break;
      case RecordKind::Call: break; // see above
      case RecordKind::Counts: add_counts(record); break;
    }
  }
  write_plain_lines();
  if (records.error() != nullptr) ++damaged_batches_;
  begin_thinning_if_large();
}

void TextSink::Log::enter(const RecordView& record) {
  const wire::RecordHeader& header = record.header;
  if (selection_.is_too_deep(header.depth)) {
    selection_.leave_out_deep();
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
  if (is_split() && selection_.leaves_out_of_sample(header.function)) {
    functions_.called(header.function);
    call.line = CallLine::Never;
    return;
  }
  if (!is_split() || selection_.thins(header.function)) {
    call.captured.assign(record.payload.begin(), record.payload.end());
    return;
  }
  call.line = CallLine::Begun;
  if (functions_.called(header.function).has_rest)
    call.captured.assign(record.payload.begin(), record.payload.end());
  begin_line(kUnfinished, call.thread, call.time_ns, call.return_address);
  append_call(call, record.payload, ArgumentPart::Entry);
  open_line_ = OpenLine{call.call, call.thread, out_.size() - line_start_};
}

void TextSink::Log::note_frames(const RecordView& record) {
  if ((record.header.flags & wire::kFramesOfNext) != 0) return read_frames(record, frames_of_next_);
  ThreadCalls& thread = calls_.thread(static_cast<pid_t>(record.header.thread));
  PendingCall* const call = thread.find(record.header.call);
  if (call != nullptr && call->line != CallLine::Never) read_frames(record, call->frames);
}

void TextSink::Log::leave(const RecordView& record) {
  const wire::RecordHeader& header = record.header;
  if (selection_.is_too_deep(header.depth)) return;
  const PendingCall* const call = calls_.thread(static_cast<pid_t>(header.thread)).pop(header.call);
  // ltrace drops the calls that an exception or a longjmp leaves, without a word.
  if (header.kind == RecordKind::Unwound && options_.ltrace) return;
  if (call != nullptr && call->line == CallLine::Never) return;
  if (call != nullptr && call->line == CallLine::Later && call->arguments_known) {
    write_pending(*call, call_end(record));
  } else {
    finish_split(record, call);
  }
}

/// `call` is null where its entry was not seen.
void TextSink::Log::finish_split(const RecordView& record, const PendingCall* call) {
  const wire::RecordHeader& header = record.header;
  const Function& function = functions_.called(header.function);
  if (open_line_ && open_line_->call == header.call) {
    line_start_ = out_.size() - open_line_->width; // wraps around where a part is written already
    open_line_.reset();
  } else {
    begin_line(kUnfinished, static_cast<pid_t>(header.thread), header.time_ns,
               call != nullptr ? call->return_address : 0);
    append_indent(header.depth);
    out_ += "<... ";
    out_ += function.name;
    out_ += " resumed> ";
  }
  if (function.has_rest && call != nullptr && call->arguments_known) {
    append_arguments(out_, *function.plan, call->captured, call_end(record).returned(),
                     ArgumentPart::Rest, style_);
  }
  out_ += ") ";
  selection_.wrote(header.function);
  write_end(function, call_end(record));
  if (call != nullptr) frames_.append_block(out_, call->frames);
}

/// A call of which nothing was written so far.
void TextSink::Log::write_pending(const PendingCall& call, const EndOfCall& end) {
  const Function& function = functions_.called(call.function);
  if (selection_.leaves_out_short(end.duration_ns) ||
      (!is_split() && selection_.leaves_out_of_sample(call.function)) ||
      selection_.leaves_out_frequent(call.function, end.duration_ns))
    return;
  begin_line(kUnfinished, call.thread, call.time_ns, call.return_address);
  append_call(call, call.captured, ArgumentPart::All, end.returned());
  out_ += ") ";
  selection_.wrote(call.function);
  write_end(function, end);
  frames_.append_block(out_, call.frames);
}

/// From the padding on. LTRACE-COMPAT's rule: `=` stands in column `align`, counted from 1, or one
/// blank behind the `)`.
void TextSink::Log::write_end(const Function& function, const EndOfCall& end) {
  const std::size_t width = out_.size() - line_start_;
  if (width + 1 < options_.align) out_.append(options_.align - 1 - width, ' ');
  out_ += "= ";
  if (end.how == EndOfCall::How::Unwound) {
    out_ += "<unwound>";
  } else if (end.how == EndOfCall::How::Unknown) {
    out_ += '?';
  } else if (!append_error(function, end.leave)) {
    append_result(out_, *function.plan, end.leave, style_);
  }
  if (options_.durations && end.has_duration()) {
    out_ += ' ';
    append_duration(out_, end.duration_ns, options_.nanoseconds);
  }
  end_line();
}

/// A system call's error has a name. ltrace shows the number.
bool TextSink::Log::append_error(const Function& function, std::span<const std::byte> leave) {
  if (!function.syscall || options_.ltrace) return false;
  const auto value = result_value(*function.plan, leave);
  return value && append_syscall_error(out_, *value);
}

// ---- lines -----------------------------------------------------------------------------------

void TextSink::Log::begin_line(std::string_view end_of_open_line, pid_t thread,
                               std::uint64_t time_ns, std::uint64_t instruction) {
  end_open_line(end_of_open_line);
  line_start_ = out_.size();
  char text[LinePrefix::kRoom];
  out_.append(text, prefix_.put(text, thread, time_ns, instruction));
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

void TextSink::Log::append_call(const PendingCall& call, std::span<const std::byte> captured,
                                ArgumentPart part,
                                std::optional<std::span<const std::byte>> leave) {
  const Function& function = functions_.called(call.function);
  append_indent(call.depth);
  out_ += function.shown;
  out_ += '(';
  if (call.arguments_known) append_arguments(out_, *function.plan, captured, leave, part, style_);
}

/// Calls that will not return, as far as nothing was written of them so far.
void TextSink::Log::write_open_calls(const std::vector<PendingCall>& calls) {
  for (const PendingCall& call : calls) {
    if (call.inherited) continue; // has its line in the parent process
    if (call.line != CallLine::Later) {
      // The backtrace of a split line stands behind it, as long as it is the last one.
      if (options_.ltrace || call.frames.empty() || !is_open(call)) continue;
      end_open_line(kNoReturn);
    } else {
      begin_line(kUnfinished, call.thread, call.time_ns, call.return_address);
      append_call(call, call.captured, ArgumentPart::All);
      out_ += kNoReturn;
      end_line();
    }
    frames_.append_block(out_, call.frames);
  }
}

} // namespace sonictrace
