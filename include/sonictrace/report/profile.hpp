#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sonictrace/base/result.hpp"
#include "sonictrace/log/log_reader.hpp"
#include "sonictrace/names/demangle.hpp"
#include "sonictrace/report/call_class.hpp"
#include "sonictrace/report/call_filter.hpp"
#include "sonictrace/report/call_stats.hpp"

namespace sonictrace::report {

/// What the calls of a function come to in one run.
struct FunctionRun {
  std::uint64_t calls = 0;
  std::uint64_t sum_ns = 0;
  std::uint64_t self_ns = 0;
  /// What a call takes where nothing comes between: the mean of the shorter half of its
  /// calls. A program that shares its cores waits for them in the midst of some calls, and those
  /// say nothing about the function. 0 where no call has a time.
  double typical_ns = 0;

  bool operator==(const FunctionRun&) const = default;
};

/// The mean of the shorter half of all durations, rounded up to whole ones; 0 of none.
double typical_ns(const DurationHistogram& durations);

/// A function in several runs of one program.
struct FunctionProfile {
  std::string name;
  std::string module; ///< empty where the logs do not say it
  bool is_syscall = false;
  CallClass call_class = CallClass::Cpu;
  std::vector<FunctionRun> runs; ///< one for each run, also where it is not called
  CallStats all;                 ///< of all runs
};

struct ProfiledRun {
  std::string sha256; ///< of the log, unpacked; empty where it was not asked for
  std::uint64_t lines = 0;
  std::uint64_t calls = 0;
  std::uint64_t span_ns = 0; ///< 0 where the log has no times of the day
  std::uint64_t lost = 0;    ///< calls, by the log

  bool operator==(const ProfiledRun&) const = default;
};

/// Several runs of one program: how often its functions were called and how long they took, run by
/// run. What a fingerprint keeps and `diff` compares.
class Profile {
public:
  /// Adds one run: the calls of a log that the filter accepts.
  Result<void> add(log::LogReader& reader, CallFilter& filter, DemangleStyle demangle,
                   std::string sha256 = {});
  /// Adds the runs of another profile behind these.
  void add(const Profile& other);
  /// Of one fingerprint: each function has as many runs as there are.
  static Profile of(std::vector<ProfiledRun> runs, std::vector<FunctionProfile> functions);

  const std::vector<ProfiledRun>& runs() const { return runs_; }
  /// By name, then module.
  const std::vector<FunctionProfile>& functions() const { return functions_; }
  /// Self times of all functions in all runs: what shares are of.
  std::uint64_t self_ns() const;

private:
  std::vector<ProfiledRun> runs_;
  std::vector<FunctionProfile> functions_;
};

} // namespace sonictrace::report
