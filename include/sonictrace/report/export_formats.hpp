#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonictrace/base/result.hpp"
#include "sonictrace/log/log_reader.hpp"
#include "sonictrace/report/export.hpp"

namespace sonictrace::report {

/// Added to a log's times it makes nanoseconds since 1970; since the midnight before the first
/// line, or since that line, where the day is not known.
struct TimeOffset {
  std::int64_t ns = 0;
  bool knows_day = false;

  bool operator==(const TimeOffset&) const = default;
};

/// `date`: YYYY-MM-DD, the day of a log's first line, in local time; of no use where the lines have
/// times since 1970. Fails with one line.
Result<TimeOffset> time_offset(log::Clock clock, std::string_view date);

/// What records say besides the calls.
struct ExportContext {
  std::string run_id;
  std::string host; ///< empty: not told
  bool per_thread = false;
  TimeOffset time_offset;
};

/// Durations in the buckets of an OpenTelemetry exponential histogram: bucket i holds what is above
/// 2^(i / 2^scale) and at most 2^((i + 1) / 2^scale). Filled with the middles of the buckets that
/// were counted in: a value is known to within 1.6 % + 1.1 %.
struct ExponentialHistogram {
  static constexpr int kScale = 5;

  std::uint64_t zeros = 0;
  std::int64_t offset = 0; ///< of the first bucket
  std::vector<std::uint64_t> counts;

  /// `unit_ns`: 1 for nanoseconds, 1e9 for seconds.
  static ExponentialHistogram of(const DurationHistogram& durations, double unit_ns);
  bool operator==(const ExponentialHistogram&) const = default;
};

/// One record, a line of JSON.
std::string json_record(const ExportContext& context, std::uint64_t sequence,
                        const ExportInterval& interval, const ExportRow& row);
/// What tells a record from all others: run, host and sequence. An export of the same logs under
/// the same names gives the same records the same keys.
std::string record_key(const ExportContext& context, std::uint64_t sequence);
std::string csv_record_names();
std::string csv_record(const ExportContext& context, std::uint64_t sequence,
                       const ExportInterval& interval, const ExportRow& row);

/// One object: futex_calls, futex_seconds and so on. Functions of one name are added up.
std::string json_flat(const ExportContext& context, const std::vector<ExportRow>& rows);

/// An ExportMetricsServiceRequest of OpenTelemetry, a line of JSON. Needs a day in `context`.
std::string otlp_request(const ExportContext& context, const ExportInterval& interval);

/// The longest time from the end of one call to the beginning of another one (GapFinder).
struct LongestGap {
  std::string from, to; ///< as they were asked for
  std::uint64_t found = 0, longest_ns = 0;
};

/// Numbers of logs that metrics tell.
struct ExportAccount {
  std::uint64_t lines = 0, skipped = 0, unmatched = 0, lost = 0;
  std::optional<LongestGap> gap; ///< where it was asked for

  void add(const log::Accounting& account);
};

enum class MetricsText : std::uint8_t { Prometheus, OpenMetrics };
/// The text that Prometheus scrapes.
std::string metrics_text(const ExportContext& context, const std::vector<ExportRow>& rows,
                         const ExportAccount& account, MetricsText form);

} // namespace sonictrace::report
