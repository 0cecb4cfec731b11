#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonictrace/report/diff.hpp"
#include "sonictrace/report/quantity.hpp"
#include "sonictrace/report/statistics.hpp"

namespace sonictrace::report {
namespace {

std::string signed_percent(double part) { return fmt::format("{:+.1f} %", 100 * part); }

std::string number(double value) {
  return std::floor(value) < value ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

std::string duration(double ns) {
  return format_duration(static_cast<std::uint64_t>(std::llround(std::max(0.0, ns))));
}

std::string probability(double p) { return p < 0.0001 ? "<0.0001" : fmt::format("{:.2}", p); }

bool has_changed(Change change) {
  return change.before < change.after || change.before > change.after;
}

std::string calls_cell(const DiffRow& row) {
  if (!(row.calls.before > 0) && !(row.calls.after > 0)) return ""; // wall
  return fmt::format("{}{} -> {}", row.calls_vary ? "~" : "", number(row.calls.before),
                     number(row.calls.after));
}

std::string calls_change_cell(const DiffRow& row) {
  const auto part = row.calls.part();
  if (!part || !has_changed(row.calls)) return "";
  return row.calls_trend == Trend::Same ? fmt::format("~ ({})", signed_percent(*part))
                                        : signed_percent(*part);
}

std::string time_cell(const DiffRow& row) {
  if (!row.has_time) return "-";
  return fmt::format("{} -> {}{}", duration(row.time_ns.before), duration(row.time_ns.after),
                     row.is_per_call ? " a call" : "");
}

std::string time_change_cell(const DiffRow& row) {
  if (!row.has_time || !row.time_change) return "";
  const auto change = signed_percent(*row.time_change);
  switch (row.time_trend) {
    case Trend::Same: return fmt::format("~ ({})", change);
    case Trend::NotJudged: return row.is_total ? change + " raw" : fmt::format("({})", change);
    case Trend::More:
    case Trend::Less: return change;
  }
  return {};
}

Cell optional_number(const std::optional<double>& value) {
  if (!value) return std::monostate();
  return *value;
}
Cell optional_percent(const std::optional<double>& value) {
  if (!value) return std::monostate();
  return Percent{100 * *value};
}
Cell nanoseconds(bool is_there, double value) {
  if (!is_there) return std::monostate();
  return static_cast<std::uint64_t>(std::llround(value));
}

std::string_view to_string(Trend trend) {
  switch (trend) {
    case Trend::NotJudged: return "not judged";
    case Trend::Same: return "same";
    case Trend::More: return "more";
    case Trend::Less: return "less";
  }
  return "?";
}

std::string names_of(const std::vector<DiffRow>& rows) {
  constexpr std::size_t kMost = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, rows.size()); ++i)
    text += (i > 0 ? ", " : "") + rows[i].name;
  if (rows.size() > kMost) text += fmt::format(" and {} more", rows.size() - kMost);
  return text.empty() ? "" : " (" + text + ")";
}

} // namespace

std::string verdict(const DiffRow& row) {
  if (!row.broken.empty()) {
    std::string text;
    for (const auto& one : row.broken)
      text += (text.empty() ? "" : ", ") + one;
    return "REGRESSION (" + text + ")";
  }
  const bool fewer = row.calls_trend == Trend::Less;
  if (row.calls_trend == Trend::More) {
    if (!row.per_call_change) return "more calls";
    // As long as it is no more than the noise of runs.
    const double noise = std::max(kLeastEffect, row.noise);
    if (std::abs(*row.per_call_change) < noise) return "more calls, not slower calls";
    if (row.time_trend == Trend::NotJudged) return "more calls";
    return *row.per_call_change > 0 ? "more calls, and slower ones" : "more calls, but faster ones";
  }
  switch (row.time_trend) {
    case Trend::More: return fewer ? "fewer calls, but slower ones" : "slower";
    case Trend::Less: return fewer ? "improved (calls, time)" : "improved (time)";
    case Trend::Same: return fewer ? "improved (calls)" : "~";
    case Trend::NotJudged: return fewer ? "improved (calls)" : "";
  }
  return {};
}

Table diff_table(const Diff& diff) {
  Table table;
  table.columns = {{"kind", "kind", true},
                   {"function", "function", true},
                   {"lib", "lib", true},
                   {"class", "class", true},
                   {"calls_old", "calls old"},
                   {"calls_new", "calls new"},
                   {"calls_change_percent", "calls %"},
                   {"calls_vary", "vary"},
                   {"time_old_ns", "time old"},
                   {"time_new_ns", "time new"},
                   {"time_is_per_call", "per call"},
                   {"time_change_percent", "time %"},
                   {"per_call_change_percent", "per call %"},
                   {"noise_percent", "noise %"},
                   {"p", "p"},
                   {"q", "q"},
                   {"calls_trend", "calls", true},
                   {"time_trend", "time", true},
                   {"verdict", "verdict", true}};
  const auto add = [&](std::string_view kind, const std::vector<DiffRow>& rows) {
    for (const auto& row : rows)
      table.rows.push_back(
          {std::string(kind), row.name, row.module,
           row.is_total ? std::string() : std::string(to_string(row.call_class)), row.calls.before,
           row.calls.after, optional_percent(row.calls.part()),
           std::uint64_t{row.calls_vary ? 1U : 0U}, nanoseconds(row.has_time, row.time_ns.before),
           nanoseconds(row.has_time, row.time_ns.after), std::uint64_t{row.is_per_call ? 1U : 0U},
           optional_percent(row.time_change), optional_percent(row.per_call_change),
           Percent{100 * row.noise}, optional_number(row.p), optional_number(row.q),
           std::string(to_string(row.calls_trend)), std::string(to_string(row.time_trend)),
           verdict(row)});
  };
  add("function", diff.rows);
  add("new", diff.added);
  add("missing", diff.missing);
  add("total", diff.totals);
  if (diff.scale) {
    DiffRow scale;
    scale.name = "run scale";
    scale.is_total = true;
    scale.time_change = diff.scale->part();
    scale.p = diff.scale_p;
    add("total", {scale});
  }
  return table;
}

Table diff_summary(const Diff& diff, std::size_t limit) {
  Table table;
  table.columns = {{"function", "function", true}, {"calls", "calls old->new", true},
                   {"calls_change", "", true},     {"time", "time/run old->new", true},
                   {"norm", "(norm.)", true},      {"q", "p(BH)", true},
                   {"verdict", "verdict", true}};
  const auto add = [&](const DiffRow& row, std::string said) {
    std::string p = row.q ? probability(*row.q) : row.is_total && row.p ? probability(*row.p) : "";
    table.rows.push_back({row.name, calls_cell(row), calls_change_cell(row), time_cell(row),
                          time_change_cell(row), std::move(p), std::move(said)});
  };
  std::size_t shown = 0;
  for (const auto& row : diff.rows)
    if (shown++ < limit || !row.broken.empty()) add(row, verdict(row));
  for (const auto& row : diff.added)
    if (!row.broken.empty()) add(row, verdict(row));
  for (const auto& row : diff.totals)
    add(row,
        row.broken.empty() && !row.p && row.time_trend == Trend::NotJudged ? "" : verdict(row));
  return table;
}

std::string diff_footer(const Diff& diff, const DiffOptions& options) {
  std::string text;
  if (diff.scale)
    text += fmt::format("run scale {:.2f} -> {:.2f} (speed of machine and tracer, by {} functions; "
                        "taken out of norm., gated apart with --max-increase scale=10%)\n",
                        diff.scale->before, diff.scale->after, diff.scale_functions);
  else
    text += fmt::format("run scale not known: {} functions that compute are called by every run, 3 "
                        "are needed; times are as they are\n",
                        diff.scale_functions);
  text += fmt::format("missing in new: {}{}   new in new: {}{}\n", diff.missing.size(),
                      names_of(diff.missing), diff.added.size(), names_of(diff.added));
  text += fmt::format("runs {} old, {} new; a row's numbers are medians of them", diff.old_runs,
                      diff.new_runs);
  text += options.measure == TimeMeasure::Typical ? "; time/run: calls x the mean of the shorter "
                                                    "half of their times (totals: sums)\n"
                                                  : "; time/run: the sum of all times\n";
  if (diff.enough_runs()) {
    text += fmt::format("{} functions with 1 % of the time tested (Mann-Whitney U, false discovery "
                        "rate 5 %); ~ is no change that stands out of the noise\n",
                        diff.tested);
    const double least = least_mann_whitney_p(diff.old_runs, diff.new_runs) *
                         static_cast<double>(std::max<std::size_t>(diff.tested, 1));
    if (least > kMostFalseDiscovery)
      text += fmt::format("note: so few runs can't show that one function of {} has changed (least "
                          "p(BH) {:.2}): 7 old and 7 new ones can for up to 85\n",
                          diff.tested, least);
  } else if (options.allow_single) {
    text += "warning: fewer than 4 runs on a side: times are judged by their change alone "
            "(--allow-single), which is often wrong where machines are shared\n";
  } else {
    text += "not enough runs for time (4 old and 4 new at least, 7 are good); counts only\n";
  }
  const auto is_of_any = [&](const Limit& limit) {
    if (!limit.function) return true;
    const auto matches = [&](const DiffRow& row) { return limit.function->matches(row.name); };
    return std::any_of(diff.rows.begin(), diff.rows.end(), matches) ||
           std::any_of(diff.added.begin(), diff.added.end(), matches) ||
           std::any_of(diff.missing.begin(), diff.missing.end(), matches);
  };
  bool gates_new = false;
  for (const auto& limit : options.limits) {
    gates_new = gates_new || limit.of == Limit::Of::New;
    if (!is_of_any(limit))
      text += fmt::format("note: --max-increase {}: no function has this name\n", limit.text);
  }
  if (options.limits.empty()) return text + "gate: none (--max-increase sets limits)\n";
  if (!diff.added.empty() && !gates_new)
    text += "note: new functions are not gated; --max-increase new=0 does\n";
  for (const auto& one : diff.broken)
    text += "REGRESSION (" + one + ")\n";
  return text + (diff.failures() == 0 ? "gate: passed\n"
                                      : fmt::format("gate: FAILED ({})\n", diff.failures()));
}

} // namespace sonictrace::report
