#include <fmt/format.h>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "sonicreport/command.hpp"
#include "sonicreport/common_options.hpp"
#include "sonicreport/export_target.hpp"
#include "sonictrace/names/demangle.hpp"
#include "sonictrace/report/export.hpp"
#include "sonictrace/report/export_formats.hpp"
#include "sonictrace/report/gaps.hpp"
#include "sonictrace/report/quantity.hpp"

namespace sonictrace::sonicreport {
namespace {

enum class Form : std::uint8_t { JsonLines, Csv, JsonFlat, Prometheus, OpenMetrics, OtlpJson };

struct TargetName {
  const char* name;
  Form form;
  bool is_total;                ///< of all logs together, and not by interval
  std::size_t top = 0;          ///< --top-n: 0 is all
  const char* type = nullptr;   ///< may be sent to a --url, as this
  const char* method = nullptr; ///< to send it with
};

// A function is a time series in databases of metrics: few of them.
constexpr std::array<TargetName, 8> kTargets = {
    {{"jsonl", Form::JsonLines, false},
     {"csv", Form::Csv, false},
     {"json-flat", Form::JsonFlat, true},
     {"prometheus", Form::Prometheus, true, 50, "text/plain; version=0.0.4", "POST"},
     {"openmetrics", Form::OpenMetrics, true, 50,
      "application/openmetrics-text; version=1.0.0; charset=utf-8", "POST"},
     {"otlp-json", Form::OtlpJson, false, 50, "application/json", "POST"},
     // PUT takes the place of all that was there under the same job and instance.
     {"pushgateway", Form::Prometheus, true, 50, "text/plain; version=0.0.4", "PUT"},
     {"kafka://", Form::JsonLines, false}}};

class ExportCommand final : public Command {
public:
  void add_options(CLI::App& app) override {
    common_.add_to(app, "");
    app.add_option("--to", to_,
                   "jsonl, csv, json-flat, prometheus, openmetrics, otlp-json, pushgateway or "
                   "kafka://HOST:PORT,.../TOPIC")
        ->required()
        ->type_name("TARGET");
    app.add_option(
           "--interval", interval_,
           "jsonl, csv, otlp-json, kafka: a record of each function for every so much time; 10s by "
           "default, 0: one for the whole log")
        ->type_name("DUR");
    app.add_option(
           "--top-n", top_,
           "so many functions, the ones that take most time themselves; the others are added up "
           "as 'other'; 50 by default for prometheus, openmetrics, otlp-json and pushgateway, else "
           "0: "
           "all")
        ->type_name("N");
    app.add_option("--host", context_.host,
                   "the machine that was traced; pushgateway, kafka: by default this one")
        ->type_name("NAME");
    app.add_option("--run-id", context_.run_id,
                   "name of the run; by default that of the (first) log; kafka needs one")
        ->type_name("ID");
    app.add_option("--date", date_,
                   "the day of a log's first line, local time, where lines have only a time of day")
        ->type_name("YYYY-MM-DD");
    app.add_flag("--per-thread", options_.per_thread,
                 "jsonl, csv, otlp-json, kafka: each thread by itself");
    app.add_option("--gap-from", gap_from_,
                   "prometheus, openmetrics, pushgateway: tells the longest time from the end of a "
                   "call of these functions to the next one of --gap-to")
        ->type_name("GLOB");
    app.add_option("--gap-to", gap_to_, "where it ends; see sonicreport gaps")->type_name("GLOB");
    app.add_flag("--any-thread", gap_options_.any_thread,
                 "--gap-from and --gap-to may be of different threads");
    app.add_option("--url", url_,
                   "of the Pushgateway; prometheus, openmetrics, otlp-json: sent there by POST")
        ->type_name("URL");
    app.add_option("--job", job_, "pushgateway: the job that the metrics are of")
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option("--timeout", timeout_,
                   "kafka: gives up when no record was taken for so long; --url: when there is no "
                   "answer to a request; 30s by default")
        ->type_name("DUR");
    app.add_option("--kafka-config", kafka_config_,
                   "kafka: a file of librdkafka's settings, a line NAME=VALUE each: for TLS, "
                   "passwords, limits")
        ->type_name("FILE");
  }

  Result<int> run() override {
    if (auto chosen = choose_target(); !chosen) return chosen.error();
    if (context_.run_id.empty())
      context_.run_id = common_.logs[0] == "-"
                            ? "stdin"
                            : std::filesystem::path(common_.logs[0]).filename().string();
    auto filter_options = common_.filter();
    if (!filter_options) return filter_options.error();
    auto destination = open_destination();
    if (!destination) return destination.error();
    if (*destination == nullptr) return kExportFailed;
    destination_ = std::move(*destination);
    if (target_.form == Form::Csv) put({}, report::csv_record_names());
    auto status = add_logs(*filter_options);
    // A file of half of the logs is not left, but what was sent of them has to be accounted for.
    if (!status && !is_sent()) return status.error();
    if (status && target_.is_total) put({}, total());
    if (auto finished = destination_->finish(); !finished) fail(finished.error());
    if (const auto account = destination_->account(); !account.empty()) tell(account);
    if (!status) return status.error();
    return has_failed_ || destination_->has_dropped() ? kExportFailed : *status;
  }

private:
  /// From the options; fails with one line where they don't go together.
  Result<void> choose_target() {
    const auto* const target =
        std::find_if(kTargets.begin(), kTargets.end(), [this](const TargetName& one) {
          return std::string_view(one.name).ends_with("://") ? to_.starts_with(one.name)
                                                             : to_ == one.name;
        });
    if (target == kTargets.end())
      return Error::saying(
          fmt::format("--to '{}': not jsonl, csv, json-flat, prometheus, openmetrics, otlp-json, "
                      "pushgateway or kafka://HOST:PORT/TOPIC",
                      to_));
    target_ = *target;
    const bool is_kafka = is_to_kafka(), is_pushed = to_ == "pushgateway";
    if (target_.is_total && (!interval_.empty() || options_.per_thread))
      return Error::saying(fmt::format(
          "--to {}: --interval and --per-thread are for jsonl, csv, otlp-json and kafka", to_));
    if (auto chosen = choose_gap(); !chosen) return chosen.error();
    if (!url_.empty() && target_.type == nullptr)
      return Error::saying(fmt::format(
          "--to {}: --url is for pushgateway, prometheus, openmetrics and otlp-json", to_));
    if (is_pushed && url_.empty())
      return Error::saying("--to pushgateway: where is it? --url http://HOST:9091");
    if (is_sent() && !common_.output.empty())
      return Error::saying("--output: nothing is written to a file where it is sent away");
    if (!kafka_config_.empty() && !is_kafka)
      return Error::saying("--kafka-config is for --to kafka://HOST:PORT/TOPIC");
    // Records of two runs under one name would be taken for the same ones.
    if (is_kafka && context_.run_id.empty())
      return Error::saying("--to kafka: name the run, as no other one is named: --run-id ID");
    if (!target_.is_total) {
      const auto ns = report::parse_duration_ns(interval_.empty() ? "10s" : interval_);
      if (!ns)
        return Error::saying(
            fmt::format("--interval '{}': not a time like 10s or 500ms", interval_));
      options_.interval_ns = *ns;
    }
    const auto timeout_ns = report::parse_duration_ns(timeout_.empty() ? "30s" : timeout_);
    if (!timeout_ns || *timeout_ns < 1'000'000)
      return Error::saying(fmt::format("--timeout '{}': not a time like 30s or 500ms", timeout_));
    limit_ = std::chrono::milliseconds(*timeout_ns / 1'000'000);
    context_.per_thread = options_.per_thread;
    if ((is_kafka || is_pushed) && context_.host.empty()) context_.host = this_host();
    return {};
  }

  Result<void> choose_gap() {
    if (gap_from_.empty() != gap_to_.empty())
      return Error::saying("--gap-from and --gap-to go together");
    if (gap_from_.empty()) return {};
    if (target_.form != Form::Prometheus && target_.form != Form::OpenMetrics)
      return Error::saying(
          fmt::format("--to {}: --gap-from is for prometheus, openmetrics and pushgateway", to_));
    auto from = Glob::compile(gap_from_), to = Glob::compile(gap_to_);
    if (!from || !to)
      return Error::saying(
          fmt::format("--gap-from, --gap-to: {}", (from ? to : from).error().message()));
    gap_options_.from = std::move(*from);
    gap_options_.to = std::move(*to);
    account_.gap = report::LongestGap{gap_from_, gap_to_};
    return {};
  }

  bool is_to_kafka() const { return to_.starts_with("kafka://"); }

  bool is_sent() const { return is_to_kafka() || !url_.empty(); }

  static std::string this_host() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
  }

  /// Nothing, with its line said, where the target can't be opened; an error where the options are
  /// wrong.
  Result<std::unique_ptr<ExportTarget>> open_destination() {
    if (is_to_kafka()) {
      auto options = publish::parse_kafka_url(to_);
      if (!options) return options.error();
      options->patience = limit_;
      if (!kafka_config_.empty()) {
        std::ifstream file(kafka_config_);
        std::stringstream text;
        if (!file || !(text << file.rdbuf()))
          return Error::saying(fmt::format("--kafka-config: can't read {}", kafka_config_));
        auto settings = publish::parse_kafka_settings(text.str());
        if (!settings)
          return Error::saying(fmt::format("{}: {}", kafka_config_, settings.error().message()));
        options->settings = std::move(*settings);
      }
      return open_kafka_target(*options);
    }
    if (!url_.empty())
      return make_http_target(
          {target_.method,
           to_ == "pushgateway" ? publish::pushgateway_url(url_, job_, context_.host) : url_,
           target_.type, limit_});
    auto file = open_file_target(common_.output);
    if (file) return std::move(*file);
    fail(file.error());
    return std::unique_ptr<ExportTarget>();
  }

  void fail(const Error& error) {
    tell(error.message());
    has_failed_ = true;
  }

  void put(std::string_view key, std::string_view text) {
    if (auto done = destination_->put(key, text); !done) fail(done.error());
  }

  Result<int> add_logs(const report::FilterOptions& filter_options) {
    int status = kOk;
    for (const auto& path : common_.logs) {
      auto one = add_log(path, filter_options, status);
      if (!one) return one.error();
      status = *one;
    }
    if (account_.gap && account_.gap->found == 0)
      tell(fmt::format("no call of '{}' ends before one of '{}' begins in its thread: no metric "
                       "tells of it; see sonicreport gaps",
                       gap_from_, gap_to_));
    return status;
  }

  Result<int> add_log(const std::string& path, const report::FilterOptions& filter_options,
                      int status) {
    auto filter = report::CallFilter::make(filter_options);
    if (!filter) return filter.error();
    // Records of intervals are written before the end of the log, which says the modules.
    report::ModuleNames modules;
    if (!target_.is_total && options_.interval_ns > 0 && path != "-") {
      auto first = common_.open(path);
      if (!first) return first.error();
      auto read = report::read_modules(*first);
      if (!read) return read.error();
      modules = std::move(*read);
    }
    auto reader = common_.open(path);
    if (!reader) return reader.error();
    const auto& account = reader->accounting();
    std::optional<Error> wrong;
    report::Exporter exporter(options_, *filter, reader->functions(), modules,
                              [&](report::ExportInterval&& interval) {
                                if (!wrong)
                                  wrong = take(std::move(interval), account, reader->name());
                              });
    auto pumped = gap_from_.empty() ? reader->pump(exporter) : pump_with_gap(*reader, exporter);
    if (!pumped) return pumped.error();
    exporter.finish();
    if (wrong) return *wrong;
    if (account.lines == 0)
      return Error::saying(
          fmt::format("{}: the log is empty; was anything traced?", reader->name()));
    if (exporter.late() > 0)
      tell(fmt::format(
          "{}: {} calls ended before an interval that was written: counted in the next one",
          reader->name(), exporter.late()));
    account_.add(account);
    return common_.judge(reader->name(), account, status);
  }

  /// Tells the exporter all of the log, and looks for the longest gap on the way.
  Result<void> pump_with_gap(log::LogReader& reader, report::Exporter& exporter) {
    struct Both final : log::CallVisitor {
      Both(report::Exporter& one, report::GapFinder& other) : exporter(one), gaps(other) {}
      void on_call(const log::Call& call) override {
        exporter.on_call(call);
        gaps.on_call(call);
      }
      void on_begin(const log::Call& call) override { gaps.on_begin(call); }
      void on_event(const log::Event& event) override { gaps.on_event(event); }

      report::Exporter& exporter;
      report::GapFinder& gaps;
    };
    auto all = report::CallFilter::make({});
    if (!all) return all.error();
    report::GapFinder gaps(gap_options_, *all, reader.functions());
    Both both(exporter, gaps);
    if (auto read = reader.pump(both); !read) return read;
    gaps.finish();
    account_.gap->found += gaps.lengths().total();
    account_.gap->longest_ns = std::max(account_.gap->longest_ns, gaps.lengths().largest());
    return {};
  }

  /// An error where the interval can't be written so.
  std::optional<Error> take(report::ExportInterval&& interval, const log::Accounting& account,
                            const std::string& name) {
    if (common_.demangle)
      for (auto& row : interval.rows)
        row.function = demangle(row.function, common_.demangle_style());
    if (target_.is_total) {
      for (auto& row : interval.rows) {
        auto& all = totals_[{row.function, row.module}];
        if (all.function.empty()) {
          all = std::move(row);
          continue;
        }
        all.stats.add(row.stats);
        all.limits.add(row.limits);
      }
      return std::nullopt;
    }
    auto offset = report::time_offset(account.clock, date_);
    if (!offset) return offset.error();
    context_.time_offset = *offset;
    if (!offset->knows_day && target_.form == Form::OtlpJson)
      return Error::saying(fmt::format(
          "{}: otlp-json needs times with a day: trace with -ttt, or give --date YYYY-MM-DD",
          name));
    if (!offset->knows_day && !warned_ && account.clock != log::Clock::None) {
      tell(fmt::format(
          "{}: the times have no day: ts counts from the first midnight; give --date YYYY-MM-DD",
          name));
      warned_ = true;
    }
    report::fold_rows(interval.rows, top_.value_or(target_.top));
    if (target_.form == Form::OtlpJson) {
      put({}, report::otlp_request(context_, interval));
      return std::nullopt;
    }
    for (const auto& row : interval.rows) {
      put(report::record_key(context_, sequence_),
          target_.form == Form::Csv ? report::csv_record(context_, sequence_, interval, row)
                                    : report::json_record(context_, sequence_, interval, row));
      ++sequence_;
    }
    return std::nullopt;
  }

  std::string total() {
    std::vector<report::ExportRow> rows;
    for (auto& [name, row] : totals_)
      rows.push_back(std::move(row));
    report::sort_rows(rows);
    report::fold_rows(rows, top_.value_or(target_.top));
    if (target_.form == Form::JsonFlat) return report::json_flat(context_, rows);
    return report::metrics_text(context_, rows, account_,
                                target_.form == Form::OpenMetrics
                                    ? report::MetricsText::OpenMetrics
                                    : report::MetricsText::Prometheus);
  }

  CommonOptions common_;
  std::string to_, interval_, date_, url_, timeout_, kafka_config_, gap_from_, gap_to_;
  std::string job_ = "sonictrace";
  std::optional<std::size_t> top_;
  report::ExportOptions options_;
  report::ExportContext context_;
  TargetName target_{};

  std::chrono::milliseconds limit_{0};
  std::unique_ptr<ExportTarget> destination_;
  bool has_failed_ = false;
  report::GapOptions gap_options_;
  std::uint64_t sequence_ = 0;
  bool warned_ = false;
  std::map<std::pair<std::string, std::string>, report::ExportRow> totals_;
  report::ExportAccount account_;
};

} // namespace

std::unique_ptr<Command> make_export() { return std::make_unique<ExportCommand>(); }

} // namespace sonictrace::sonicreport
