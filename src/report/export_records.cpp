#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "sonictrace/report/export_formats.hpp"
#include "sonictrace/report/quantity.hpp"
#include "sonictrace/report/table.hpp"
#include "sonictrace/wire/histogram.hpp"

namespace sonictrace::report {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000; ///< ns
constexpr std::int64_t kDay = 86'400 * kSecond;

std::int64_t absolute(const ExportContext& context, std::uint64_t time_ns) {
  return static_cast<std::int64_t>(time_ns) + context.time_offset.ns;
}

/// Seconds since 1970; since the first midnight where the day is not known.
std::string timestamp(const ExportContext& context, std::uint64_t time_ns, const char* none) {
  if (time_ns == log::kNoTime) return none;
  const std::int64_t ns = absolute(context, time_ns);
  if (ns < 0) return "-" + format_seconds(static_cast<std::uint64_t>(-ns), 9);
  return format_seconds(static_cast<std::uint64_t>(ns), 9);
}

std::string list_of(const std::vector<std::uint64_t>& counts, const char* quote) {
  std::string text;
  for (const auto count : counts)
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ",", quote, count, quote);
  return "[" + text + "]";
}

std::string attribute(std::string_view key, std::string_view value) {
  return fmt::format(R"({{"key":{},"value":{{"stringValue":{}}}}})", json_string(key),
                     json_string(value));
}

std::string attributes_of(const ExportRow& row) {
  std::string text = attribute("function", row.function);
  if (!row.module.empty()) text += "," + attribute("lib", row.module);
  if (!row.call_class.empty()) text += "," + attribute("class", row.call_class);
  if (row.tid != log::kNoTid)
    text += fmt::format(R"(,{{"key":"thread.id","value":{{"intValue":"{}"}}}})", row.tid);
  return text;
}

} // namespace

Result<TimeOffset> time_offset(log::Clock clock, std::string_view date) {
  if (clock == log::Clock::Epoch) return TimeOffset{0, true};
  // Times of day count from the midnight before the first line's day; -r from the first line.
  const std::int64_t begin = clock == log::Clock::TimeOfDay ? -kDay : 0;
  if (date.empty() || clock == log::Clock::None) return TimeOffset{begin, false};
  std::tm day{};
  const std::string text(date);
  const char* const end = ::strptime(text.c_str(), "%Y-%m-%d", &day);
  if (end == nullptr || *end != '\0')
    return Error::saying(fmt::format("--date '{}': not a day like 2026-11-30", date));
  day.tm_isdst = -1;
  return TimeOffset{std::mktime(&day) * kSecond + begin, true};
}

ExponentialHistogram ExponentialHistogram::of(const DurationHistogram& durations, double unit_ns) {
  ExponentialHistogram exponential;
  durations.for_each([&](std::size_t bucket, std::uint64_t count) {
    const auto middle = static_cast<double>(wire::middle_of_bucket(bucket));
    if (middle <= 0) {
      exponential.zeros += count;
      return;
    }
    const auto index =
        static_cast<std::int64_t>(std::ceil(std::log2(middle / unit_ns) * (1 << kScale))) - 1;
    // Buckets come from the shortest durations on.
    if (exponential.counts.empty()) exponential.offset = index;
    exponential.counts.resize(static_cast<std::size_t>(index - exponential.offset) + 1);
    exponential.counts.back() += count;
  });
  return exponential;
}

std::string json_record(const ExportContext& context, std::uint64_t sequence,
                        const ExportInterval& interval, const ExportRow& row) {
  const auto& stats = row.stats;
  const auto histogram = ExponentialHistogram::of(stats.durations, 1);
  std::string text = fmt::format(R"({{"v":1,"run_id":{},"seq":{},"ts":{},"host":{},"pid":{},)",
                                 json_string(context.run_id), sequence,
                                 timestamp(context, interval.from_ns, "null"),
                                 json_string(context.host), interval.pid);
  if (context.per_thread) text += fmt::format(R"("tid":{},)", row.tid);
  text += fmt::format(
      R"("lib":{},"func":{},"class":{},"calls":{},"timed":{},"sum_ns":{},"self_ns":{},)",
      json_string(row.module), json_string(row.function), json_string(row.call_class), stats.calls,
      stats.timed, stats.sum_ns, stats.self_ns);
  text += fmt::format(R"("min_ns":{},"max_ns":{},"p50_ns":{},"p99_ns":{},)",
                      stats.durations.least(), stats.durations.largest(),
                      stats.durations.quantile(500), stats.durations.quantile(990));
  // As two flat lists: every database reads those, and makes the same percentiles of them.
  std::vector<std::uint64_t> middles, counts;
  stats.durations.for_each([&](std::size_t bucket, std::uint64_t count) {
    middles.push_back(wire::middle_of_bucket(bucket));
    counts.push_back(count);
  });
  text += fmt::format(R"("bucket_ns":{},"bucket_calls":{},)", list_of(middles, ""),
                      list_of(counts, ""));
  text += fmt::format(R"("hist":{{"scale":{},"zero":{},"offset":{},"counts":{}}}}})",
                      ExponentialHistogram::kScale, histogram.zeros, histogram.offset,
                      list_of(histogram.counts, ""));
  return text + "\n";
}

std::string record_key(const ExportContext& context, std::uint64_t sequence) {
  return fmt::format("{}:{}:{}", context.run_id, context.host, sequence);
}

std::string csv_record_names() {
  return "run_id,seq,ts,host,pid,tid,lib,func,class,calls,timed,sum_ns,self_ns,min_ns,max_ns,p50_"
         "ns,p99_ns\n";
}

std::string csv_record(const ExportContext& context, std::uint64_t sequence,
                       const ExportInterval& interval, const ExportRow& row) {
  const auto& stats = row.stats;
  return fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(context.run_id), sequence,
      timestamp(context, interval.from_ns, ""), csv_field(context.host), interval.pid,
      context.per_thread ? fmt::format("{}", row.tid) : "", csv_field(row.module),
      csv_field(row.function), row.call_class, stats.calls, stats.timed, stats.sum_ns,
      stats.self_ns, stats.durations.least(), stats.durations.largest(),
      stats.durations.quantile(500), stats.durations.quantile(990));
}

std::string json_flat(const ExportContext& context, const std::vector<ExportRow>& rows) {
  std::map<std::string, CallStats> by_name;
  for (const auto& row : rows)
    by_name[row.function].add(row.stats);
  std::string text = fmt::format(R"({{"run_id":{},"host":{})", json_string(context.run_id),
                                 json_string(context.host));
  for (const auto& [name, stats] : by_name) {
    const auto add = [&text, function = std::string_view(name)](const char* what,
                                                                const std::string& value) {
      text += fmt::format(",\n {}:{}", json_string(std::string(function) + what), value);
    };
    add("_calls", fmt::format("{}", stats.calls));
    if (stats.timed + stats.thinned == 0) continue;
    add("_seconds", format_seconds(stats.outermost_ns, 9));
    add("_self_seconds", format_seconds(stats.self_ns, 9));
    add("_p50_seconds", format_seconds(stats.durations.quantile(500), 9));
    add("_p99_seconds", format_seconds(stats.durations.quantile(990), 9));
    add("_max_seconds", format_seconds(stats.durations.largest(), 9));
  }
  return text + "\n}\n";
}

std::string otlp_request(const ExportContext& context, const ExportInterval& interval) {
  // opentelemetry-proto: 64-bit integers are strings in JSON; 1 is AGGREGATION_TEMPORALITY_DELTA.
  std::string resource = attribute("service.name", "sonictrace") + "," +
                         attribute("sonictrace.run_id", context.run_id);
  if (!context.host.empty()) resource += "," + attribute("host.name", context.host);
  if (interval.pid != log::kNoTid)
    resource +=
        fmt::format(R"(,{{"key":"process.pid","value":{{"intValue":"{}"}}}})", interval.pid);
  std::string calls, times, durations;
  for (const auto& row : interval.rows) {
    const auto& stats = row.stats;
    const auto common = fmt::format(
        R"("attributes":[{}],"startTimeUnixNano":"{}","timeUnixNano":"{}",)", attributes_of(row),
        absolute(context, interval.from_ns), absolute(context, interval.to_ns));
    const auto separated = [](std::string& list) -> std::string& {
      return list += list.empty() ? "" : ",";
    };
    separated(calls) += fmt::format(R"({{{}"asInt":"{}"}})", common, stats.calls);
    separated(times) +=
        fmt::format(R"({{{}"asDouble":{}}})", common, format_seconds(stats.self_ns, 9));
    if (stats.timed == 0) continue;
    const auto histogram = ExponentialHistogram::of(stats.durations, 1e9);
    separated(durations) += fmt::format(
        R"({{{}"count":"{}","sum":{},"scale":{},"zeroCount":"{}","positive":{{"offset":{},"bucketCounts":{}}},"min":{},"max":{}}})",
        common, stats.timed, format_seconds(stats.sum_ns, 9), ExponentialHistogram::kScale,
        histogram.zeros, histogram.offset, list_of(histogram.counts, "\""),
        format_seconds(stats.durations.least(), 9), format_seconds(stats.durations.largest(), 9));
  }
  std::string metrics = fmt::format(
      R"({{"name":"sonictrace.calls","unit":"{{call}}","sum":{{"aggregationTemporality":1,"isMonotonic":true,"dataPoints":[{}]}}}},)"
      R"({{"name":"sonictrace.self_time","unit":"s","sum":{{"aggregationTemporality":1,"isMonotonic":true,"dataPoints":[{}]}}}})",
      calls, times);
  if (!durations.empty())
    metrics += fmt::format(
        R"(,{{"name":"sonictrace.call.duration","unit":"s","exponentialHistogram":{{"aggregationTemporality":1,"dataPoints":[{}]}}}})",
        durations);
  return fmt::format(
      R"({{"resourceMetrics":[{{"resource":{{"attributes":[{}]}},"scopeMetrics":[{{"scope":{{"name":"sonicreport"}},"metrics":[{}]}}]}}]}})"
      "\n",
      resource, metrics);
}

} // namespace sonictrace::report
