#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sonictrace/base/result.hpp"
#include "sonictrace/log/call.hpp"
#include "sonictrace/log/log_reader.hpp"
#include "sonictrace/report/call_filter.hpp"
#include "sonictrace/report/call_stats.hpp"

namespace sonictrace::report {

/// How many durations are at most so long: the buckets of a Prometheus histogram, 1 us to 10 s.
/// Counted one by one, so that a duration which is a limit is in its bucket.
class DurationLimits {
public:
  static constexpr std::size_t kCount = 22;
  /// Nanoseconds, and seconds as they are written.
  struct Limit {
    std::uint64_t ns;
    const char* text;
  };
  static const std::array<Limit, kCount>& limits();

  void add(std::uint64_t ns);
  void add(const DurationLimits& other);
  /// Those of at most limits()[i].
  std::uint64_t at_most(std::size_t i) const;

private:
  std::array<std::uint64_t, kCount + 1> counts_{}; ///< each between two limits
};

/// The calls of one function in one interval.
struct ExportRow {
  std::string function, module;
  std::string call_class;          ///< empty: of several
  std::uint32_t tid = log::kNoTid; ///< where threads are told apart
  CallStats stats;
  DurationLimits limits;
};

/// Adds up what is behind the first `top` rows, which are sorted by self time, as `other`; 0: all.
void fold_rows(std::vector<ExportRow>& rows, std::size_t top);
/// By self time, the most first; of equal ones the calls, then the names.
void sort_rows(std::vector<ExportRow>& rows);

/// Calls that ended between two times of a log.
struct ExportInterval {
  std::uint64_t from_ns = log::kNoTime, to_ns = log::kNoTime; ///< as Call::entry_ns
  std::uint32_t pid = log::kNoTid; ///< the thread that the log begins with
  std::vector<ExportRow> rows;
};

struct ExportOptions {
  std::uint64_t interval_ns = 0; ///< 0: the whole log is one
  bool per_thread = false;
};

/// Which modules functions are in: logs of sonictrace say it at their end.
using ModuleNames = std::map<std::string, std::string, std::less<>>;
/// Reads a log for this alone.
Result<ModuleNames> read_modules(log::LogReader& reader);

/// Adds up the calls of one log, interval by interval: a call belongs to the one that it ended in.
class Exporter final : public log::CallVisitor {
public:
  using Take = std::function<void(ExportInterval&&)>;

  Exporter(const ExportOptions& options, CallFilter& filter, const log::FunctionTable& functions,
           const ModuleNames& modules, Take take)
      : options_(options), filter_(filter), functions_(functions), modules_(modules),
        take_(std::move(take)) {}

  void on_call(const log::Call& call) override;
  /// At the end of the log: gives out the last interval.
  void finish();
  /// Calls that ended before an interval that was given out already: in the one behind it.
  std::uint64_t late() const { return late_; }

private:
  struct Sum {
    log::FunctionId function;
    std::uint32_t tid;
    CallStats stats;
    DurationLimits limits;
  };

  void give_out();
  std::string module_of(const log::Function& function) const;
  Sum& sum_of(log::FunctionId function, std::uint32_t tid);

  ExportOptions options_;
  CallFilter& filter_;
  const log::FunctionTable& functions_;
  const ModuleNames& modules_;
  Take take_;
  std::unordered_map<std::uint64_t, std::size_t> places_; ///< of function and thread
  std::vector<Sum> sums_;
  std::optional<std::uint64_t> interval_; ///< its number
  std::uint64_t first_ns_ = log::kNoTime, last_ns_ = log::kNoTime;
  std::optional<std::uint32_t> pid_;
  std::uint64_t late_ = 0;
};

} // namespace sonictrace::report
