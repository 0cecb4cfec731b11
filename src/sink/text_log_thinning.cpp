#include "sink/text_log.hpp"

#include <algorithm>

#include "sonictrace/decode/digits.hpp"

// Thinning: calls of frequent functions that are counted instead of written, here or by the engine.

namespace sonictrace {

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
  if (selection_.has_thinned() && now_ns >= thinned_at_ns_ + kThinPeriod) write_thinned();
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

/// The engine has counted calls instead of recording them: it is asked to by take_thinned.
void TextSink::Log::add_counts(const RecordView& record) {
  const wire::RecordHeader& header = record.header;
  functions_.called(header.function); // for the closing line
  if (thinned_at_ns_ == 0) thinned_at_ns_ = header.time_ns;
  const wire::CountsPayload sums = CountsView(record.payload).sums();
  selection_.count_thinned(header.function, sums.calls, sums.sum_ns);
}

} // namespace sonictrace
