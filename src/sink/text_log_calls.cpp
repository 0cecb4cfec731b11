#include "sink/text_log.hpp"

// Lines of calls that one record tells all of. There may be millions of them in a second.

namespace sonictrace {

void TextSink::Log::whole_call(const RecordView& record) {
  const wire::RecordHeader& header = record.header;
  now_ns_ = header.time_ns + header.detail;
  const Function& function = functions_.called(header.function);
  if (!selection_.takes_all() && leaves_out(header)) return;
  const bool unwound = (header.flags & wire::kCallUnwound) != 0;
  if (unwound && options_.ltrace) return;
  selection_.wrote(header.function);
  if (open_line_)
    end_open_line(kUnfinished); // there are no plain lines yet: they would be behind it
  const CallFields fields = call_fields(record);
  if (header.flags == 0 && frames_of_next_.empty() && plain_lines_.add(header, fields, function)) {
    if (plain_lines_.is_full()) write_plain_lines();
    return;
  }
  write_plain_lines();
  write_whole(header, fields, function);
}

bool TextSink::Log::leaves_out(const wire::RecordHeader& call) {
  if (selection_.is_too_deep(call.depth)) {
    selection_.leave_out_deep();
    return true;
  }
  if ((call.flags & wire::kCallUnwound) != 0 && options_.ltrace) return true;
  const std::uint64_t duration_ns = call_end(call, {}).duration_ns;
  return selection_.leaves_out_short(duration_ns) ||
         selection_.leaves_out_of_sample(call.function) ||
         selection_.leaves_out_frequent(call.function, duration_ns);
}

void TextSink::Log::write_plain_lines() {
  const std::string_view lines = plain_lines_.take();
  if (lines.empty()) return;
  out_ += lines;
  writer_.end_line();
}

void TextSink::Log::write_whole(const wire::RecordHeader& header, const CallFields& fields,
                                const Function& function) {
  const EndOfCall end = call_end(header, fields);
  begin_line(kUnfinished, static_cast<pid_t>(header.thread), header.time_ns, header.call);
  append_indent(header.depth);
  out_ += function.shown;
  out_ += '(';
  append_arguments(out_, *function.plan, fields.entry, end.returned(), ArgumentPart::All, style_);
  out_ += ") ";
  write_end(function, end);
  frames_.append_block(out_, frames_of_next_);
}

} // namespace sonictrace
