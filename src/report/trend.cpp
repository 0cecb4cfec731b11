#include "sonictrace/report/trend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "sonictrace/report/statistics.hpp"

namespace sonictrace::report {
namespace {

/// The functions that matter most, by name: a library may change its name between versions.
std::vector<std::string> key_functions(const std::vector<Version>& versions, std::size_t count) {
  std::map<std::string, double> times, calls;
  for (const auto& version : versions) {
    const auto& profile = version.fingerprint.profile;
    const auto runs = static_cast<double>(profile.runs().size());
    for (const auto& one : profile.functions()) {
      times[one.name] += static_cast<double>(one.all.self_ns) / runs;
      calls[one.name] += static_cast<double>(one.all.calls) / runs;
    }
  }
  const bool timed =
      std::any_of(times.begin(), times.end(), [](const auto& one) { return one.second > 0; });
  const auto& weights = timed ? times : calls;
  std::vector<std::string> names;
  for (const auto& [name, weight] : weights)
    names.push_back(name);
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return weights.at(a) > weights.at(b);
  });
  if (names.size() > count) names.resize(count);
  return names;
}

using Number = std::function<double(const FunctionRun&)>;

/// Median over the runs of the sum over the functions; nothing where there are none.
std::optional<double> median_of(const Profile& profile, const Number& number,
                                const std::function<bool(const FunctionProfile&)>& belongs) {
  std::vector<double> runs(profile.runs().size());
  bool any = false;
  for (const auto& one : profile.functions()) {
    if (!belongs(one)) continue;
    any = true;
    for (std::size_t i = 0; i < runs.size(); ++i)
      runs[i] += number(one.runs[i]);
  }
  if (!any) return std::nullopt;
  return median(runs);
}

Cell count_cell(const std::optional<double>& value) {
  if (!value) return std::monostate();
  if (std::floor(*value) < *value) return *value;
  return static_cast<std::uint64_t>(*value);
}

Cell time_cell(const std::optional<double>& ns) {
  if (!ns || !(*ns > 0)) return std::monostate();
  return Nanoseconds{static_cast<std::uint64_t>(std::llround(*ns))};
}

Cell change_cell(const std::optional<double>& before, const std::optional<double>& after) {
  if (!before || !after || !(*before > 0)) return std::monostate();
  return Percent{100 * (*after / *before - 1)};
}

double calls_of(const FunctionRun& run) { return static_cast<double>(run.calls); }
double time_of(const FunctionRun& run) { return run.typical_ns * calls_of(run); }
double per_call(const FunctionRun& run) { return run.typical_ns; }

} // namespace

Table trend_table(const std::vector<Version>& versions, const TrendOptions& options) {
  Table table;
  table.columns = {{"version", "version", true},  {"runs", "runs"},         {"calls", "calls"},
                   {"calls_change_percent", "%"}, {"syscalls", "syscalls"}, {"wall_ns", "wall"}};
  const auto names = key_functions(versions, options.functions);
  for (const auto& name : names) {
    table.columns.push_back({name + ".calls", name + " calls"});
    table.columns.push_back({name + ".time_ns", options.per_call ? "a call" : "time"});
    table.columns.push_back({name + ".time_change_percent", "%"});
  }
  const auto all = [](const FunctionProfile&) { return true; };
  const Number time = options.per_call ? Number(per_call) : Number(time_of);
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const auto& profile = versions[i].fingerprint.profile;
    const Profile none;
    const auto& last = i == 0 ? none : versions[i - 1].fingerprint.profile;
    std::vector<double> spans;
    for (const auto& run : profile.runs())
      spans.push_back(static_cast<double>(run.span_ns));
    const auto calls = median_of(profile, calls_of, all);
    auto& row = table.rows.emplace_back();
    row = {versions[i].label,
           std::uint64_t{profile.runs().size()},
           count_cell(calls),
           change_cell(median_of(last, calls_of, all), calls),
           count_cell(median_of(profile, calls_of,
                                [](const FunctionProfile& one) { return one.is_syscall; })),
           time_cell(median(spans))};
    for (const auto& name : names) {
      const auto is_it = [&name](const FunctionProfile& one) { return one.name == name; };
      const auto now = median_of(profile, time, is_it);
      row.push_back(count_cell(median_of(profile, calls_of, is_it)));
      row.push_back(time_cell(now));
      row.push_back(change_cell(median_of(last, time, is_it), now));
    }
  }
  return table;
}

} // namespace sonictrace::report
