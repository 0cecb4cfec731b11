#include "sink/text_log.hpp"

#include <algorithm>
#include <utility>

#include "sink/result_value.hpp"
#include "sonictrace/decode/digits.hpp"
#include "sonictrace/decode/syscall_result.hpp"

namespace sonictrace {
namespace {

using wire::RecordKind;

TextOptions sound(TextOptions options) {
  // Whether a call was short is known at its return: too late to leave out the half that a split
  // line has of it already.
  if (options.min_time_ns != 0) options.form = LineForm::Whole;
  if (options.ltrace) options.thin_after = 0;
  return options;
}

} // namespace

TextSink::Log::Log(Writer writer, const TextOptions& options, bool module_lines)
    : writer_(std::move(writer)), options_(sound(options)), module_lines_(module_lines), style_(),
      time_(options.time, options.nanoseconds),
      functions_({options.demangle, options.show_caller, !options.ltrace, options.ltrace}),
      frames_(options.demangle, options.ltrace),
      selection_({options.min_time_ns, options.max_depth, options.sample}), out_(writer_.text()) {
  style_.string_limit = options.string_limit;
  style_.ltrace = options.ltrace;
  style_.whole_paths = options.whole_paths;
}

// ---- records ---------------------------------------------------------------------------------

void TextSink::Log::write(RecordBatch batch) {
  RecordReader records(batch);
  while (const auto record = records.next()) {
    switch (record->header.kind) {
      case RecordKind::Enter: enter(*record); break;
      case RecordKind::Frames: note_frames(*record); break;
      case RecordKind::Return:
      case RecordKind::Unwound: leave(*record); break;
    }
    now_ns_ = record->header.time_ns;
  }
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
    write_whole(record, *call);
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
    const auto leave =
        header.kind == RecordKind::Return ? std::optional(record.payload) : std::nullopt;
    append_arguments(out_, *function.plan, call->captured, leave, ArgumentPart::Rest, style_);
  }
  out_ += ") ";
  selection_.wrote(header.function);
  write_end(record, function, call);
}

void TextSink::Log::write_whole(const RecordView& record, const PendingCall& call) {
  const std::uint64_t duration_ns = record.header.detail;
  if (selection_.leaves_out_short(duration_ns) ||
      (!is_split() && selection_.leaves_out_of_sample(call.function)) ||
      selection_.leaves_out_frequent(call.function, duration_ns)) {
    functions_.called(call.function); // for the closing line, as above
    return;
  }
  begin_line(kUnfinished, call.thread, call.time_ns, call.return_address);
  append_call(call, call.captured, ArgumentPart::All,
              record.header.kind == RecordKind::Return ? std::optional(record.payload)
                                                       : std::nullopt);
  out_ += ") ";
  selection_.wrote(call.function);
  write_end(record, functions_.called(call.function), &call);
}

/// From the padding on. LTRACE-COMPAT's rule: `=` stands in column `align`, counted from 1, or one
/// blank behind the `)`.
void TextSink::Log::write_end(const RecordView& record, const Function& function,
                              const PendingCall* call) {
  const std::size_t width = out_.size() - line_start_;
  if (width + 1 < options_.align) out_.append(options_.align - 1 - width, ' ');
  out_ += "= ";
  if (record.header.kind == RecordKind::Unwound) {
    out_ += "<unwound>";
  } else if (!append_error(record, function)) {
    append_result(out_, *function.plan, record.payload, style_);
  }
  if (options_.durations) {
    out_ += ' ';
    append_duration(out_, record.header.detail, options_.nanoseconds);
  }
  end_line();
  if (call != nullptr) frames_.append_block(out_, call->frames);
}

/// A system call's error has a name. ltrace shows the number.
bool TextSink::Log::append_error(const RecordView& record, const Function& function) {
  if (!function.syscall || options_.ltrace) return false;
  const auto value = result_value(*function.plan, record.payload);
  return value && append_syscall_error(out_, *value);
}

// ---- thinning --------------------------------------------------------------------------------

void TextSink::Log::begin_thinning_if_large() {
  if (options_.thin_after == 0 || selection_.is_thinning() || writer_.size() < options_.thin_after)
    return;
  if (open_line_) return; // the remark would cut it in two
  selection_.start_thinning();
  thinned_at_ns_ = now_ns_;
  write_remark(now_ns_, "the log is large: from here on, calls of less than 100 us of a function "
                        "that has 10000 lines are counted and not written");
}

void TextSink::Log::tick(std::uint64_t now_ns) {
  now_ns_ = now_ns;
  if (selection_.is_thinning() && now_ns >= thinned_at_ns_ + kThinPeriod) write_thinned();
}

/// `+++ NAME: N more calls, T s, not written +++`, a line for each function.
void TextSink::Log::write_thinned() {
  thinned_at_ns_ = now_ns_;
  struct Sum {
    std::string_view name;
    std::uint64_t calls, time_ns;
  };
  std::vector<Sum> sums; // one function called from two modules is one name
  for (const auto& [function, calls, time_ns] : selection_.take_thinned()) {
    const std::string_view name = functions_.called(function).shown;
    const auto same =
        std::find_if(sums.begin(), sums.end(), [&](const Sum& sum) { return sum.name == name; });
    if (same == sums.end()) {
      sums.push_back({name, calls, time_ns});
    } else {
      same->calls += calls;
      same->time_ns += time_ns;
    }
  }
  std::string text;
  for (const auto& [name, calls, time_ns] : sums) {
    text = name;
    text += ": ";
    append_decimal(text, calls);
    text += calls == 1 ? " more call, " : " more calls, ";
    append_decimal(text, time_ns / 1'000'000'000);
    text += '.';
    append_padded(text, time_ns % 1'000'000'000, 9);
    text += " s, not written";
    write_remark(now_ns_, text);
  }
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
