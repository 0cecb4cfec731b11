#include "sonictrace/report/scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace sonictrace::report {
namespace {

constexpr std::size_t kFewest = 3; // two points lie on a line whatever they are

class Counter final : public log::CallVisitor {
public:
  struct Sum {
    std::uint64_t calls = 0, timed = 0, total_ns = 0, self_ns = 0;
  };

  Counter(CallFilter& filter, const log::FunctionTable& functions)
      : filter_(filter), functions_(functions) {}

  void on_call(const log::Call& call) override {
    if (call.end == log::Call::End::Unfinished || !filter_.accepts(call, functions_)) return;
    if (call.function >= sums_.size()) sums_.resize(functions_.size());
    Sum& sum = sums_[call.function];
    ++sum.calls;
    if (!call.has_duration()) return;
    ++sum.timed;
    sum.total_ns += call.duration_ns;
    sum.self_ns += call.self_ns;
  }
  const std::vector<Sum>& sums() const { return sums_; }

private:
  CallFilter& filter_;
  const log::FunctionTable& functions_;
  std::vector<Sum> sums_;
};

} // namespace

std::optional<PowerFit> fit_power(std::span<const Point> points) {
  std::vector<double> different;
  for (const auto& point : points) {
    if (!(point.x > 0) || !(point.y > 0)) return std::nullopt;
    if (std::find(different.begin(), different.end(), point.x) == different.end())
      different.push_back(point.x);
  }
  if (different.size() < kFewest) return std::nullopt;
  const auto n = static_cast<double>(points.size());
  double mean_x = 0, mean_y = 0;
  for (const auto& point : points) {
    mean_x += std::log(point.x) / n;
    mean_y += std::log(point.y) / n;
  }
  double xx = 0, xy = 0, yy = 0;
  for (const auto& point : points) {
    const double dx = std::log(point.x) - mean_x;
    const double dy = std::log(point.y) - mean_y;
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
  }
  PowerFit fit;
  fit.exponent = xy / xx;
  fit.factor = std::exp(mean_y - fit.exponent * mean_x);
  double rest = 0;
  for (const auto& point : points) {
    const double error = std::log(point.y) - mean_y - fit.exponent * (std::log(point.x) - mean_x);
    rest += error * error;
  }
  // All y the same: the line through them is exact.
  constexpr double kNothing = 1e-18;
  fit.r_squared = yy < kNothing ? 1 : 1 - rest / yy;
  fit.standard_error = std::sqrt(rest / (n - 2) / xx);
  return fit;
}

Result<ScaleParameter> parse_scale_parameter(std::string_view text) {
  const auto wrong = [text](const std::string& why) {
    return Error::saying(
        fmt::format("--param '{}': {}; it is NAME=VALUE:LOG,VALUE:LOG,...", text, why));
  };
  ScaleParameter parameter;
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return wrong("no NAME=");
  parameter.name = text.substr(0, equals);
  auto rest = text.substr(equals + 1);
  while (!rest.empty()) {
    const auto comma = std::min(rest.find(','), rest.size());
    const auto one = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const auto colon = one.find(':');
    if (colon == std::string_view::npos || colon + 1 == one.size())
      return wrong(fmt::format("'{}' is no VALUE:LOG", one));
    ScaleRun run;
    run.value_text = one.substr(0, colon);
    run.path = one.substr(colon + 1);
    const char* const end = run.value_text.data() + run.value_text.size();
    const auto [parsed, error] = std::from_chars(run.value_text.data(), end, run.value);
    if (error != std::errc{} || parsed != end || !(run.value > 0) || !std::isfinite(run.value))
      return wrong(fmt::format("'{}' is no number above 0", run.value_text));
    parameter.runs.push_back(std::move(run));
  }
  if (parameter.runs.empty()) return wrong("no logs");
  return parameter;
}

Result<void> Scale::add(double value, log::LogReader& reader, CallFilter& filter,
                        DemangleStyle style) {
  const auto& functions = reader.functions();
  Counter counter(filter, functions);
  auto read = reader.pump(counter);
  ++runs_[value];
  for (log::FunctionId id = 0; id < functions.size(); ++id) {
    Counter::Sum sum = id < counter.sums().size() ? counter.sums()[id] : Counter::Sum();
    const auto& function = functions[id];
    if (!filter.depends_on_calls() && filter.accepts_function(function)) {
      sum.calls += function.thinned_calls;
      sum.timed += function.thinned_calls;
      sum.total_ns += function.thinned_ns;
      sum.self_ns += function.thinned_ns;
    }
    if (sum.calls == 0) continue;
    if (!filter.accepts_module(function.module)) {
      filter.refuse(sum.calls, sum.total_ns, sum.self_ns);
      continue;
    }
    auto& all = functions_[style == DemangleStyle::None ? function.name
                                                        : demangle(function.name, style)][value];
    all.calls += sum.calls;
    all.timed += sum.timed;
    all.total_ns += static_cast<double>(sum.total_ns);
  }
  return read;
}

std::vector<double> Scale::values() const {
  std::vector<double> values;
  for (const auto& [value, runs] : runs_)
    values.push_back(value);
  return values;
}

std::size_t Scale::too_few() const {
  return static_cast<std::size_t>(
      std::count_if(functions_.begin(), functions_.end(),
                    [](const auto& one) { return one.second.size() < kFewest; }));
}

std::vector<ScaleRow> Scale::rows() const {
  std::vector<ScaleRow> rows;
  for (const auto& [name, by_value] : functions_) {
    if (by_value.size() < kFewest) continue;
    ScaleRow row;
    row.function = name;
    row.points = by_value.size();
    std::vector<Point> means, calls, totals;
    for (const auto& [value, runs] : runs_) {
      const auto known = by_value.find(value);
      row.mean_ns.push_back(std::numeric_limits<double>::quiet_NaN());
      if (known == by_value.end()) continue;
      const auto& sum = known->second;
      const auto count = static_cast<double>(runs);
      calls.push_back({value, static_cast<double>(sum.calls) / count});
      if (sum.timed == 0) continue;
      row.mean_ns.back() = sum.total_ns / static_cast<double>(sum.timed);
      means.push_back({value, row.mean_ns.back()});
      totals.push_back({value, sum.total_ns / count});
      row.largest_total_ns = totals.back().y;
    }
    row.mean = fit_power(means);
    row.calls = fit_power(calls);
    row.total = fit_power(totals);
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const ScaleRow& a, const ScaleRow& b) {
    return a.largest_total_ns > b.largest_total_ns;
  });
  return rows;
}

} // namespace sonictrace::report
