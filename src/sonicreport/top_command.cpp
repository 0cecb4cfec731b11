#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "sonicreport/command.hpp"
#include "sonicreport/common_options.hpp"
#include "sonictrace/report/footer.hpp"
#include "sonictrace/report/frame_calls.hpp"
#include "sonictrace/report/top.hpp"
#include "sonictrace/report/top_plot.hpp"

namespace sonictrace::sonicreport {
namespace {

class TopCommand final : public Command {
public:
  void add_options(CLI::App& app) override {
    common_.add_to(app, "text plain ltrace-c csv json jsonl md");
    app.add_option("-n,--limit", limit_, "rows; 30 by default, 10 with --format plain")
        ->type_name("N");
    app.add_option("-s,--sort", sort_, "by self, total, calls, avg, p50, p99 or max")
        ->type_name("COLUMN");
    app.add_option("-U,--columns", columns_,
                   "columns: %self,self,total,sum,calls,avg,min,p50,p90,p99,max,class,lib,function")
        ->type_name("LIST");
    app.add_flag("--plot", plot_, "bars instead of a table");
    app.add_option("--by", by_, "what a row is: func, lib, caller, thread, pid, stage, class, arg1")
        ->type_name("WHAT");
    app.add_option("--stages", stages_,
                   "file that says which functions and libraries make up a stage")
        ->type_name("FILE");
    app.add_flag("--per-frame", per_frame_, "how many calls each frame caused; needs --frame-func");
    app.add_option("--frame-func", frame_function_,
                   "a call of a function that the glob matches makes a frame")
        ->type_name("GLOB");
    app.add_option("--kind", kind_, "only calls of this kind: syscall")
        ->check(CLI::IsMember({"syscall"}).description(""))
        ->type_name("KIND");
    app.add_option("--sum", sum_,
                   "add a column with the sum of the results that are positive numbers: ret")
        ->check(CLI::IsMember({"ret"}).description(""))
        ->type_name("WHAT");
  }

  Result<int> run() override {
    auto options = top_options();
    if (!options) return options.error();
    std::optional<report::Stages> stages;
    if (!stages_.empty()) {
      auto read = report::Stages::read(stages_);
      if (!read) return read.error();
      stages = std::move(*read);
      options->stages = &*stages;
      if (by_.empty()) options->by = report::TopBy::Stage;
    }
    if (options->by == report::TopBy::Stage && !stages)
      return Error::saying("--by stage: which stages? give a file with --stages FILE");
    auto filter_options = common_.filter();
    if (!filter_options) return filter_options.error();
    filter_options->syscalls_only = kind_ == "syscall";

    if (per_frame_ || !frame_function_.empty()) return run_per_frame(*filter_options);
    report::Top top(*options);
    int status = kOk;
    std::string footers;
    report::FilterTally left_out;
    for (const auto& path : common_.logs) {
      auto filter = report::CallFilter::make(*filter_options);
      if (!filter) return filter.error();
      auto reader = common_.open(path, options->by == report::TopBy::FirstArgument);
      if (!reader) return reader.error();
      auto read = top.add(*reader, *filter);
      if (!read) return read.error();
      const auto& account = reader->accounting();
      if (account.lines == 0)
        return Error::saying(fmt::format(
            "can't report on {}: the log is empty; was anything traced?", reader->name()));
      if (account.calls + account.markers == 0)
        return Error::saying(fmt::format(
            "can't report on {}: none of its {} lines is one of a log (the "
            "first: {}); a table of -c is none",
            reader->name(), account.lines,
            account.first_skipped.empty() ? std::string() : account.first_skipped[0].text));
      if (common_.logs.size() > 1) footers += reader->name() + ": ";
      footers += report::footer(account) + report::footer(filter->tally());
      left_out.self_ns += filter->tally().self_ns;
      status = common_.judge(reader->name(), account, status);
    }
    if (options->by == report::TopBy::Function) footers = report::top_hint(top, left_out) + footers;
    auto text = render(top, footers);
    if (!text) return text.error();
    auto written = common_.write(*text);
    if (!written) return written.error();
    return status;
  }

private:
  Result<int> run_per_frame(const report::FilterOptions& filter_options) const {
    const auto format = report::parse_table_format(common_.format);
    if (frame_function_.empty())
      return Error::saying(
          "--per-frame: which function makes a frame? name it with --frame-func GLOB");
    if (!format || common_.logs.size() != 1)
      return Error::saying("--per-frame takes one log, and --format text, csv, json, jsonl or md");
    auto glob = Glob::compile(frame_function_);
    if (!glob) return Error::saying("--frame-func: " + glob.error().message());
    auto filter = report::CallFilter::make(filter_options);
    if (!filter) return filter.error();
    auto reader = common_.open(common_.logs[0]);
    if (!reader) return reader.error();
    report::FrameCalls frames(std::move(*glob), reader->functions(), *filter);
    auto read = reader->pump(frames);
    if (!read) return read.error();
    frames.finish();
    if (frames.frames() == 0)
      return Error::saying(fmt::format("{}: no call of a function like '{}' has ended",
                                       reader->name(), frame_function_));
    auto table = frames.table();
    const std::size_t limit = limit_.value_or(common_.is_text() ? 30 : ~std::size_t{0});
    if (table.rows.size() - 1 > limit) // the last one is that of all
      table.rows.erase(table.rows.begin() + static_cast<std::ptrdiff_t>(limit),
                       table.rows.end() - 1);
    auto text = report::render(table, *format);
    if (common_.is_text())
      text += fmt::format("frames {}\n", frames.frames()) + report::footer(reader->accounting()) +
              report::footer(filter->tally());
    auto written = common_.write(text);
    if (!written) return written.error();
    return common_.judge(reader->name(), reader->accounting(), kOk);
  }

  Result<report::TopOptions> top_options() const {
    report::TopOptions options;
    if (!by_.empty()) {
      const auto by = report::parse_top_by(by_);
      if (!by)
        return Error::saying(fmt::format(
            "--by '{}': not func, lib, caller, thread, pid, stage, class or arg1", by_));
      options.by = *by;
    }
    if (!sort_.empty()) {
      options.sort = report::parse_top_sort(sort_);
      if (!options.sort)
        return Error::saying(
            fmt::format("--sort '{}': not self, total, calls, avg, p50, p99 or max", sort_));
    }
    options.sum_results = sum_ == "ret";
    options.demangle = common_.demangle_style();
    return options;
  }

  Result<std::string> render(const report::Top& top, const std::string& footers) const {
    if (common_.format == "plain") return report::top_plain(top, limit_.value_or(10));
    if (common_.format == "ltrace-c")
      return report::top_ltrace(top, limit_.value_or(~std::size_t{0}));
    const bool is_text = common_.is_text();
    if (plot_ && !is_text)
      return Error::saying("--plot is for people: it goes with --format text only");
    if (plot_) return report::top_plot(top, limit_.value_or(30), terminal_columns()) + footers;
    auto table = report::top_table(top, limit_.value_or(is_text ? 30 : ~std::size_t{0}), columns_);
    if (!table) return table.error();
    auto text = report::render(*table, *report::parse_table_format(common_.format));
    if (is_text) text += footers;
    return text;
  }

  /// Of the terminal that is written to; 100 where it is none.
  unsigned terminal_columns() const {
    winsize size = {};
    if (common_.output.empty() && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
      return size.ws_col;
    return 100;
  }

  CommonOptions common_;
  bool plot_ = false;
  std::optional<std::size_t> limit_;
  std::string sort_, columns_, by_, stages_, kind_, sum_, frame_function_;
  bool per_frame_ = false;
};

} // namespace

std::unique_ptr<Command> make_top() { return std::make_unique<TopCommand>(); }

} // namespace sonictrace::sonicreport
