#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "sonicreport/command.hpp"
#include "sonicreport/common_options.hpp"
#include "sonictrace/base/say.hpp"
#include "sonictrace/report/flame.hpp"
#include "sonictrace/report/footer.hpp"
#include "sonictrace/report/html.hpp"
#include "sonictrace/report/timeline.hpp"
#include "sonictrace/report/top.hpp"

namespace sonictrace::sonicreport {
namespace {

class HtmlCommand final : public Command {
public:
  void add_options(CLI::App& app) override {
    common_.add_to(app, "");
    app.add_option("-n,--limit", limit_, "rows of a table; 50 by default")->type_name("N");
    app.add_option("--title", title_, "of the page")->type_name("TEXT");
    app.add_option("--max-events", max_events_,
                   "calls in the timeline, the longest; 20000 by default")
        ->type_name("N");
  }

  Result<int> run() override {
    if (std::find(common_.logs.begin(), common_.logs.end(), "-") != common_.logs.end())
      return Error::saying("html reads a log several times, which standard input can't be: give "
                           "a file");
    auto filter = common_.filter();
    if (!filter) return filter.error();
    filter_ = *filter;
    auto sections = this->sections();
    if (!sections) return sections.error();
    const auto title = title_.empty() ? "Report on " + names_ : title_;
    auto written = common_.write(report::html_page(title, *sections));
    if (!written) return written.error();
    if (!common_.output.empty()) say(STDOUT_FILENO, common_.output + ": " + footers_);
    return status_;
  }

private:
  /// A new section: computed here, in its place on the page.
  Result<std::vector<report::HtmlSection>> sections() {
    std::vector<report::HtmlSection> sections;
    auto functions = top(report::TopBy::Function, "Functions");
    if (!functions) return functions.error();
    functions->text = footers_;
    sections.push_back(std::move(*functions));
    for (const auto& [by, heading] : {std::pair{report::TopBy::Library, "Libraries"},
                                      std::pair{report::TopBy::Class, "Classes"},
                                      std::pair{report::TopBy::Thread, "Threads"}}) {
      auto section = top(by, heading);
      if (!section) return section.error();
      sections.push_back(std::move(*section));
    }
    auto picture = flame();
    if (!picture) return picture.error();
    sections.push_back(std::move(*picture));
    picture = timeline();
    if (!picture) return picture.error();
    sections.push_back(std::move(*picture));
    return sections;
  }

  template <class Add>
  Result<void> read_logs(Add add, bool is_first) {
    for (const auto& path : common_.logs) {
      auto filter = report::CallFilter::make(filter_);
      if (!filter) return filter.error();
      auto reader = common_.open(path);
      if (!reader) return reader.error();
      Result<void> read = add(*reader, *filter);
      if (!read) return read.error();
      if (!is_first) continue;
      const auto& account = reader->accounting();
      if (account.lines == 0)
        return Error::saying(
            fmt::format("{}: the log is empty; was anything traced?", reader->name()));
      if (common_.logs.size() > 1) footers_ += reader->name() + ": ";
      footers_ += report::footer(account) + report::footer(filter->tally());
      names_ += (names_.empty() ? "" : ", ") + reader->name();
      status_ = common_.judge(reader->name(), account, status_);
    }
    return {};
  }

  Result<report::HtmlSection> top(report::TopBy by, const char* heading) {
    report::TopOptions options;
    options.by = by;
    options.demangle = common_.demangle_style();
    report::Top top(options);
    auto read = read_logs([&](auto& reader, auto& filter) { return top.add(reader, filter); },
                          by == report::TopBy::Function);
    if (!read) return read.error();
    auto table = report::top_table(top, limit_, "");
    if (!table) return table.error();
    report::HtmlSection section;
    section.heading = heading;
    section.table = std::move(*table);
    return section;
  }

  Result<report::HtmlSection> flame() {
    report::Flame flame(common_.demangle_style());
    auto read =
        read_logs([&](auto& reader, auto& filter) { return flame.add(reader, filter); }, false);
    if (!read) return read.error();
    flame.finish();
    report::HtmlSection section;
    section.heading = "Flame graph";
    if (flame.nodes()[0].total_calls == 0) {
      section.text = "no call is left to draw";
      return section;
    }
    report::FlameSvgOptions options;
    const bool by_time = flame.has_times() && flame.nodes()[0].total_ns > 0;
    options.weight = by_time ? report::FlameWeight::Time : report::FlameWeight::Calls;
    options.title = by_time ? "self time" : "number of calls";
    section.svg = report::flame_svg(flame, options);
    return section;
  }

  Result<report::HtmlSection> timeline() {
    report::TimelineOptions options;
    options.demangle = common_.demangle_style();
    options.max_events = max_events_;
    report::Timeline timeline(options);
    auto read =
        read_logs([&](auto& reader, auto& filter) { return timeline.add(reader, filter); }, false);
    if (!read) return read.error();
    timeline.finish();
    report::HtmlSection section;
    section.heading = "Timeline";
    section.text = report::timeline_note(timeline);
    if (timeline.slices() == 0) {
      section.text += "no call is known to have been at a time: trace with -T -tt\n";
      return section;
    }
    report::TimelineSvgOptions svg;
    svg.title = "calls by thread";
    section.svg = report::timeline_svg(timeline, svg);
    return section;
  }

  CommonOptions common_;
  report::FilterOptions filter_;
  std::size_t limit_ = 50;
  std::size_t max_events_ = 20'000;
  std::string title_, footers_, names_;
  int status_ = kOk;
};

} // namespace

std::unique_ptr<Command> make_html() { return std::make_unique<HtmlCommand>(); }

} // namespace sonictrace::sonicreport
