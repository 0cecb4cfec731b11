#include "sink/call_table.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "sonictrace/decode/digits.hpp"

namespace sonictrace {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kMicrosecond = 1'000;

void append_right(std::string& out, std::string_view text, std::size_t width) {
  if (text.size() < width) out.append(width - text.size(), ' ');
  out += text;
}

void append_right(std::string& out, std::uint64_t number, std::size_t width) {
  std::string digits;
  append_decimal(digits, number);
  append_right(out, digits, width);
}

/// ` 41.79`, rounded.
void append_percent(std::string& out, std::uint64_t part, std::uint64_t whole) {
  const std::uint64_t hundredths =
      whole == 0
          ? 0
          : static_cast<std::uint64_t>(
                static_cast<long double>(part) * 10'000 / static_cast<long double>(whole) + 0.5L);
  append_right(out, hundredths / 100, 3);
  out += '.';
  append_padded(out, hundredths % 100, 2);
}

/// `   0.000168`
void append_seconds(std::string& out, std::uint64_t ns) {
  append_right(out, ns / kSecond, 4);
  out += '.';
  append_padded(out, ns % kSecond / kMicrosecond, 6);
}

/// `    123.456`: microseconds
void append_time(std::string& out, std::uint64_t ns) {
  append_right(out, ns / kMicrosecond, 7);
  out += '.';
  append_padded(out, ns % kMicrosecond, 3);
}

constexpr std::string_view kPercentileTitles = "   p50 usecs   p90 usecs   p99 usecs   max usecs";
constexpr std::string_view kPercentileRule = " ----------- ----------- ----------- -----------";

void append_rule(std::string& out, bool percentiles) {
  out += "------ ----------- ----------- ---------";
  if (percentiles) out += kPercentileRule;
  out += " --------------------\n";
}

} // namespace

void sort_rows(std::vector<CallRow>& rows) {
  std::sort(rows.begin(), rows.end(), [](const CallRow& a, const CallRow& b) {
    return std::tuple(b.count->time_ns, b.count->calls, std::string_view(a.name)) <
           std::tuple(a.count->time_ns, a.count->calls, std::string_view(b.name));
  });
}

void append_table(std::string& out, const std::vector<CallRow>& sorted, bool percentiles) {
  std::uint64_t calls = 0, time_ns = 0;
  for (const CallRow& row : sorted) {
    calls += row.count->calls;
    time_ns += row.count->time_ns;
  }
  out += "% time     seconds  usecs/call     calls";
  if (percentiles) out += kPercentileTitles;
  out += "      function\n";
  append_rule(out, percentiles);
  for (const CallRow& row : sorted) {
    const CallCount& count = *row.count;
    append_percent(out, count.time_ns, time_ns);
    out += ' ';
    append_seconds(out, count.time_ns);
    out += ' ';
    append_right(out, count.calls == 0 ? 0 : count.time_ns / kMicrosecond / count.calls, 11);
    out += ' ';
    append_right(out, count.calls, 9);
    if (percentiles) {
      for (const unsigned percent : {50u, 90u, 99u}) {
        out += ' ';
        append_time(out, count.times.percentile(percent));
      }
      out += ' ';
      append_time(out, count.times.largest());
    }
    out += ' ';
    out += row.name;
    out += '\n';
  }
  append_rule(out, percentiles);
  out += "100.00 ";
  append_seconds(out, time_ns);
  out.append(12, ' ');
  out += ' ';
  append_right(out, calls, 9);
  if (percentiles) out.append(kPercentileRule.size(), ' ');
  out += " total\n";
}

} // namespace sonictrace
