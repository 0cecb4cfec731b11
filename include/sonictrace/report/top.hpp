#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sonictrace/log/call.hpp"
#include "sonictrace/log/log_reader.hpp"
#include "sonictrace/names/demangle.hpp"
#include "sonictrace/report/call_filter.hpp"
#include "sonictrace/report/call_stats.hpp"
#include "sonictrace/report/log_part.hpp"
#include "sonictrace/report/stages.hpp"
#include "sonictrace/report/table.hpp"

namespace sonictrace::report {

/// What a row of `top` stands for.
enum class TopBy : std::uint8_t {
  Function,
  Library,
  Caller, ///< of CALLER->NAME: the library or program that the calls come from
  Thread,
  Stage,
  Class,
  FirstArgument,
};
enum class TopSort : std::uint8_t { Self, Total, Calls, Average, P50, P99, Max };

std::optional<TopBy> parse_top_by(std::string_view text);
std::optional<TopSort> parse_top_sort(std::string_view text);

struct TopOptions {
  TopBy by = TopBy::Function;
  std::optional<TopSort> sort = {}; ///< nothing: self, or calls where no call has a time
  bool sum_results = false;         ///< add up the results that are positive numbers
  DemangleStyle demangle = DemangleStyle::None;
  const Stages* stages = nullptr; ///< for TopBy::Stage
};

struct TopRow {
  std::string label;  ///< function, library, thread, stage, class
  std::string module; ///< of a function; empty where the log does not say it
  std::string argument;
  std::string tag; ///< the class of a function that is not cpu
  CallStats stats;
  std::uint64_t result_sum = 0;
  double script_sum = 0; ///< seconds, added up in the order of the log as doubles, as a script does
  std::uint64_t order = 0; ///< of the first appearance
};

/// Where the time goes. May be filled from several logs, one after the other.
class Top {
public:
  explicit Top(TopOptions options) : options_(std::move(options)) {}

  /// Adds the calls of one log that the filter accepts.
  Result<void> add(log::LogReader& reader, CallFilter& filter);
  /// The same of a log that is read for others too. The part borrows both, and this.
  std::unique_ptr<LogPart> begin(const log::FunctionTable& functions, CallFilter& filter);

  /// Sorted; of all logs.
  std::vector<TopRow> rows() const;
  /// Of all accepted calls.
  const CallStats& total() const { return total_; }
  bool has_times() const { return total_.timed + total_.thinned > 0; }
  const TopOptions& options() const { return options_; }

private:
  class Counter;
  void take(Counter& counter, CallFilter& filter, const log::FunctionTable& functions);

  TopOptions options_;
  CallStats total_;
  std::map<std::vector<std::string>, TopRow> rows_;
  std::uint64_t appearances_ = 0;
};

/// `columns`: names of columns, separated by commas; empty: the usual ones. Fails where there is
/// none of a name.
Result<Table> top_table(const Top& top, std::size_t limit, std::string_view columns);
/// One line about calls that wait, where there are any, and of what all calls' self time they are a
/// part: for people who look for what to do next. `left_out`: by a filter. Needs rows of functions.
std::string top_hint(const Top& top, const FilterTally& left_out);
/// The lines of the field note's script: a title, and `NAME: 2.1450s`.
std::string top_plain(const Top& top, std::size_t limit);
/// The table of `ltrace -c`.
std::string top_ltrace(const Top& top, std::size_t limit);

} // namespace sonictrace::report
