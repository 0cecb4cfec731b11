#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "sonicreport/command.hpp"
#include "sonicreport/common_options.hpp"
#include "sonictrace/report/footer.hpp"
#include "sonictrace/report/quantity.hpp"
#include "sonictrace/report/rules.hpp"
#include "sonictrace/report/table.hpp"

namespace sonictrace::sonicreport {
namespace {

class RulesCommand final : public Command {
public:
  void add_options(CLI::App& app) override {
    common_.add_to(app, "text csv json jsonl md");
    app.get_option("--strict")
        ->description("a rule that is hit is a failure (exit status 1), a line that can't "
                      "be used too (exit status 3)");
    app.add_option("--frames", options_.frames, "how many frames the program has made")
        ->type_name("N");
    app.add_option("--frame-func", frame_function_,
                   "or: so many as there are calls of these functions")
        ->type_name("GLOB");
    app.add_option("--futex-per-frame", options_.futex_per_frame,
                   "calls of futex for a frame; 5 by default")
        ->type_name("N");
    app.add_option("--opens", options_.opens, "how often a file may be opened; 5 by default")
        ->type_name("N");
    app.add_option("--burst", options_.burst_calls, "writes in a --burst-window; 1000 by default")
        ->type_name("N");
    app.add_option("--burst-window", burst_window_, "100ms by default")->type_name("DUR");
    app.add_option("--wait-share", options_.wait_percent,
                   "per cent of the traced time; 50 by default")
        ->type_name("PERCENT");
    app.add_option("--unmatched", options_.unmatched_percent,
                   "per cent of the allocations that are not freed; 10 by default")
        ->type_name("PERCENT");
  }

  Result<int> run() override {
    if (options_.frames && !frame_function_.empty())
      return Error::saying("rules: --frames and --frame-func: one of them");
    if (options_.frames == 0U) return Error::saying("rules: --frames 0: at least one");
    if (!frame_function_.empty()) {
      auto glob = Glob::compile(frame_function_);
      if (!glob)
        return Error::saying(
            fmt::format("--frame-func '{}': {}", frame_function_, glob.error().message()));
      options_.frame_function = *glob;
    }
    if (!burst_window_.empty()) {
      const auto ns = report::parse_duration_ns(burst_window_);
      if (!ns || *ns == 0)
        return Error::saying(
            fmt::format("--burst-window '{}': not a time like 100ms", burst_window_));
      options_.burst_ns = *ns;
    }
    auto filter_options = common_.filter();
    if (!filter_options) return filter_options.error();
    filter_options->modules_are_known = true;
    int status = kOk;
    for (const auto& path : common_.logs) {
      auto filter = report::CallFilter::make(*filter_options);
      if (!filter) return filter.error();
      auto reader = common_.open_knowing_modules(path, true);
      if (!reader) return reader.error();
      report::Rules rules(options_, *filter, reader->functions());
      if (auto read = reader->pump(rules); !read) return read.error();
      const auto& account = reader->accounting();
      if (account.lines == 0)
        return Error::saying(
            fmt::format("{}: the log is empty; was anything traced?", reader->name()));
      if (common_.logs.size() > 1) text_ += reader->name() + ":\n";
      for (const auto& found : rules.findings(account.clock, account.fraction_digits))
        add(reader->name(), found);
      footers_ += report::footer(account) + report::footer(filter->tally());
      status = common_.judge(reader->name(), account, status);
    }
    auto written = common_.write(
        common_.is_text() ? text_ + footers_
                          : report::render(table_, *report::parse_table_format(common_.format)));
    if (!written) return written.error();
    return common_.strict && hits_ > 0 ? kGateFailed : status;
  }

private:
  void add(const std::string& log, const report::Finding& found) {
    using report::Cell;
    hits_ += found.verdict == report::Verdict::Warn ? 1 : 0;
    text_ += fmt::format("{:<4} {} {}\n", report::to_string(found.verdict), found.rule, found.text);
    table_.columns = {{"log", "log", true}, {"verdict", "verdict", true}, {"rule", "rule", true},
                      {"value", "value"},   {"limit", "limit"},           {"text", "text", true}};
    table_.rows.push_back({Cell(log), Cell(std::string(report::to_string(found.verdict))),
                           Cell(found.rule), Cell(found.value), Cell(found.limit),
                           Cell(found.text)});
  }

  CommonOptions common_;
  report::RuleOptions options_;
  std::string frame_function_, burst_window_;

  report::Table table_;
  std::string text_, footers_;
  std::size_t hits_ = 0;
};

} // namespace

std::unique_ptr<Command> make_rules() { return std::make_unique<RulesCommand>(); }

} // namespace sonictrace::sonicreport
