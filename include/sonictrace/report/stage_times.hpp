#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sonictrace/base/result.hpp"
#include "sonictrace/log/log_reader.hpp"
#include "sonictrace/report/call_filter.hpp"
#include "sonictrace/report/log_part.hpp"
#include "sonictrace/report/stages.hpp"
#include "sonictrace/report/table.hpp"

namespace sonictrace::report {

/// A set of times, as intervals that do not touch. Bounded: of too many, those with the smallest
/// gaps between them are joined, and the gaps added up.
class IntervalSet {
public:
  explicit IntervalSet(std::size_t most = 16'384) : most_(most) {}

  void add(std::uint64_t begin_ns, std::uint64_t end_ns);
  void add(const IntervalSet& other);

  struct Interval {
    std::uint64_t begin_ns, end_ns;
  };
  std::vector<Interval> intervals() const;
  std::uint64_t length_ns() const;
  /// The length is too long by at most this.
  std::uint64_t joined_ns() const { return joined_ns_; }

private:
  void shrink();

  std::size_t most_;
  std::map<std::uint64_t, std::uint64_t> ends_; ///< by beginning
  std::uint64_t joined_ns_ = 0;
};

/// When a stage of the work was at work.
struct StageTime {
  std::string name;
  std::uint64_t calls = 0;
  std::uint64_t first_ns = 0;       ///< its first call begins
  std::uint64_t last_ns = 0;        ///< its last call ends
  std::uint64_t busy_ns = 0;        ///< at least one of its calls was running, in whatever thread
  std::uint64_t joined_ns = 0;      ///< busy_ns is too long by at most this
  std::uint64_t longest_gap_ns = 0; ///< between two of its calls
  std::uint64_t longest_gap_at_ns = 0;
  /// From the last end of the stage in front of it, or until then where they overlap.
  std::uint64_t wait_ns = 0;
  std::uint64_t overlap_ns = 0;

  std::uint64_t span_ns() const { return last_ns - first_ns; }
  std::uint64_t gap_ns() const { return span_ns() - std::min(span_ns(), busy_ns); }
};

/// When the stages of one log were at work.
class StageTimes {
public:
  explicit StageTimes(const Stages& stages) : stages_(stages) {}

  Result<void> add(log::LogReader& reader, CallFilter& filter);
  /// The same of a log that is read for others too. The part borrows both, and this.
  std::unique_ptr<LogPart> begin(const log::FunctionTable& functions, CallFilter& filter);

  /// In the order of the file of stages, and `other` last; those with calls that have times.
  std::vector<StageTime> times() const;

private:
  class Collector;
  struct Part {
    IntervalSet busy;
    std::uint64_t calls = 0;
    std::uint64_t total_ns = 0;
    std::uint64_t self_ns = 0;
  };

  const Stages& stages_;
  std::map<std::string, Part, std::less<>> parts_;
};

/// `origin_ns`: what the times of first starts and last ends count from.
Table stage_times_table(const std::vector<StageTime>& times, std::uint64_t origin_ns);

} // namespace sonictrace::report
