#include "sink/closing_line.hpp"

#include <string_view>

#include "sonictrace/decode/digits.hpp"
#include "sonictrace/decode/quote.hpp"

namespace sonictrace {
namespace {

/// `1 call`, `2 calls`
void append_count(std::string& out, std::uint64_t count, std::string_view one,
                  std::string_view many) {
  append_decimal(out, count);
  out += ' ';
  out += count == 1 ? one : many;
}

/// As it would be given to --min-time: `10us`, `1500us`, `2s`.
void append_option_duration(std::string& out, std::uint64_t ns) {
  struct Unit {
    std::uint64_t ns;
    std::string_view name;
  };
  constexpr Unit kUnits[] = {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}, {1, "ns"}};
  for (const Unit& unit : kUnits) {
    if (ns % unit.ns != 0) continue;
    append_decimal(out, ns / unit.ns);
    out += unit.name;
    return;
  }
}

/// `850 ns`, `14.2 us`
void append_cost(std::string& out, std::uint64_t ns) {
  if (ns < 1000) {
    append_decimal(out, ns);
    out += " ns";
    return;
  }
  const std::uint64_t tenths = (ns + 50) / 100; // of a microsecond, rounded
  append_decimal(out, tenths / 10);
  out += '.';
  append_decimal(out, tenths % 10);
  out += " us";
}

} // namespace

std::string make_closing_line(const SessionSummary& summary, std::size_t functions,
                              const LeftOut& left_out, const TextOptions& options) {
  std::string line = "+++ sonictrace: ";
  append_count(line, summary.calls, "call, ", "calls, ");
  append_count(line, functions, "function, ", "functions, ");
  append_count(line, summary.modules, "module, ", "modules, ");
  append_count(line, summary.lost, "lost call", "lost calls");
  if (left_out.short_calls != 0) {
    line += ", ";
    append_count(line, left_out.short_calls, "call", "calls");
    line += " shorter than ";
    append_option_duration(line, options.min_time_ns);
    line += " not written";
  }
  if (left_out.deep_calls != 0) {
    line += ", ";
    append_count(line, left_out.deep_calls, "call", "calls");
    line += " deeper than ";
    append_decimal(line, options.max_depth);
    line += " not written";
  }
  if (left_out.sampled_calls != 0) {
    line += ", ";
    append_count(line, left_out.sampled_calls, "call", "calls");
    line += " not written by --sample=";
    append_decimal(line, options.sample);
  }
  if (left_out.thinned_calls != 0) {
    line += ", ";
    append_count(line, left_out.thinned_calls, "short call", "short calls");
    line += left_out.thinned_calls == 1 ? " of a frequent function" : " of frequent functions";
    line += " counted and not written";
  }
  if (left_out.damaged_batches != 0) {
    line += ", ";
    append_count(line, left_out.damaged_batches, "damaged batch", "damaged batches");
  }
  if (!summary.engine.empty()) {
    line += ", ";
    append_sanitized(line, summary.engine);
    line += " engine";
  }
  if (summary.cost_ns != 0) {
    line += ", ";
    append_cost(line, summary.cost_ns);
    line += " own cost a call";
  }
  if (!summary.reason.empty()) {
    line += "; ";
    append_sanitized(line, summary.reason);
  }
  line += " +++";
  return line;
}

} // namespace sonictrace
