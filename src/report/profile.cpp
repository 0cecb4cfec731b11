#include "sonictrace/report/profile.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "sonictrace/base/check.hpp"

namespace sonictrace::report {
namespace {

auto key(const FunctionProfile& one) { return std::tie(one.name, one.module, one.is_syscall); }

class Counter final : public log::CallVisitor {
public:
  Counter(CallFilter& filter, const log::FunctionTable& functions)
      : filter_(filter), functions_(functions) {}

  void on_call(const log::Call& call) override {
    if (call.end == log::Call::End::Unfinished || !filter_.accepts(call, functions_)) return;
    of(call.function).add(call);
  }
  CallStats& of(log::FunctionId function) {
    if (function >= stats_.size()) stats_.resize(function + 1);
    return stats_[function];
  }

private:
  CallFilter& filter_;
  const log::FunctionTable& functions_;
  std::vector<CallStats> stats_;
};

FunctionRun run_of(const CallStats& stats) {
  return {stats.calls, stats.sum_ns, stats.self_ns, typical_ns(stats.durations)};
}

} // namespace

double typical_ns(const DurationHistogram& durations) {
  std::uint64_t left = durations.total() - durations.total() / 2;
  if (left == 0) return 0;
  const auto taken = static_cast<double>(left);
  double sum = 0;
  durations.for_each([&](std::size_t bucket, std::uint64_t count) {
    const auto used = std::min(left, count);
    const auto value = std::clamp<std::uint64_t>(wire::middle_of_bucket(bucket), durations.least(),
                                                 durations.largest());
    sum += static_cast<double>(value) * static_cast<double>(used);
    left -= used;
  });
  return sum / taken;
}

Result<void> Profile::add(log::LogReader& reader, CallFilter& filter, DemangleStyle demangle_style,
                          std::string sha256) {
  const auto& functions = reader.functions();
  Counter counter(filter, functions);
  auto read = reader.pump(counter);
  if (!read) return read;
  // By name: two spellings of a function become one when they are demangled.
  std::map<std::tuple<std::string, std::string, bool>, CallStats> named;
  for (log::FunctionId id = 0; id < functions.size(); ++id) {
    const auto& function = functions[id];
    auto& stats = counter.of(id);
    if (function.thinned_calls > 0 && !filter.depends_on_calls()) {
      if (filter.accepts_function(function))
        stats.add_thinned(function.thinned_calls, function.thinned_ns);
      else
        filter.refuse(function.thinned_calls, function.thinned_ns, function.thinned_ns);
    }
    if (stats.calls == 0) continue;
    if (!filter.accepts_module(function.module)) {
      filter.refuse(stats.calls, stats.sum_ns, stats.self_ns);
      continue;
    }
    named[{demangle_style == DemangleStyle::None ? function.name
                                                 : demangle(function.name, demangle_style),
           function.module, function.is_syscall}]
        .add(stats);
  }
  const auto& account = reader.accounting();
  ProfiledRun run;
  run.sha256 = std::move(sha256);
  run.lines = account.lines;
  if (account.clock == log::Clock::TimeOfDay || account.clock == log::Clock::Epoch)
    run.span_ns = account.span_ns();
  run.lost = account.lost;
  Profile one;
  for (const auto& [id, stats] : named) {
    FunctionProfile function;
    std::tie(function.name, function.module, function.is_syscall) = id;
    log::Function known;
    known.name = function.name;
    known.is_syscall = function.is_syscall;
    function.call_class = class_of(known);
    function.runs.push_back(run_of(stats));
    function.all = stats;
    run.calls += stats.calls;
    one.functions_.push_back(std::move(function));
  }
  one.runs_.push_back(run);
  add(one);
  return {};
}

void Profile::add(const Profile& other) {
  const auto runs = runs_.size() + other.runs_.size();
  std::vector<FunctionProfile> merged;
  merged.reserve(std::max(functions_.size(), other.functions_.size()));
  auto mine = functions_.begin();
  auto more = other.functions_.begin();
  // Both are sorted: one pass.
  while (mine != functions_.end() || more != other.functions_.end()) {
    const bool is_mine =
        mine != functions_.end() && (more == other.functions_.end() || !(key(*more) < key(*mine)));
    const bool is_more =
        more != other.functions_.end() && (mine == functions_.end() || !(key(*mine) < key(*more)));
    if (is_mine) {
      merged.push_back(std::move(*mine++));
    } else {
      merged.push_back(*more);
      merged.back().runs.clear();
      merged.back().all = {};
    }
    auto& one = merged.back();
    one.runs.resize(runs_.size());
    if (is_more) {
      one.all.add(more->all);
      one.runs.insert(one.runs.end(), more->runs.begin(), more->runs.end());
      ++more;
    }
    one.runs.resize(runs);
  }
  functions_ = std::move(merged);
  runs_.insert(runs_.end(), other.runs_.begin(), other.runs_.end());
}

Profile Profile::of(std::vector<ProfiledRun> runs, std::vector<FunctionProfile> functions) {
  Profile profile;
  for (const auto& function : functions)
    SONICTRACE_CHECK(function.runs.size() == runs.size(), "a number for each run");
  profile.runs_ = std::move(runs);
  profile.functions_ = std::move(functions);
  std::sort(profile.functions_.begin(), profile.functions_.end(),
            [](const FunctionProfile& a, const FunctionProfile& b) { return key(a) < key(b); });
  return profile;
}

std::uint64_t Profile::self_ns() const {
  std::uint64_t sum = 0;
  for (const auto& function : functions_)
    sum += function.all.self_ns;
  return sum;
}

} // namespace sonictrace::report
