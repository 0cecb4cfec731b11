#include "sonictrace/report/footer.hpp"

#include <fmt/format.h>

#include "sonictrace/report/quantity.hpp"

namespace sonictrace::report {

std::string footer(const log::Accounting& account) {
  const auto count = [](std::uint64_t value) { return format_count(value); };
  std::string text = fmt::format("lines {} = calls {} + skipped {} + unmatched {} + markers {}\n",
                                 count(account.lines), count(account.calls), count(account.skipped),
                                 count(account.unmatched), count(account.markers));
  text +=
      fmt::format("unfinished {}  no return {}  unwound {}  threads {}", count(account.unfinished),
                  count(account.no_return), count(account.unwound), count(account.threads));
  if (account.first_ns != log::kNoTime) text += "  span " + format_duration(account.span_ns());
  if (account.own_cost_ns > 0)
    text += fmt::format("  tracer's own cost {} a call (not in the times)",
                        format_duration(account.own_cost_ns));
  text += "\n";
  if (account.timed_lines == 0)
    text += "no call has a time: trace with -T to have them\n";
  else if (account.clock == log::Clock::None || account.clock == log::Clock::Relative)
    text +=
        "without -t, -tt or -ttt, calls in whole lines are not known to be inside others: self is "
        "the whole time\n";
  if (account.thinned_calls > 0)
    text +=
        fmt::format("thinned: {} calls, {} s are counted by the log and not written: in calls and "
                    "times, not in percentiles\n",
                    count(account.thinned_calls), format_seconds(account.thinned_ns, 4));
  if (account.lost > 0)
    text += fmt::format("lost: {} calls, by the log's last line, are in no number here\n",
                        count(account.lost));
  if (account.functions_overflowed)
    text += fmt::format("more than {} functions: those that came later are in one row\n",
                        count(log::FunctionTable::kCapacity - 1));
  if (account.is_cut) text += "the packed log has no end: read as far as it goes\n";
  for (const auto& line : account.first_skipped)
    text += fmt::format("skipped line {}: {}\n", count(line.number), line.text);
  if (account.skipped > account.first_skipped.size())
    text += fmt::format("and {} more skipped lines\n",
                        count(account.skipped - account.first_skipped.size()));
  return text;
}

std::string footer(const FilterTally& tally) {
  if (tally.calls == 0) return {};
  return fmt::format("filtered: {} calls, {} s\n", format_count(tally.calls),
                     format_seconds(tally.total_ns, 4));
}

} // namespace sonictrace::report
