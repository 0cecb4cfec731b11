#include "sink/text_log.hpp"

#include <utility>

#include "sink/signal_text.hpp"
#include "sonictrace/decode/digits.hpp"
#include "sonictrace/decode/quote.hpp"

namespace sonictrace {

// ---- events ----------------------------------------------------------------------------------

void TextSink::Log::take(const ThreadStarted& thread) {
  if (thread.first) prefix_.set_first_thread(thread.tid);
  calls_.thread_started(thread.pid, thread.tid);
  if (!options_.banner.empty()) write_remark(thread.time_ns, std::exchange(options_.banner, {}));
}

void TextSink::Log::take(const InheritedCall& inherited) {
  if (selection_.is_too_deep(inherited.depth)) return;
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
  call.line = parent ? parent->line : is_split() ? CallLine::Begun : CallLine::Later;
  if (parent) {
    call.captured = std::move(parent->captured);
    call.frames = std::move(parent->frames);
  }
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

void TextSink::Log::take(const Remark& remark) { write_remark(remark.time_ns, remark.text); }

void TextSink::Log::write_remark(std::uint64_t time_ns, std::string_view text) {
  end_open_line(kUnfinished);
  line_start_ = out_.size();
  char time[TimeText::kRoom];
  out_.append(time, prefix_.put_time(time, time_ns));
  out_ += "+++ ";
  append_sanitized(out_, text);
  out_ += " +++";
  end_line();
}

// ---- the end ---------------------------------------------------------------------------------

void TextSink::Log::close(const SessionSummary& summary) {
  write_open_calls(calls_.collect([](const ThreadCalls&) { return true; }));
  end_open_line(kNoReturn);
  write_thinned();
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
  LeftOut left_out = selection_.left_out(summary.left_out);
  left_out.damaged_batches = damaged_batches_;
  return make_closing_line(summary, functions_.called_count(), left_out, options_);
}

} // namespace sonictrace
