#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "sonicreport/command.hpp"
#include "sonicreport/common_options.hpp"
#include "sonictrace/base/say.hpp"
#include "sonictrace/report/flame.hpp"
#include "sonictrace/report/footer.hpp"
#include "sonictrace/report/quantity.hpp"

namespace sonictrace::sonicreport {
namespace {

class FlameCommand final : public Command {
public:
  void add_options(CLI::App& app) override {
    common_.add_to(app, "svg folded speedscope");
    app.add_option("--weight", weight_,
                   "what a width is: time, the time in the calls; calls, their number")
        ->check(CLI::IsMember({"time", "calls"}).description(""))
        ->type_name("WHAT");
    app.add_option("--title", title_, "of the picture")->type_name("TEXT");
    app.add_option("--width", width_, "of the picture in pixels; 1200 by default")
        ->check(CLI::Range(300, 20000).description(""))
        ->type_name("N");
    app.add_option("--min-width", least_width_,
                   "leave out frames that are narrower; 0.1 pixels by default")
        ->check(CLI::Range(0.01, 100.0).description(""))
        ->type_name("N");
    app.add_flag("--icicle", icicle_, "the threads on top, and not at the bottom");
    app.add_flag("--no-script", no_script_, "no zoom and no search in the picture");
  }

  Result<int> run() override {
    auto filter_options = common_.filter();
    if (!filter_options) return filter_options.error();
    report::Flame flame(common_.demangle_style());
    int status = kOk;
    std::string footers;
    std::string names;
    for (const auto& path : common_.logs) {
      auto filter = report::CallFilter::make(*filter_options);
      if (!filter) return filter.error();
      auto reader = common_.open(path);
      if (!reader) return reader.error();
      auto read = flame.add(*reader, *filter);
      if (!read) return read.error();
      const auto& account = reader->accounting();
      if (account.lines == 0)
        return Error::saying(
            fmt::format("{}: the log is empty; was anything traced?", reader->name()));
      if (common_.logs.size() > 1) footers += reader->name() + ": ";
      footers += report::footer(account) + report::footer(filter->tally());
      names += (names.empty() ? "" : ", ") + reader->name();
      status = common_.judge(reader->name(), account, status);
    }
    flame.finish();
    const auto& all = flame.nodes()[0];
    if (all.total_calls == 0)
      return Error::saying(names + ": no call is left to draw; look at the filters, or what was "
                                   "traced");
    auto weight = weight_ == "calls" ? report::FlameWeight::Calls : report::FlameWeight::Time;
    if (weight_.empty() && !flame.has_times()) weight = report::FlameWeight::Calls;
    if (weight == report::FlameWeight::Time && !flame.has_times())
      return Error::saying(names + ": no call has a time; trace with -T, or use --weight calls");
    if (weight == report::FlameWeight::Time && all.total_ns == 0)
      return Error::saying(names + ": all calls took no time at all; use --weight calls");

    std::string summary =
        fmt::format("{} s of self time in {} calls; a width is {}\n",
                    report::format_seconds(all.total_ns, 6), report::format_count(all.total_calls),
                    weight == report::FlameWeight::Time ? "time" : "a number of calls");
    if (flame.has_folded())
      summary += "more than 1,000,000 different stacks: some are taken together\n";
    summary += footers;
    std::string text;
    if (common_.format == "folded") {
      text = report::flame_folded(flame, weight);
    } else if (common_.format == "speedscope") {
      text = report::flame_speedscope(flame, weight, title_.empty() ? names : title_);
    } else {
      report::FlameSvgOptions options;
      options.weight = weight;
      options.title = title_.empty() ? "Flame graph of " + names : title_;
      options.note = summary;
      options.width = width_;
      options.least_width = least_width_;
      options.icicle = icicle_;
      options.script = !no_script_;
      text = report::flame_svg(flame, options);
    }
    auto written = common_.write(text);
    if (!written) return written.error();
    if (!common_.output.empty()) say(STDOUT_FILENO, common_.output + ": " + summary);
    return status;
  }

private:
  CommonOptions common_;
  std::string weight_, title_;
  unsigned width_ = 1200;
  double least_width_ = 0.1;
  bool icicle_ = false;
  bool no_script_ = false;
};

} // namespace

std::unique_ptr<Command> make_flame() { return std::make_unique<FlameCommand>(); }

} // namespace sonictrace::sonicreport
