#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "sonicreport/command.hpp"
#include "sonicreport/common_options.hpp"
#include "sonictrace/report/footer.hpp"
#include "sonictrace/report/quantity.hpp"
#include "sonictrace/report/scale.hpp"
#include "sonictrace/report/table.hpp"

namespace sonictrace::sonicreport {
namespace {

class ScaleCommand final : public Command {
public:
  void add_options(CLI::App& app) override {
    common_.add_to(app, "text csv json jsonl md");
    // The logs come with their values.
    app.remove_option(app.get_option("LOG"));
    app.add_option(
           "--param", parameters_,
           "a log for each of at least three values of a parameter; several logs of one value "
           "are several runs: resolution=256:a.log,512:b.log,1024:c.log")
        ->type_name("NAME=VALUE:LOG,...")
        ->required()
        ->allow_extra_args(false);
    app.add_option("-n,--limit", limit_, "rows; 30 by default in text")->type_name("N");
    app.add_option("--max-exponent", max_exponent_,
                   "a time per call that grows with a larger power is a failure (exit status 1)")
        ->type_name("K");
  }

  Result<int> run() override {
    report::ScaleParameter parameter;
    for (const auto& text : parameters_) {
      auto one = report::parse_scale_parameter(text);
      if (!one) return one.error();
      if (!parameter.name.empty() && one->name != parameter.name)
        return Error::saying(fmt::format("--param: one parameter at a time, not '{}' and '{}'",
                                         parameter.name, one->name));
      parameter.name = one->name;
      parameter.runs.insert(parameter.runs.end(), one->runs.begin(), one->runs.end());
    }
    auto filter_options = common_.filter();
    if (!filter_options) return filter_options.error();
    report::Scale scale;
    int status = kOk;
    for (const auto& run : parameter.runs) {
      auto filter = report::CallFilter::make(*filter_options);
      if (!filter) return filter.error();
      auto reader = common_.open(run.path);
      if (!reader) return reader.error();
      if (auto read = scale.add(run.value, *reader, *filter, common_.demangle_style()); !read)
        return read.error();
      footers_ += fmt::format("{} = {}: {}: ", parameter.name, run.value_text, reader->name()) +
                  report::footer(reader->accounting()) + report::footer(filter->tally());
      status = common_.judge(reader->name(), reader->accounting(), status);
    }
    if (scale.values().size() < 3)
      return Error::saying(
          fmt::format("--param {}: {} values; an exponent needs logs of at least three",
                      parameter.name, scale.values().size()));
    const auto rows = scale.rows();
    if (rows.empty())
      return Error::saying(
          "scale: no function is called with three of the values; is --func right?");
    return write(parameter, scale, rows, status);
  }

private:
  Result<int> write(const report::ScaleParameter& parameter, const report::Scale& scale,
                    const std::vector<report::ScaleRow>& rows, int status) {
    std::size_t over = 0;
    std::string worst;
    for (const auto& row : rows) {
      if (!max_exponent_ || !row.mean || row.mean->exponent <= *max_exponent_) continue;
      if (++over == 1) worst = fmt::format("{}: k = {:.2f}", row.function, row.mean->exponent);
    }
    std::string gate;
    if (max_exponent_)
      gate = over == 0 ? fmt::format("gate: no exponent above {}   ok\n", *max_exponent_)
                       : fmt::format("gate: {} above {}{}   FAILED\n", worst, *max_exponent_,
                                     over > 1 ? fmt::format(", and {} more", over - 1) : "");
    const auto table = table_of(parameter, scale, rows);
    std::string text = report::render(table, *report::parse_table_format(common_.format));
    if (common_.is_text()) {
      text += fmt::format(
          "time per call = c x {}^k, by least squares on the logarithms of the means; k calls and "
          "k total: the same for calls and time of a run\n",
          parameter.name);
      if (rows.size() == 1 && rows[0].mean)
        text += fmt::format("{}: k = {:.2f} +- {:.2f}, R^2 = {:.4f}, {} points\n", rows[0].function,
                            rows[0].mean->exponent, rows[0].mean->standard_error,
                            rows[0].mean->r_squared, rows[0].points);
      if (scale.too_few() > 0)
        text +=
            fmt::format("{} functions are called with fewer than three values\n", scale.too_few());
      text += gate + footers_;
    } else if (over > 0) {
      tell(gate.substr(0, gate.size() - 1));
    }
    auto written = common_.write(text);
    if (!written) return written.error();
    return over > 0 && status == kOk ? kGateFailed : status;
  }

  report::Table table_of(const report::ScaleParameter& parameter, const report::Scale& scale,
                         const std::vector<report::ScaleRow>& rows) const {
    using report::Cell;
    report::Table table;
    table.columns = {{"k", "k"},
                     {"k_error", "+-"},
                     {"r2", "R^2"},
                     {"k_calls", "k calls"},
                     {"k_total", "k total"}};
    for (const double value : scale.values()) {
      const auto name = fmt::format("{}={}", parameter.name, value);
      table.columns.push_back({fmt::format("mean_ns {}", name), name});
    }
    table.columns.push_back({"function", "function", true});
    const auto number = [this](double value, int digits) {
      return common_.is_text() ? Cell(fmt::format("{:.{}f}", value, digits)) : Cell(value);
    };
    const auto limit = limit_.value_or(common_.is_text() ? 30 : rows.size());
    for (std::size_t i = 0; i < std::min(limit, rows.size()); ++i) {
      const auto& row = rows[i];
      std::vector<Cell> cells = {row.mean ? number(row.mean->exponent, 2) : Cell(),
                                 row.mean ? number(row.mean->standard_error, 2) : Cell(),
                                 row.mean ? number(row.mean->r_squared, 4) : Cell(),
                                 row.calls ? number(row.calls->exponent, 2) : Cell(),
                                 row.total ? number(row.total->exponent, 2) : Cell()};
      for (const double mean : row.mean_ns)
        cells.push_back(std::isnan(mean) ? Cell()
                                         : Cell(report::Nanoseconds{
                                               static_cast<std::uint64_t>(std::llround(mean))}));
      cells.emplace_back(row.function);
      table.rows.push_back(std::move(cells));
    }
    return table;
  }

  CommonOptions common_;
  std::vector<std::string> parameters_;
  std::optional<std::size_t> limit_;
  std::optional<double> max_exponent_;
  std::string footers_;
};

} // namespace

std::unique_ptr<Command> make_scale() { return std::make_unique<ScaleCommand>(); }

} // namespace sonictrace::sonicreport
