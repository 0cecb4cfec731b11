#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>

#include "sonicreport/command.hpp"
#include "sonicreport/common_options.hpp"
#include "sonicreport/output_file.hpp"
#include "sonictrace/names/demangle.hpp"
#include "sonictrace/report/export.hpp"
#include "sonictrace/report/export_formats.hpp"
#include "sonictrace/report/quantity.hpp"

namespace sonictrace::sonicreport {
namespace {

enum class Target : std::uint8_t { JsonLines, Csv, JsonFlat, Prometheus, OpenMetrics, OtlpJson };

struct TargetName {
  const char* name;
  Target target;
  bool is_total;       ///< of all logs together, and not by interval
  std::size_t top = 0; ///< --top-n: 0 is all
};

// A function is a time series in databases of metrics: few of them.
constexpr std::array<TargetName, 6> kTargets = {{{"jsonl", Target::JsonLines, false, 0},
                                                 {"csv", Target::Csv, false, 0},
                                                 {"json-flat", Target::JsonFlat, true, 0},
                                                 {"prometheus", Target::Prometheus, true, 50},
                                                 {"openmetrics", Target::OpenMetrics, true, 50},
                                                 {"otlp-json", Target::OtlpJson, false, 50}}};

class ExportCommand final : public Command {
public:
  void add_options(CLI::App& app) override {
    common_.add_to(app, "");
    app.add_option("--to", to_, "jsonl, csv, json-flat, prometheus, openmetrics or otlp-json")
        ->required()
        ->type_name("TARGET");
    app.add_option(
           "--interval", interval_,
           "jsonl, csv, otlp-json: a record of each function for every so much time; 10s by "
           "default, 0: one for the whole log")
        ->type_name("DUR");
    app.add_option(
           "--top-n", top_,
           "so many functions, the ones that take most time themselves; the others are added up "
           "as 'other'; 50 by default for prometheus, openmetrics and otlp-json, else 0: all")
        ->type_name("N");
    app.add_option("--host", context_.host, "the machine that was traced")->type_name("NAME");
    app.add_option("--run-id", context_.run_id,
                   "name of the run; by default that of the (first) log")
        ->type_name("ID");
    app.add_option("--date", date_,
                   "the day of a log's first line, local time, where lines have only a time of day")
        ->type_name("YYYY-MM-DD");
    app.add_flag("--per-thread", options_.per_thread,
                 "jsonl, csv, otlp-json: each thread by itself");
  }

  Result<int> run() override {
    const auto* const target =
        std::find_if(kTargets.begin(), kTargets.end(),
                     [this](const TargetName& one) { return to_ == one.name; });
    if (target == kTargets.end())
      return Error::saying(fmt::format(
          "--to '{}': not jsonl, csv, json-flat, prometheus, openmetrics or otlp-json", to_));
    target_ = *target;
    if (target_.is_total && (!interval_.empty() || options_.per_thread))
      return Error::saying(fmt::format(
          "--to {}: --interval and --per-thread are for jsonl, csv and otlp-json", to_));
    if (!target_.is_total) {
      const auto ns = report::parse_duration_ns(interval_.empty() ? "10s" : interval_);
      if (!ns)
        return Error::saying(
            fmt::format("--interval '{}': not a time like 10s or 500ms", interval_));
      options_.interval_ns = *ns;
    }
    context_.per_thread = options_.per_thread;
    if (context_.run_id.empty())
      context_.run_id = common_.logs[0] == "-"
                            ? "stdin"
                            : std::filesystem::path(common_.logs[0]).filename().string();
    auto filter_options = common_.filter();
    if (!filter_options) return filter_options.error();
    auto output = OutputFile::open(common_.output);
    if (!output) return failed(output.error());
    output_ = &*output;
    if (target_.target == Target::Csv) write(report::csv_record_names());
    int status = kOk;
    for (const auto& path : common_.logs) {
      auto one = add_log(path, *filter_options, status);
      if (!one) return one.error();
      status = *one;
    }
    if (target_.is_total) write(total());
    if (write_error_) return failed(*write_error_);
    if (auto committed = output->commit(); !committed) return failed(committed.error());
    return status;
  }

private:
  static int failed(const Error& error) {
    tell(error.message());
    return kExportFailed;
  }

  void write(std::string_view text) {
    if (write_error_) return;
    if (auto written = output_->write(text); !written) write_error_ = written.error();
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
    if (auto read = reader->pump(exporter); !read) return read.error();
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
    if (!offset->knows_day && target_.target == Target::OtlpJson)
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
    if (target_.target == Target::OtlpJson) {
      write(report::otlp_request(context_, interval));
      return std::nullopt;
    }
    for (const auto& row : interval.rows) {
      write(target_.target == Target::Csv
                ? report::csv_record(context_, sequence_, interval, row)
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
    if (target_.target == Target::JsonFlat) return report::json_flat(context_, rows);
    return report::metrics_text(context_, rows, account_,
                                target_.target == Target::OpenMetrics
                                    ? report::MetricsText::OpenMetrics
                                    : report::MetricsText::Prometheus);
  }

  CommonOptions common_;
  std::string to_, interval_, date_;
  std::optional<std::size_t> top_;
  report::ExportOptions options_;
  report::ExportContext context_;
  TargetName target_{};

  OutputFile* output_ = nullptr;
  std::optional<Error> write_error_;
  std::uint64_t sequence_ = 0;
  bool warned_ = false;
  std::map<std::pair<std::string, std::string>, report::ExportRow> totals_;
  report::ExportAccount account_;
};

} // namespace

std::unique_ptr<Command> make_export() { return std::make_unique<ExportCommand>(); }

} // namespace sonictrace::sonicreport
