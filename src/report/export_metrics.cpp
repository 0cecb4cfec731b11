#include <fmt/format.h>

#include "sonictrace/report/export_formats.hpp"
#include "sonictrace/report/quantity.hpp"
#include "sonictrace/report/table.hpp"

namespace sonictrace::report {
namespace {

/// Of a label. Both forms know \\, \" and \n only (Prometheus exposition formats), so that control
/// characters have to go.
std::string quoted(std::string_view value) {
  std::string clean(value);
  for (char& c : clean)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return json_string(clean);
}

class Text {
public:
  Text(const ExportContext& context, MetricsText form) : context_(context), form_(form) {}

  /// `name` without _total: a counter of Prometheus is called so, OpenMetrics adds it to samples.
  void begin(std::string_view name, const char* type, const char* help) {
    const bool is_counter = std::string_view(type) == "counter";
    const bool suffixed = is_counter && form_ == MetricsText::Prometheus;
    family_ = fmt::format("{}{}", name, suffixed ? "_total" : "");
    sample_ = fmt::format("{}{}", name, is_counter ? "_total" : "");
    out_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", family_, help, family_, type);
    if (form_ == MetricsText::OpenMetrics && name.ends_with("_seconds"))
      out_ += fmt::format("# UNIT {} seconds\n", family_);
  }
  void add(const std::string& labels, const std::string& value, const char* suffix = "") {
    out_ += fmt::format("{}{}{}{}{} {}\n", sample_, suffix, labels.empty() ? "" : "{", labels,
                        labels.empty() ? "" : "}", value);
  }
  std::string labels_of(const ExportRow& row) const {
    std::string labels = "function=" + quoted(row.function);
    if (!row.module.empty()) labels += ",lib=" + quoted(row.module);
    if (!row.call_class.empty()) labels += ",class=" + quoted(row.call_class);
    return labels + (context_.host.empty() ? "" : "," + host());
  }
  std::string host() const { return context_.host.empty() ? "" : "host=" + quoted(context_.host); }
  std::string take() {
    if (form_ == MetricsText::OpenMetrics) out_ += "# EOF\n";
    return std::move(out_);
  }

private:
  const ExportContext& context_;
  MetricsText form_;
  std::string out_, family_, sample_;
};

std::string count(std::uint64_t value) { return fmt::format("{}", value); }

} // namespace

void ExportAccount::add(const log::Accounting& account) {
  lines += account.lines;
  skipped += account.skipped;
  unmatched += account.unmatched;
  lost += account.lost;
}

std::string metrics_text(const ExportContext& context, const std::vector<ExportRow>& rows,
                         const ExportAccount& account, MetricsText form) {
  Text text(context, form);
  const bool is_open = form == MetricsText::OpenMetrics;
  text.begin("sonictrace_calls", "counter", "Calls of library functions that ended.");
  for (const auto& row : rows)
    text.add(text.labels_of(row), count(row.stats.calls));
  // OpenMetrics has one family of a name: there it is call_seconds_sum.
  if (!is_open) {
    text.begin("sonictrace_call_seconds", "counter",
               "Time in calls, with that of the calls inside.");
    for (const auto& row : rows)
      text.add(text.labels_of(row), format_seconds(row.stats.sum_ns, 9));
  }
  text.begin("sonictrace_self_seconds", "counter",
             "Time in calls, without that of the calls inside.");
  for (const auto& row : rows)
    text.add(text.labels_of(row), format_seconds(row.stats.self_ns, 9));
  text.begin("sonictrace_call_seconds", "histogram", "How long calls took.");
  for (const auto& row : rows) {
    if (row.stats.timed == 0) continue;
    const auto labels = text.labels_of(row);
    const auto& limits = DurationLimits::limits();
    for (std::size_t i = 0; i < limits.size(); ++i)
      text.add(fmt::format("{},le=\"{}\"", labels, limits[i].text), count(row.limits.at_most(i)),
               "_bucket");
    text.add(labels + ",le=\"+Inf\"", count(row.stats.timed), "_bucket");
    text.add(labels, format_seconds(row.stats.sum_ns, 9), "_sum");
    text.add(labels, count(row.stats.timed), "_count");
  }
  text.begin("sonictrace_longest_call_seconds", "gauge", "The longest call.");
  for (const auto& row : rows)
    if (row.stats.timed > 0)
      text.add(text.labels_of(row), format_seconds(row.stats.durations.largest(), 9));
  if (account.gap && account.gap->found > 0) {
    text.begin("sonictrace_longest_gap_seconds", "gauge",
               "The longest time from the end of one call to the beginning of the other.");
    text.add(fmt::format("from={},to={}{}", quoted(account.gap->from), quoted(account.gap->to),
                         context.host.empty() ? "" : "," + text.host()),
             format_seconds(account.gap->longest_ns, 9));
  }
  text.begin("sonictrace_log_lines", "counter", "Lines of the logs that were read.");
  text.add(text.host(), count(account.lines));
  text.begin("sonictrace_unused_lines", "counter", "Lines that could not be used.");
  text.add(text.host(), count(account.skipped + account.unmatched));
  text.begin("sonictrace_lost_calls", "counter",
             "Calls that the tracer counted and could not record.");
  text.add(text.host(), count(account.lost));
  const auto run =
      "run_id=" + quoted(context.run_id) + (context.host.empty() ? "" : "," + text.host());
  if (is_open) {
    text.begin("sonictrace_run", "info", "The run that the logs are of.");
    text.add(run, "1", "_info");
  } else {
    text.begin("sonictrace_run_info", "gauge", "The run that the logs are of.");
    text.add(run, "1");
  }
  return text.take();
}

} // namespace sonictrace::report
