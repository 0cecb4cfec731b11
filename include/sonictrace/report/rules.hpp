#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sonictrace/base/glob.hpp"
#include "sonictrace/log/call.hpp"
#include "sonictrace/report/balance.hpp"
#include "sonictrace/report/call_filter.hpp"

namespace sonictrace::report {

struct RuleOptions {
  std::optional<std::uint64_t> frames; ///< what the program has worked off
  std::optional<Glob> frame_function;  ///< or: the calls of these functions are the frames
  std::uint64_t futex_per_frame = 5;
  std::uint64_t opens = 5; ///< of one path
  std::uint64_t burst_calls = 1000;
  std::uint64_t burst_ns = 100'000'000;
  double wait_percent = 50;      ///< of the traced time
  double unmatched_percent = 10; ///< of what was allocated
};

enum class Verdict : std::uint8_t { Ok, Warn, NotJudged };

struct Finding {
  std::string rule;
  Verdict verdict = Verdict::Ok;
  double value = 0, limit = 0; ///< what was compared
  std::string text;
};

/// Calls that write, as often as they come.
class BurstCounter {
public:
  explicit BurstCounter(std::uint64_t window_ns) : window_ns_(window_ns) {}

  void add(std::uint64_t time_ns);
  std::uint64_t most() const { return most_; } ///< in one window
  std::uint64_t from_ns() const { return from_ns_; }

private:
  std::uint64_t window_ns_;
  std::deque<std::uint64_t> times_; ///< within the window
  std::uint64_t most_ = 0, from_ns_ = 0;
};

/// Which files are opened and read.
class FileUse {
public:
  static constexpr std::size_t kMostPaths = 50'000;

  struct Path {
    std::uint64_t opens = 0, reads = 0, bytes = 0;
  };

  void opened(std::string_view argument, std::string_view result);
  void read(std::uint64_t file, std::uint64_t bytes);
  void closed(std::uint64_t file) { open_.erase(file); }

  const std::map<std::string, Path, std::less<>>& paths() const { return paths_; }
  std::uint64_t cut() const { return cut_; }           ///< paths that the log has cut short
  std::uint64_t left_out() const { return left_out_; } ///< of more than kMostPaths

private:
  std::map<std::string, Path, std::less<>> paths_;
  std::unordered_map<std::uint64_t, Path*> open_; ///< by descriptor or FILE*
  std::uint64_t cut_ = 0, left_out_ = 0;
};

/// Judges one log by rules of thumb.
class Rules final : public log::CallVisitor {
public:
  Rules(const RuleOptions& options, CallFilter& filter, const log::FunctionTable& functions);

  void on_call(const log::Call& call) override;
  /// At the end of the log. `clock` and digits: of its times.
  std::vector<Finding> findings(log::Clock clock, unsigned fraction_digits) const;

private:
  enum class Role : std::uint8_t { Unknown, None, Open, OpenAt, Read, ReadStream, Write, Close };
  struct Sum {
    std::uint64_t calls = 0, self_ns = 0;
  };

  Role role_of(log::FunctionId function);
  /// What the log only counts, and the filter accepts.
  Sum thinned(log::FunctionId function) const;
  std::uint64_t calls_of(log::FunctionId function) const;
  void watch(Role role, const log::Call& call);
  void judge_futex(std::vector<Finding>& findings) const;
  void judge_files(std::vector<Finding>& findings) const;
  void judge_bursts(std::vector<Finding>& findings, log::Clock clock, unsigned digits) const;
  void judge_waits(std::vector<Finding>& findings) const;
  void judge_memory(std::vector<Finding>& findings) const;

  RuleOptions options_;
  CallFilter& filter_;
  const log::FunctionTable& functions_;
  std::vector<BalancePair> pairs_;
  Balance memory_;
  std::vector<Sum> sums_;   ///< by function
  std::vector<Role> roles_; ///< by function
  // Of library calls, and of the system calls that may be inside of them.
  std::array<FileUse, 2> files_;
  std::array<BurstCounter, 2> bursts_;
};

std::string_view to_string(Verdict verdict);

} // namespace sonictrace::report
