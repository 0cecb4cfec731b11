#include "sonictrace/report/call_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sonictrace/report/quantity.hpp"

namespace sonictrace::report {
namespace {

constexpr std::uint64_t kDay = 86'400'000'000'000; ///< ns

Result<std::vector<Glob>> compile_all(const std::vector<std::string>& patterns) {
  std::vector<Glob> globs;
  for (const auto& pattern : patterns) {
    auto glob = Glob::compile(pattern);
    if (!glob) return Error::saying(fmt::format("glob '{}': {}", pattern, glob.error().message()));
    globs.push_back(std::move(*glob));
  }
  return globs;
}

bool any_matches(const std::vector<Glob>& globs, std::string_view text) {
  return std::any_of(globs.begin(), globs.end(),
                     [text](const Glob& glob) { return glob.matches(text); });
}

/// HH:MM:SS with a fraction.
std::optional<std::uint64_t> parse_time_of_day(std::string_view text) {
  const auto line = log::parse_line(std::string(text) + " x() = 0");
  if (line.kind != log::LineKind::Call || line.clock != log::Clock::TimeOfDay) return std::nullopt;
  return line.time_ns;
}

} // namespace

Result<std::optional<CallFilter::Window>> CallFilter::parse_window(std::string_view text) {
  if (text.empty()) return std::optional<Window>();
  const Error wrong =
      Error::saying(fmt::format("--window '{}': not T0:T1, where both are durations since the "
                                "beginning of the log (0s:5s) or "
                                "times of the day (14:23:05:14:23:10)",
                                text));
  const auto colons = std::count(text.begin(), text.end(), ':');
  Window window;
  if (colons == 1) {
    const auto at = text.find(':');
    const auto from =
        at == 0 ? std::optional<std::uint64_t>(0) : parse_duration_ns(text.substr(0, at));
    const auto to = at + 1 == text.size() ? std::optional<std::uint64_t>(~std::uint64_t{0})
                                          : parse_duration_ns(text.substr(at + 1));
    if (!from || !to) return wrong;
    window = {*from, *to, false};
  } else if (colons == 5) {
    std::size_t at = 0;
    for (int i = 0; i < 3; ++i)
      at = text.find(':', at + (i > 0 ? 1 : 0));
    const auto from = parse_time_of_day(text.substr(0, at));
    const auto to = parse_time_of_day(text.substr(at + 1));
    if (!from || !to) return wrong;
    window = {*from, *to, true};
  } else {
    return wrong;
  }
  return std::optional<Window>(window);
}

Result<CallFilter> CallFilter::make(const FilterOptions& options) {
  CallFilter filter;
  auto functions = compile_all(options.functions);
  if (!functions) return functions.error();
  auto libraries = compile_all(options.libraries);
  if (!libraries) return libraries.error();
  auto excluded = compile_all(options.excluded);
  if (!excluded) return excluded.error();
  auto window = parse_window(options.window);
  if (!window) return window.error();
  filter.functions_ = std::move(*functions);
  filter.libraries_ = std::move(*libraries);
  filter.excluded_ = std::move(*excluded);
  filter.window_ = *window;
  filter.tid_ = options.tid;
  filter.class_ = options.one_class;
  filter.min_time_ns_ = options.min_time_ns;
  filter.syscalls_only_ = options.syscalls_only;
  filter.modules_are_known_ = options.modules_are_known;
  filter.accepts_all_ = filter.functions_.empty() && filter.excluded_.empty() && !filter.window_ &&
                        !filter.tid_ && !filter.class_ && filter.min_time_ns_ == 0 &&
                        !filter.syscalls_only_ &&
                        (filter.libraries_.empty() || !filter.modules_are_known_);
  return filter;
}

bool CallFilter::depends_on_calls() const { return window_ || tid_ || min_time_ns_ > 0; }

bool CallFilter::accepts_function(const log::Function& function) const {
  if (!functions_.empty() && !any_matches(functions_, function.name)) return false;
  if (any_matches(excluded_, function.name)) return false;
  if (class_ && class_of(function) != *class_) return false;
  return !syscalls_only_ || function.is_syscall;
}

bool CallFilter::accepts_module(std::string_view module) const {
  return libraries_.empty() || any_matches(libraries_, module);
}

bool CallFilter::decide(const log::Call& call, const log::FunctionTable& functions) {
  if (window_ && !is_in_window(call)) return false;
  if (tid_ && call.tid != *tid_) return false;
  if (min_time_ns_ > 0 && (!call.has_duration() || call.duration_ns < min_time_ns_)) return false;
  if (call.function >= known_.size()) known_.resize(functions.size());
  auto& known = known_[call.function];
  if (known == 0) {
    const auto& function = functions[call.function];
    const bool accepted =
        accepts_function(function) && (!modules_are_known_ || accepts_module(function.module));
    known = accepted ? 1 : -1;
  }
  return known > 0;
}

bool CallFilter::is_in_window(const log::Call& call) {
  if (call.entry_ns == log::kNoTime) return false;
  if (!first_ns_) first_ns_ = call.entry_ns;
  std::uint64_t time = 0;
  if (window_->is_clock)
    time = call.entry_ns % kDay;
  else if (call.entry_ns > *first_ns_) // one that ended later may have begun before the first line
    time = call.entry_ns - *first_ns_;
  if (window_->from_ns > window_->to_ns && window_->is_clock) // over midnight
    return time >= window_->from_ns || time < window_->to_ns;
  return time >= window_->from_ns && time < window_->to_ns;
}

} // namespace sonictrace::report
