#include "sonictrace/report/diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "report/paired_functions.hpp"
#include "report/profile_noise.hpp"
#include "sonictrace/report/statistics.hpp"

namespace sonictrace::report {
namespace {

using Values = std::vector<double>;

/// One number in all runs, old ones first.
struct Series {
  Values before, after;

  Change medians() const { return {median(before), median(after)}; }
  double p() const { return mann_whitney_p(before, after); }
  bool varies() const {
    const auto differ = [](const Values& values) {
      return !values.empty() && *std::min_element(values.begin(), values.end()) <
                                    *std::max_element(values.begin(), values.end());
    };
    return differ(before) || differ(after);
  }
  bool is_positive() const {
    const auto positive = [](double value) { return value > 0; };
    return std::all_of(before.begin(), before.end(), positive) &&
           std::all_of(after.begin(), after.end(), positive);
  }
};

template <class Number>
Series series_of(const FunctionPair& pair, Number number) {
  Series series;
  for (const auto& run : pair.before->runs)
    series.before.push_back(number(run));
  for (const auto& run : pair.after->runs)
    series.after.push_back(number(run));
  return series;
}

double as_double(std::uint64_t value) { return static_cast<double>(value); }

/// Above the limit; exact for counts: 130 is not 30 % above 100.
bool exceeds(const Limit& limit, Change change) {
  if (!(change.before > 0)) return change.after > 0;
  return (change.after - change.before) * 1e5 > as_double(limit.thousandths) * change.before;
}

std::string worded(const Limit& limit, std::string_view what) {
  const auto equals = limit.text.rfind('=');
  return fmt::format("{} > {}", what, limit.text.substr(equals + 1));
}

class Comparison {
public:
  Comparison(const Profile& before, const Profile& after, const DiffOptions& options)
      : before_(before), after_(after), options_(options), pairs_(pair_functions(before, after)) {
    diff_.old_runs = before.runs().size();
    diff_.new_runs = after.runs().size();
    judges_times_ = diff_.enough_runs() || options.allow_single;
    old_scales_.assign(diff_.old_runs, 1.0);
    new_scales_.assign(diff_.new_runs, 1.0);
  }

  Diff run() {
    find_scales();
    for (const auto& pair : pairs_.both)
      diff_.rows.push_back(row_of(pair));
    judge_times();
    for (auto& row : diff_.rows)
      judge_against_limits(row);
    for (const auto* one : pairs_.only_after)
      diff_.added.push_back(lone_row(*one, true));
    for (const auto* one : pairs_.only_before)
      diff_.missing.push_back(lone_row(*one, false));
    for (auto& row : diff_.added)
      judge_calls_of_named(row);
    add_totals();
    judge_the_rest();
    sort(diff_.rows);
    sort(diff_.added);
    sort(diff_.missing);
    return std::move(diff_);
  }

private:
  double per_call(const FunctionRun& run) const {
    if (options_.measure == TimeMeasure::Typical) return run.typical_ns;
    return run.calls == 0 ? 0 : as_double(run.sum_ns) / as_double(run.calls);
  }
  double in_run(const FunctionRun& run) const { return per_call(run) * as_double(run.calls); }

  double share_of(const FunctionPair& pair) const {
    const auto part = [](const FunctionProfile& one, std::uint64_t all) {
      return all == 0 ? 0.0 : as_double(one.all.self_ns) / as_double(all);
    };
    return std::max(part(*pair.before, before_.self_ns()), part(*pair.after, after_.self_ns()));
  }

  Series unscaled(Series series) const {
    for (std::size_t i = 0; i < series.before.size(); ++i)
      series.before[i] /= old_scales_[i];
    for (std::size_t i = 0; i < series.after.size(); ++i)
      series.after[i] /= new_scales_[i];
    return series;
  }

  /// The speed of each run, by the time that a call of a function that computes takes: how many
  /// calls there are is the program's doing and not the machine's.
  void find_scales() {
    std::vector<Values> large, small;
    for (const auto& pair : pairs_.both) {
      if (pair.before->call_class != CallClass::Cpu) continue;
      auto series = series_of(pair, [this](const FunctionRun& run) { return per_call(run); });
      if (!series.is_positive()) continue;
      series.before.insert(series.before.end(), series.after.begin(), series.after.end());
      // Short times are known less well: they count only where there are no others.
      (share_of(pair) >= kLeastShare ? large : small).push_back(std::move(series.before));
    }
    diff_.scale_functions = large.size() + small.size();
    const auto used = for_run_scale(std::move(large), std::move(small));
    if (used.empty()) return;
    diff_.scale_functions = used.size();
    const auto scales = run_scales(used, diff_.old_runs + diff_.new_runs);
    std::copy_n(scales.begin(), diff_.old_runs, old_scales_.begin());
    std::copy_n(scales.begin() + static_cast<std::ptrdiff_t>(diff_.old_runs), diff_.new_runs,
                new_scales_.begin());
    diff_.scale = Change{median(old_scales_), median(new_scales_)};
    diff_.scale_p = mann_whitney_p(old_scales_, new_scales_);
  }

  static Trend trend_of_calls(const Series& calls) {
    const auto medians = calls.medians();
    if (!(medians.after > medians.before) && !(medians.after < medians.before)) return Trend::Same;
    const Trend trend = medians.after > medians.before ? Trend::More : Trend::Less;
    if (!calls.varies()) return trend;
    // They vary by themselves: only a change that this does not explain is one.
    if (calls.before.size() >= kEnoughRuns && calls.after.size() >= kEnoughRuns)
      return calls.p() <= 0.05 ? trend : Trend::Same;
    const auto [old_least, old_most] =
        std::minmax_element(calls.before.begin(), calls.before.end());
    const auto [new_least, new_most] = std::minmax_element(calls.after.begin(), calls.after.end());
    return *new_least > *old_most || *new_most < *old_least ? trend : Trend::Same;
  }

  DiffRow row_of(const FunctionPair& pair) const {
    DiffRow row;
    row.name = pair.after->name;
    row.module = pair.after->module;
    row.call_class = pair.after->call_class;
    const auto calls = series_of(pair, [](const FunctionRun& run) { return as_double(run.calls); });
    row.calls = calls.medians();
    row.calls_vary = calls.varies();
    row.calls_trend = trend_of_calls(calls);
    row.share = share_of(pair);
    if (pair.before->all.timed == 0 || pair.after->all.timed == 0) return row;
    row.has_time = true;
    row.is_per_call = row.call_class == CallClass::Wait;
    auto each = series_of(pair, [this](const FunctionRun& run) { return per_call(run); });
    auto whole = series_of(pair, [this](const FunctionRun& run) { return in_run(run); });
    row.time_ns = (row.is_per_call ? each : whole).medians();
    if (!row.is_per_call) {
      each = unscaled(std::move(each));
      whole = unscaled(std::move(whole));
    }
    const auto& judged = row.is_per_call ? each : whole;
    row.time_change = judged.medians().part();
    row.per_call_change = each.medians().part();
    row.noise = noise_floor(judged.before);
    if (is_tested(row)) row.p = judged.p();
    return row;
  }

  const Limit* limit_on(Limit::Of of, const std::string& name) const {
    const Limit* found = nullptr;
    for (const auto& limit : options_.limits) {
      if (limit.of != of) continue;
      if (limit.function ? limit.function->matches(name) : found == nullptr || !found->function)
        found = &limit;
    }
    return found;
  }

  bool is_tested(const DiffRow& row) const {
    if (!diff_.enough_runs()) return false;
    const auto* const limit = limit_on(Limit::Of::Time, row.name);
    return row.share >= kLeastShare || (limit != nullptr && limit->function);
  }

  void judge_times() {
    std::vector<DiffRow*> tested;
    Values p;
    for (auto& row : diff_.rows)
      if (row.p) {
        tested.push_back(&row);
        p.push_back(*row.p);
      }
    diff_.tested = tested.size();
    const auto q = benjamini_hochberg(p);
    for (std::size_t i = 0; i < tested.size(); ++i)
      tested[i]->q = q[i];
    for (auto& row : diff_.rows) {
      const bool naive = !diff_.enough_runs() && options_.allow_single && row.share >= kLeastShare;
      if (!row.time_change || (!row.q && !naive)) continue;
      const bool stands_out = std::abs(*row.time_change) >= std::max(kLeastEffect, row.noise) &&
                              (naive || *row.q <= kMostFalseDiscovery);
      row.time_trend = !stands_out ? Trend::Same : *row.time_change > 0 ? Trend::More : Trend::Less;
    }
  }

  void judge_against_limits(DiffRow& row) const {
    if (const auto* const limit = limit_on(Limit::Of::Calls, row.name))
      if (row.calls_trend == Trend::More && exceeds(*limit, row.calls))
        row.broken.push_back(worded(*limit, "calls"));
    const auto* const limit = limit_on(Limit::Of::Time, row.name);
    if (limit != nullptr && row.time_trend == Trend::More && *row.time_change > limit->part())
      row.broken.emplace_back("time");
  }

  void judge_calls_of_named(DiffRow& row) const {
    const auto* const limit = limit_on(Limit::Of::Calls, row.name);
    if (limit != nullptr && limit->function && exceeds(*limit, row.calls))
      row.broken.push_back(worded(*limit, "calls"));
  }

  DiffRow lone_row(const FunctionProfile& one, bool is_new) const {
    DiffRow row;
    row.name = one.name;
    row.module = one.module;
    row.call_class = one.call_class;
    Values calls, times;
    for (const auto& run : one.runs) {
      calls.push_back(as_double(run.calls));
      times.push_back(in_run(run));
    }
    (is_new ? row.calls.after : row.calls.before) = median(calls);
    row.calls_vary = Series{calls, {}}.varies();
    row.calls_trend = is_new ? Trend::More : Trend::Less;
    row.has_time = one.all.timed > 0;
    (is_new ? row.time_ns.after : row.time_ns.before) = median(times);
    return row;
  }

  /// A row for all functions of a kind, on both sides.
  template <class Belongs>
  DiffRow total_of(std::string name, Belongs belongs) const {
    Series calls, times;
    const auto add = [&](const Profile& side, Values& count, Values& time) {
      count.resize(side.runs().size());
      time.resize(side.runs().size());
      for (const auto& function : side.functions()) {
        if (!belongs(function)) continue;
        for (std::size_t i = 0; i < function.runs.size(); ++i) {
          count[i] += as_double(function.runs[i].calls);
          time[i] += as_double(function.runs[i].self_ns);
        }
      }
    };
    add(before_, calls.before, times.before);
    add(after_, calls.after, times.after);
    DiffRow row;
    row.name = std::move(name);
    row.is_total = true;
    row.calls = calls.medians();
    row.calls_vary = calls.varies();
    row.calls_trend = trend_of_calls(calls);
    row.time_ns = times.medians();
    row.has_time = row.time_ns.before > 0 && row.time_ns.after > 0;
    row.time_change = times.medians().part();
    return row;
  }

  void add_totals() {
    add_wall();
    const auto add = [this](const std::string& name, auto belongs) {
      auto row = total_of(name, belongs);
      if (row.calls.before > 0 || row.calls.after > 0) diff_.totals.push_back(std::move(row));
    };
    add("all calls", [](const FunctionProfile&) { return true; });
    add("all syscalls", [](const FunctionProfile& one) { return one.is_syscall; });
    if (!diff_.totals.empty() && diff_.totals.back().name == "all syscalls")
      for (const auto& limit : options_.limits)
        if (auto& row = diff_.totals.back(); limit.of == Limit::Of::Syscalls &&
                                             row.calls_trend == Trend::More &&
                                             exceeds(limit, row.calls))
          row.broken.push_back(worded(limit, "syscalls"));
    add("all waits", [](const FunctionProfile& one) { return one.call_class == CallClass::Wait; });
    std::map<std::string, int> modules;
    for (const auto* side : {&before_, &after_})
      for (const auto& function : side->functions())
        if (!function.module.empty() && !function.is_syscall) ++modules[function.module];
    for (const auto& [module, functions] : modules)
      add("all of " + module, [&name = module](const FunctionProfile& one) {
        return one.module == name && !one.is_syscall;
      });
  }

  void add_wall() {
    Series spans;
    for (const auto& run : before_.runs())
      spans.before.push_back(as_double(run.span_ns));
    for (const auto& run : after_.runs())
      spans.after.push_back(as_double(run.span_ns));
    if (!spans.is_positive()) return;
    DiffRow row;
    row.name = "wall";
    row.is_total = true;
    row.has_time = true;
    row.time_ns = spans.medians();
    row.time_change = spans.medians().part();
    row.noise = noise_floor(spans.before);
    if (diff_.enough_runs()) row.p = spans.p();
    if (judges_times_) {
      const bool stands_out = std::abs(*row.time_change) >= std::max(kLeastEffect, row.noise) &&
                              (!row.p || *row.p <= 0.05);
      row.time_trend = !stands_out ? Trend::Same : *row.time_change > 0 ? Trend::More : Trend::Less;
    }
    for (const auto& limit : options_.limits)
      if (limit.of == Limit::Of::Wall && row.time_trend == Trend::More &&
          *row.time_change > limit.part())
        row.broken.push_back(worded(limit, "wall"));
    diff_.totals.push_back(std::move(row));
  }

  void judge_the_rest() {
    for (const auto& limit : options_.limits) {
      if (limit.of == Limit::Of::New && diff_.added.size() * 1000 > limit.thousandths)
        diff_.broken.push_back(fmt::format("{} new functions", diff_.added.size()));
      if (limit.of == Limit::Of::Scale && diff_.scale && *diff_.scale->part() > limit.part() &&
          (*diff_.scale_p <= 0.05 || !diff_.enough_runs()))
        diff_.broken.push_back(worded(limit, "run scale"));
    }
  }

  static void sort(std::vector<DiffRow>& rows) {
    const auto rank = [](const DiffRow& row) {
      if (!row.broken.empty()) return 0;
      const bool stands_out = row.time_trend == Trend::More || row.time_trend == Trend::Less ||
                              row.calls_trend != Trend::Same;
      return stands_out ? 1 : 2;
    };
    std::stable_sort(rows.begin(), rows.end(), [&](const DiffRow& a, const DiffRow& b) {
      if (rank(a) != rank(b)) return rank(a) < rank(b);
      return a.share > b.share;
    });
  }

  const Profile& before_;
  const Profile& after_;
  const DiffOptions& options_;
  PairedFunctions pairs_;
  bool judges_times_ = false;
  Values old_scales_, new_scales_;
  Diff diff_;
};

} // namespace

std::size_t Diff::failures() const {
  const auto of = [](const std::vector<DiffRow>& all) {
    return static_cast<std::size_t>(std::count_if(
        all.begin(), all.end(), [](const DiffRow& row) { return !row.broken.empty(); }));
  };
  return of(rows) + of(totals) + of(added) + broken.size();
}

Result<Diff> compare(const Profile& before, const Profile& after, const DiffOptions& options) {
  const auto n = before.runs().size();
  const auto m = after.runs().size();
  const auto no_times = [](const Profile& side) {
    return std::none_of(side.functions().begin(), side.functions().end(),
                        [](const FunctionProfile& one) { return one.all.timed > 0; });
  };
  for (const auto& limit : options.limits) {
    if (!limit.needs_times()) continue;
    // A gate that can't be judged must not look like one that is passed.
    if (!options.allow_single && std::min(n, m) < kEnoughRuns)
      return Error::saying(
          fmt::format("--max-increase {}: not enough runs for time, {} old and {} new: give {} of "
                      "each at least "
                      "(7 are good), or --allow-single for a rule that often gives false alarms",
                      limit.text, n, m, kEnoughRuns));
    if (no_times(before) || no_times(after))
      return Error::saying(
          fmt::format("--max-increase {}: the {} logs have no times: trace with -T", limit.text,
                      no_times(before) ? "old" : "new"));
  }
  auto diff = Comparison(before, after, options).run();
  for (const auto& limit : options.limits) {
    if (limit.of == Limit::Of::Scale && !diff.scale)
      return Error::saying(fmt::format(
          "--max-increase {}: the run scale needs {} functions that compute and that every run "
          "calls, and there are {}",
          limit.text, kLeastForScale, diff.scale_functions));
    if (limit.of == Limit::Of::Wall && (diff.totals.empty() || diff.totals.front().name != "wall"))
      return Error::saying(fmt::format(
          "--max-increase {}: not all logs have the time of the day: trace with -tt", limit.text));
  }
  return diff;
}

} // namespace sonictrace::report
