#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonictrace/base/glob.hpp"
#include "sonictrace/base/result.hpp"
#include "sonictrace/report/profile.hpp"
#include "sonictrace/report/table.hpp"

namespace sonictrace::report {

/// One `--max-increase`: `time=5%`, `calls=0`, `calls:futex=30%`, `scale=10%`, `wall=5%`,
/// `syscalls=40%`, `new=0`.
struct Limit {
  enum class Of : std::uint8_t {
    Time,     ///< of a function in a run, without the speed of the run
    Calls,    ///< of a function
    Scale,    ///< the speed of the runs
    Wall,     ///< from the first line of a log to the last
    Syscalls, ///< all of them together
    New,      ///< how many functions only the new version calls
  };
  Of of = Of::Time;
  std::optional<Glob> function; ///< nothing: all of them
  /// Thousandths of a per cent, so that 30.0 % is not above 30 %; of New, thousandths of one.
  std::uint64_t thousandths = 0;
  std::string text; ///< as typed

  bool needs_times() const { return of == Of::Time || of == Of::Scale || of == Of::Wall; }
  /// The part that is allowed: 0.05 of `5%`.
  double part() const { return static_cast<double>(thousandths) / 1e5; }
};

/// Fails with one line that says what there is.
Result<Limit> parse_limit(std::string_view text);

enum class TimeMeasure : std::uint8_t {
  Typical, ///< calls x FunctionRun::typical_ns
  Sum,     ///< of all times
};

struct DiffOptions {
  std::vector<Limit> limits;
  bool allow_single = false; ///< judge times of fewer than kEnoughRuns by their change alone
  TimeMeasure measure = TimeMeasure::Typical;
};

constexpr std::size_t kEnoughRuns = 4;       ///< on each side, for a judgement about times
constexpr double kMostFalseDiscovery = 0.05; ///< q
constexpr double kLeastEffect = 0.05;        ///< a smaller change of time is none

/// Old and new of one number.
struct Change {
  double before = 0;
  double after = 0;

  /// 0.05 for 5 % more; nothing where there was none before.
  std::optional<double> part() const {
    if (!(before > 0)) return std::nullopt;
    return after / before - 1;
  }
  bool operator==(const Change&) const = default;
};

/// What became of one number of a row.
enum class Trend : std::uint8_t {
  NotJudged, ///< too few runs, or too little time
  Same,      ///< nothing that stands out of the noise
  More,
  Less,
};

struct DiffRow {
  std::string name;
  std::string module;
  CallClass call_class = CallClass::Cpu;
  bool is_total = false; ///< of many functions, or of the whole run

  Change calls;            ///< medians of the runs
  bool calls_vary = false; ///< within one side
  Trend calls_trend = Trend::Same;

  bool has_time = false;
  bool is_per_call = false; ///< time is that of a call: functions that wait
  Change time_ns;           ///< medians of the runs, as they were
  /// Of the times without the speed of the runs; of functions that wait, of the times as they were.
  std::optional<double> time_change;
  std::optional<double> per_call_change; ///< the same, of one call
  Trend time_trend = Trend::NotJudged;
  std::optional<double> p, q; ///< where the time was tested
  double noise = 0;           ///< how far the old runs are apart
  double share = 0;           ///< of all time, on the side where it is greater

  std::vector<std::string> broken; ///< limits, in words: `time`, `calls > 30%`
};

struct Diff {
  std::size_t old_runs = 0, new_runs = 0;
  std::vector<DiffRow> rows;   ///< functions that both have: broken limits first, then by time
  std::vector<DiffRow> totals; ///< wall, all calls, system calls, waits, libraries
  std::vector<DiffRow> added, missing;
  std::size_t tested = 0; ///< functions whose times were

  std::optional<Change> scale; ///< of the runs' speed; nothing: it could not be told
  std::size_t scale_functions = 0;
  std::optional<double> scale_p;
  std::vector<std::string> broken; ///< limits that are not of a row

  bool enough_runs() const { return old_runs >= kEnoughRuns && new_runs >= kEnoughRuns; }
  std::size_t failures() const;
};

/// Fails where limits on times can't be judged with so few runs.
Result<Diff> compare(const Profile& before, const Profile& after, const DiffOptions& options);

/// `more calls, not slower calls`, `REGRESSION (time)`, `~`.
std::string verdict(const DiffRow& row);

/// For programs: all rows, each number in a column of its own.
Table diff_table(const Diff& diff);
/// For people: the first `limit` rows.
Table diff_summary(const Diff& diff, std::size_t limit);
/// For people: what the table does not say.
std::string diff_footer(const Diff& diff, const DiffOptions& options);

} // namespace sonictrace::report
