#include "sonictrace/report/rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sonictrace/report/log_time.hpp"
#include "sonictrace/report/quantity.hpp"

namespace sonictrace::report {
namespace {

std::string_view argument_of(const log::Call& call, std::size_t number) {
  log::ArgumentSplitter all(call.arguments());
  std::string_view one;
  for (std::size_t i = 0; i <= number; ++i)
    if (!all.next(one)) return {};
  return one;
}

/// Whether a file is opened to be written alone, by open(2)'s flags or fopen(3)'s mode.
bool is_for_writing(std::string_view how) {
  if (how.starts_with("\"w") || how.starts_with("\"a")) return true;
  if (how.find("O_WRONLY") != std::string_view::npos) return true;
  if (how.starts_with("0x") || !how.starts_with('0'))
    return (parse_value(how).value_or(0) & 3) == 1;
  return ((how.back() - '0') & 3) == 1; // octal
}

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string number(std::uint64_t value) { return fmt::format("{}", value); }

} // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::Ok: return "OK";
    case Verdict::Warn: return "WARN";
    case Verdict::NotJudged: return "-";
  }
  return "?";
}

void BurstCounter::add(std::uint64_t time_ns) {
  // Lines of two threads are in the order of time but for a little.
  if (!times_.empty()) time_ns = std::max(time_ns, times_.back());
  while (!times_.empty() && time_ns - times_.front() > window_ns_)
    times_.pop_front();
  times_.push_back(time_ns);
  if (times_.size() <= most_) return;
  most_ = times_.size();
  from_ns_ = times_.front();
}

void FileUse::opened(std::string_view argument, std::string_view result) {
  const auto file = parse_value(result);
  if (!file || result == "nil" || argument.size() < 2 || argument.front() != '"') return;
  if (argument.back() != '"') { // "/usr/lib/pyth"...: others may begin like it
    ++cut_;
    return;
  }
  const auto path = argument.substr(1, argument.size() - 2);
  // No files: nothing that a cache could keep.
  for (const std::string_view place : {"/dev/", "/proc/", "/sys/"})
    if (path.starts_with(place) && !path.starts_with("/dev/shm/")) return;
  auto known = paths_.find(path);
  if (known == paths_.end()) {
    if (paths_.size() >= kMostPaths) {
      ++left_out_;
      return;
    }
    known = paths_.emplace(path, Path()).first;
  }
  ++known->second.opens;
  open_[*file] = &known->second;
}

void FileUse::read(std::uint64_t file, std::uint64_t bytes) {
  const auto known = open_.find(file);
  if (known == open_.end()) return;
  ++known->second->reads;
  known->second->bytes += bytes;
}

Rules::Rules(const RuleOptions& options, CallFilter& filter, const log::FunctionTable& functions)
    : options_(options), filter_(filter), functions_(functions),
      pairs_({*parse_balance_pair("malloc:free")}), memory_(pairs_, nullptr, functions),
      bursts_({BurstCounter(options.burst_ns), BurstCounter(options.burst_ns)}) {}

Rules::Role Rules::role_of(log::FunctionId function) {
  static constexpr std::array<std::string_view, 6> kOpen = {"open",  "open64",  "__open",
                                                            "fopen", "fopen64", "__open_2"};
  static constexpr std::array<std::string_view, 3> kOpenAt = {"openat", "openat64", "__openat_2"};
  static constexpr std::array<std::string_view, 7> kRead = {
      "read", "pread", "pread64", "__read_chk", "readv", "preadv", "__read"};
  static constexpr std::array<std::string_view, 3> kReadStream = {"fread", "fread_unlocked",
                                                                  "__fread_chk"};
  static constexpr std::array<std::string_view, 8> kWrite = {
      "write", "pwrite", "pwrite64", "writev", "pwritev", "__write", "fwrite", "pwritev2"};
  static constexpr std::array<std::string_view, 3> kClose = {"close", "fclose", "__close"};
  if (function >= roles_.size()) roles_.resize(functions_.size(), Role::Unknown);
  Role& role = roles_[function];
  if (role != Role::Unknown) return role;
  const auto& name = functions_[function].name;
  role = is_one_of(name, kOpen)         ? Role::Open
         : is_one_of(name, kOpenAt)     ? Role::OpenAt
         : is_one_of(name, kRead)       ? Role::Read
         : is_one_of(name, kReadStream) ? Role::ReadStream
         : is_one_of(name, kWrite)      ? Role::Write
         : is_one_of(name, kClose)      ? Role::Close
                                        : Role::None;
  return role;
}

void Rules::on_call(const log::Call& call) {
  if (call.end == log::Call::End::Unfinished || !filter_.accepts(call, functions_)) return;
  if (call.function >= sums_.size()) sums_.resize(functions_.size());
  Sum& sum = sums_[call.function];
  ++sum.calls;
  sum.self_ns += call.has_duration() ? call.self_ns : 0;
  memory_.on_call(call);
  if (const Role role = role_of(call.function); role != Role::None) watch(role, call);
}

void Rules::watch(Role role, const log::Call& call) {
  const std::size_t kind = functions_[call.function].is_syscall ? 1 : 0;
  FileUse& files = files_[kind];
  switch (role) {
    case Role::Open:
    case Role::OpenAt: {
      const std::size_t path = role == Role::OpenAt ? 1 : 0;
      // A directory is not read.
      if (call.arguments().find("O_DIRECTORY") == std::string_view::npos &&
          !is_for_writing(argument_of(call, path + 1)))
        files.opened(argument_of(call, path), call.result());
      break;
    }
    case Role::Read:
      if (const auto file = parse_value(argument_of(call, 0)))
        files.read(*file, parse_value(call.result()).value_or(0));
      break;
    case Role::ReadStream:
      if (const auto file = parse_value(
              argument_of(call, functions_[call.function].name == "__fread_chk" ? 4 : 3)))
        files.read(*file, parse_value(call.result()).value_or(0) *
                              parse_value(argument_of(call, 1)).value_or(0));
      break;
    case Role::Close:
      if (const auto file = parse_value(argument_of(call, 0))) files.closed(*file);
      break;
    case Role::Write:
      if (call.entry_ns != log::kNoTime) bursts_[kind].add(call.entry_ns);
      break;
    default: break;
  }
}

Rules::Sum Rules::thinned(log::FunctionId function) const {
  const auto& of = functions_[function];
  if (of.thinned_calls == 0 || filter_.depends_on_calls() || !filter_.accepts_function(of) ||
      !filter_.accepts_module(of.module))
    return {};
  return {of.thinned_calls, of.thinned_ns};
}

std::uint64_t Rules::calls_of(log::FunctionId function) const {
  return (function < sums_.size() ? sums_[function].calls : 0) + thinned(function).calls;
}

std::vector<Finding> Rules::findings(log::Clock clock, unsigned fraction_digits) const {
  std::vector<Finding> findings;
  judge_futex(findings);
  judge_files(findings);
  judge_bursts(findings, clock, fraction_digits);
  judge_waits(findings);
  judge_memory(findings);
  return findings;
}

void Rules::judge_futex(std::vector<Finding>& findings) const {
  std::uint64_t calls = 0, frames = options_.frames.value_or(0);
  bool has_syscalls = false;
  for (log::FunctionId id = 0; id < functions_.size(); ++id) {
    const auto& function = functions_[id];
    has_syscalls |= function.is_syscall;
    if (function.name == "futex") calls += calls_of(id);
    if (!options_.frames && options_.frame_function &&
        options_.frame_function->matches(function.name))
      frames += calls_of(id);
  }
  Finding& found = findings.emplace_back();
  found.rule = "futex";
  found.value = static_cast<double>(calls);
  found.limit = static_cast<double>(options_.futex_per_frame * frames);
  if (calls == 0 && !has_syscalls) {
    found.verdict = Verdict::NotJudged;
    found.text = "not judged: no system calls in the log; trace with -S";
  } else if (frames == 0) {
    found.verdict = Verdict::NotJudged;
    found.text = fmt::format("{} calls, not judged: {}", calls,
                             options_.frame_function ? "no call of --frame-func in the log"
                                                     : "give --frames N or --frame-func GLOB");
  } else {
    const bool over = calls > options_.futex_per_frame * frames;
    found.verdict = over ? Verdict::Warn : Verdict::Ok;
    found.text = fmt::format("{} {} {} x {} = {} ({:.1f} per frame){}", calls,
                             over ? ">" : "<=", options_.futex_per_frame, frames,
                             options_.futex_per_frame * frames,
                             static_cast<double>(calls) / static_cast<double>(frames),
                             over ? ": look at what the locks guard" : "");
  }
}

void Rules::judge_files(std::vector<Finding>& findings) const {
  constexpr std::size_t kShown = 5;
  // Both kinds say the same of one file, where both are in the log.
  std::map<std::string, FileUse::Path, std::less<>> paths = files_[0].paths();
  for (const auto& [path, use] : files_[1].paths()) {
    auto& both = paths[path];
    both.opens = std::max(both.opens, use.opens);
    both.reads = std::max(both.reads, use.reads);
    both.bytes = std::max(both.bytes, use.bytes);
  }
  std::vector<std::pair<std::string, FileUse::Path>> often;
  std::uint64_t most = 0;
  for (const auto& [path, use] : paths) {
    most = std::max(most, use.opens);
    if (use.opens > options_.opens) often.emplace_back(path, use);
  }
  std::stable_sort(often.begin(), often.end(),
                   [](const auto& a, const auto& b) { return a.second.opens > b.second.opens; });
  const auto limit = static_cast<double>(options_.opens);
  for (std::size_t i = 0; i < std::min(often.size(), kShown); ++i) {
    const auto& [path, use] = often[i];
    findings.push_back(
        {"reread", Verdict::Warn, static_cast<double>(use.opens), limit,
         fmt::format("{} opened {} times > {}, {} reads, {} bytes: keep it, or map it", path,
                     use.opens, options_.opens, number(use.reads), format_count(use.bytes))});
  }
  if (often.size() > kShown)
    findings.push_back({"reread", Verdict::Warn, static_cast<double>(often.size()), 0,
                        fmt::format("and {} more files", often.size() - kShown)});
  const auto cut = std::max(files_[0].cut(), files_[1].cut());
  const auto left_out = std::max(files_[0].left_out(), files_[1].left_out());
  if (often.empty()) {
    const bool judged = !paths.empty();
    findings.push_back(
        {"reread", judged ? Verdict::Ok : Verdict::NotJudged, static_cast<double>(most), limit,
         judged ? fmt::format("{} files, none opened more than {} times", paths.size(), most)
                : "not judged: no file is opened in the log"});
  }
  if (cut > 0)
    findings.push_back(
        {"reread", Verdict::NotJudged, static_cast<double>(cut), 0,
         fmt::format("{} opens not judged: the log has cut their paths; trace with -s 4096", cut)});
  if (left_out > 0)
    findings.push_back({"reread", Verdict::NotJudged, static_cast<double>(left_out), 0,
                        fmt::format("{} opens not judged: of more than {} paths", left_out,
                                    format_count(FileUse::kMostPaths))});
}

void Rules::judge_bursts(std::vector<Finding>& findings, log::Clock clock, unsigned digits) const {
  const auto& burst = bursts_[0].most() >= bursts_[1].most() ? bursts_[0] : bursts_[1];
  Finding& found = findings.emplace_back();
  found.rule = "burst";
  found.value = static_cast<double>(burst.most());
  found.limit = static_cast<double>(options_.burst_calls);
  const auto window = format_duration(options_.burst_ns);
  if (clock == log::Clock::None) {
    found.verdict = Verdict::NotJudged;
    found.text = "not judged: the lines have no times; trace with -tt";
  } else if (burst.most() > options_.burst_calls) {
    found.verdict = Verdict::Warn;
    found.text = fmt::format(
        "{} writes in {} > {}, from {} on: write in a thread of its own, or to tmpfs", burst.most(),
        window, options_.burst_calls, format_log_time(burst.from_ns(), clock, digits));
  } else {
    found.text =
        fmt::format("{} writes in {} at most <= {}", burst.most(), window, options_.burst_calls);
  }
}

void Rules::judge_waits(std::vector<Finding>& findings) const {
  std::uint64_t all_ns = 0, wait_ns = 0;
  std::vector<std::pair<std::uint64_t, log::FunctionId>> waits;
  for (log::FunctionId id = 0; id < functions_.size(); ++id) {
    const auto self = (id < sums_.size() ? sums_[id].self_ns : 0) + thinned(id).self_ns;
    all_ns += self;
    if (self == 0 || class_of(functions_[id]) != CallClass::Wait) continue;
    wait_ns += self;
    waits.emplace_back(self, id);
  }
  std::sort(waits.begin(), waits.end(), std::greater<>());
  Finding& found = findings.emplace_back();
  found.rule = "wait";
  found.limit = options_.wait_percent;
  if (all_ns == 0) {
    found.verdict = Verdict::NotJudged;
    found.text = "not judged: no call has a time; trace with -T";
    return;
  }
  found.value = 100 * static_cast<double>(wait_ns) / static_cast<double>(all_ns);
  found.verdict = found.value > options_.wait_percent ? Verdict::Warn : Verdict::Ok;
  found.text = fmt::format("{:.1f} % of the traced time of all threads {} {} %", found.value,
                           found.verdict == Verdict::Warn ? ">" : "<=", options_.wait_percent);
  for (std::size_t i = 0; i < std::min<std::size_t>(3, waits.size()); ++i)
    found.text += fmt::format("{} {} {}", i == 0 ? ":" : ",", functions_[waits[i].second].name,
                              format_duration(waits[i].first));
}

void Rules::judge_memory(std::vector<Finding>& findings) const {
  constexpr std::uint64_t kFew = 100; // what a program keeps to its end
  const auto sum = memory_.sum(0);
  bool is_thinned = false;
  for (log::FunctionId id = 0; id < functions_.size(); ++id)
    is_thinned |= thinned(id).calls > 0 && class_of(functions_[id]) == CallClass::Mem;
  Finding& found = findings.emplace_back();
  found.rule = "unmatched";
  found.limit = options_.unmatched_percent;
  if (sum.taken == 0 || is_thinned) {
    found.verdict = Verdict::NotJudged;
    found.text = is_thinned ? "not judged: the log only counts some calls of malloc or free"
                            : "not judged: no call of malloc in the log";
    return;
  }
  found.value = 100 * static_cast<double>(sum.unmatched) / static_cast<double>(sum.taken);
  const bool over = found.value > options_.unmatched_percent && sum.unmatched > kFew;
  found.verdict = over ? Verdict::Warn : Verdict::Ok;
  found.text = fmt::format(
      "{} of {} allocations were not freed ({:.1f} %{}), {} bytes{}", sum.unmatched, sum.taken,
      found.value, over ? fmt::format(" > {} %", options_.unmatched_percent) : "",
      format_count(sum.unmatched_bytes), over ? ": see sonicreport balance --list 20" : "");
}

} // namespace sonictrace::report
