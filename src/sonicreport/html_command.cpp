#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include "sonicreport/command.hpp"
#include "sonicreport/common_options.hpp"
#include "sonictrace/base/say.hpp"
#include "sonictrace/report/flame.hpp"
#include "sonictrace/report/footer.hpp"
#include "sonictrace/report/gaps.hpp"
#include "sonictrace/report/html.hpp"
#include "sonictrace/report/log_part.hpp"
#include "sonictrace/report/quantity.hpp"
#include "sonictrace/report/rules.hpp"
#include "sonictrace/report/silence.hpp"
#include "sonictrace/report/stage_times.hpp"
#include "sonictrace/report/stages.hpp"
#include "sonictrace/report/timeline.hpp"
#include "sonictrace/report/top.hpp"

namespace sonictrace::sonicreport {
namespace {

Result<Glob> glob_of(const char* option, const std::string& text) {
  auto glob = Glob::compile(text);
  if (!glob) return Error::saying(fmt::format("{} '{}': {}", option, text, glob.error().message()));
  return glob;
}

class HtmlCommand final : public Command {
public:
  void add_options(CLI::App& app) override {
    common_.add_to(app, "");
    app.add_option("-n,--limit", limit_, "rows of a table; 50 by default")->type_name("N");
    app.add_option("--title", title_, "of the page")->type_name("TEXT");
    app.add_option("--max-events", timeline_options_.max_events,
                   "calls in the timeline, the longest; 20000 by default")
        ->type_name("N");
    app.add_option("--stages", stages_file_,
                   "a file that says which functions and libraries a stage has: two more tables")
        ->type_name("FILE");
    app.add_option("--from", from_,
                   "with --to, one more table: the gaps from the end of a call of "
                   "this function")
        ->type_name("GLOB");
    app.add_option("--to", to_, "to the beginning of a call of this function")->type_name("GLOB");
    app.add_option("--frames", rule_options_.frames, "how many frames the program has made")
        ->type_name("N");
    app.add_option("--frame-func", frame_function_,
                   "or: so many as there are calls of these functions")
        ->type_name("GLOB");
  }

  Result<int> run() override {
    auto prepared = prepare();
    if (!prepared) return prepared.error();
    for (const auto& path : common_.logs) {
      auto read = read_log(path);
      if (!read) return read.error();
    }
    auto sections = this->sections();
    if (!sections) return sections.error();
    const auto title = title_.empty() ? "Report on " + names_ : title_;
    auto written = common_.write(report::html_page(title, *sections));
    if (!written) return written.error();
    if (!common_.output.empty()) say(STDOUT_FILENO, common_.output + ": " + footers_);
    return status_;
  }

private:
  /// A table of functions, libraries, ...
  struct TopSection {
    const char* heading;
    report::Top top;
  };

  /// From options to what is to be told of the logs.
  Result<void> prepare() {
    auto filter = common_.filter();
    if (!filter) return filter.error();
    filter_ = *filter;
    filter_.modules_are_known = true;
    if (from_.empty() != to_.empty()) return Error::saying("html: --from and --to go together");
    if (!from_.empty()) {
      auto from = glob_of("--from", from_);
      if (!from) return from.error();
      auto to = glob_of("--to", to_);
      if (!to) return to.error();
      gap_options_.from = *from;
      gap_options_.to = *to;
    }
    if (rule_options_.frames && !frame_function_.empty())
      return Error::saying("html: --frames and --frame-func: one of them");
    if (rule_options_.frames == 0U) return Error::saying("html: --frames 0: at least one");
    if (!frame_function_.empty()) {
      auto glob = glob_of("--frame-func", frame_function_);
      if (!glob) return glob.error();
      rule_options_.frame_function = *glob;
    }
    report::TopOptions options;
    options.demangle = common_.demangle_style();
    const auto add = [&](report::TopBy by, const char* heading) {
      options.by = by;
      tops_.push_back({heading, report::Top(options)});
    };
    add(report::TopBy::Function, "Functions");
    add(report::TopBy::Library, "Libraries");
    if (!stages_file_.empty()) {
      auto stages = report::Stages::read(stages_file_);
      if (!stages) return stages.error();
      stages_ = std::move(*stages);
      options.stages = &*stages_;
      add(report::TopBy::Stage, "Stages");
      stage_times_.emplace(*stages_);
    }
    add(report::TopBy::Class, "Classes");
    add(report::TopBy::Thread, "Threads");
    flame_.emplace(common_.demangle_style());
    timeline_options_.demangle = common_.demangle_style();
    timeline_.emplace(timeline_options_);
    return {};
  }

  /// Once, for all sections.
  Result<void> read_log(const std::string& path) {
    auto reader = common_.open_knowing_modules(path, true);
    if (!reader) return reader.error();
    const auto& functions = reader->functions();
    report::Visitors visitors;
    // Each counts what it refuses.
    std::deque<report::CallFilter> filters;
    const auto new_filter = [&]() -> report::CallFilter& {
      return filters.emplace_back(*report::CallFilter::make(filter_));
    };
    if (auto checked = report::CallFilter::make(filter_); !checked) return checked.error();
    std::vector<std::unique_ptr<report::LogPart>> parts;
    for (auto& section : tops_)
      parts.push_back(section.top.begin(functions, new_filter()));
    if (stage_times_) parts.push_back(stage_times_->begin(functions, new_filter()));
    parts.push_back(flame_->begin(functions, new_filter()));
    parts.push_back(timeline_->begin(functions, new_filter()));
    report::SilenceFinder silence({}, new_filter(), functions);
    report::GapFinder gaps(gap_options_, new_filter(), functions);
    report::Rules rules(rule_options_, new_filter(), functions);
    for (auto& part : parts)
      visitors.add(*part);
    visitors.add(silence);
    if (!from_.empty()) visitors.add(gaps);
    visitors.add(rules);
    if (auto read = reader->pump(visitors); !read) return read;
    const auto& account = reader->accounting();
    if (account.lines == 0)
      return Error::saying(
          fmt::format("{}: the log is empty; was anything traced?", reader->name()));
    for (auto& part : parts)
      part->finish(*reader);
    silence.finish();
    gaps.finish();
    add_rules(*reader, rules);
    add_silence(*reader, silence);
    if (!from_.empty()) add_gaps(*reader, gaps);
    if (common_.logs.size() > 1) footers_ += reader->name() + ": ";
    footers_ += report::footer(account) + report::footer(filters.front().tally());
    names_ += (names_.empty() ? "" : ", ") + reader->name();
    first_ns_ = std::min(first_ns_, account.first_ns);
    status_ = common_.judge(reader->name(), account, status_);
    return {};
  }

  /// The table of a section of which each log has rows: with the log's name where there are
  /// several.
  void add_rows(report::HtmlSection& section, std::vector<report::Column> columns,
                std::vector<std::vector<report::Cell>> rows, const std::string& log) const {
    if (common_.logs.size() > 1) {
      columns.insert(columns.begin(), {"log", "log", true});
      for (auto& row : rows)
        row.insert(row.begin(), report::Cell(log));
    }
    section.table.columns = std::move(columns);
    for (auto& row : rows)
      section.table.rows.push_back(std::move(row));
  }

  void add_rules(const log::LogReader& reader, const report::Rules& rules) {
    const auto& account = reader.accounting();
    std::vector<std::vector<report::Cell>> rows;
    for (const auto& found : rules.findings(account.clock, account.fraction_digits))
      rows.push_back({report::Cell(std::string(report::to_string(found.verdict))),
                      report::Cell(found.rule), report::Cell(found.text)});
    add_rows(rules_, {{"verdict", "verdict", true}, {"rule", "rule", true}, {"text", "text", true}},
             std::move(rows), reader.name());
  }

  void add_silence(const log::LogReader& reader, report::SilenceFinder& silence) {
    using report::Cell;
    const auto& account = reader.accounting();
    std::vector<std::vector<Cell>> rows;
    for (const auto& span : silence.take_longest())
      rows.push_back(
          {Cell(report::Nanoseconds{span.length_ns()}),
           Cell(report::Seconds{span.from_ns - std::min(span.from_ns, account.first_ns)}),
           Cell(thread_of(span.tid)), Cell(reader.functions()[span.before].name),
           Cell(reader.functions()[span.after].name)});
    add_rows(silence_,
             {{"silent_ns", "silent"},
              {"from_ns", "from_s"},
              {"thread", "thread", true},
              {"after", "behind", true},
              {"before", "before", true}},
             std::move(rows), reader.name());
    if (account.clock == log::Clock::None || account.timed_lines == 0) {
      silence_.text += reader.name() + ": calls have no times; trace with -T -tt\n";
      return;
    }
    silence_.text += fmt::format(
        "{}times of 1 ms or more in which a thread had no traced call: {}, {} s in all; "
        "the longest ten, and the calls before and behind them\n",
        common_.logs.size() > 1 ? reader.name() + ": " : "", report::format_count(silence.spans()),
        report::format_seconds(silence.total_ns(), 6));
  }

  void add_gaps(const log::LogReader& reader, report::GapFinder& gaps) {
    using report::Cell;
    const auto& account = reader.accounting();
    std::vector<std::vector<Cell>> rows;
    for (const auto& gap : gaps.take_longest())
      rows.push_back(
          {Cell(report::Nanoseconds{gap.length_ns()}), Cell(gap.from_name),
           Cell(report::Seconds{gap.from.time_ns - std::min(gap.from.time_ns, account.first_ns)}),
           Cell(gap.to_name), Cell(thread_of(gap.to.tid))});
    add_rows(gaps_,
             {{"gap_ns", "gap"},
              {"from", "from end of", true},
              {"from_ns", "at_s"},
              {"to", "to start of", true},
              {"thread", "thread", true}},
             std::move(rows), reader.name());
    const auto& lengths = gaps.lengths();
    gaps_.text +=
        fmt::format("{}{} calls for --from, {} for --to, {} gaps",
                    common_.logs.size() > 1 ? reader.name() + ": " : "",
                    report::format_count(gaps.from_calls()), report::format_count(gaps.to_calls()),
                    report::format_count(lengths.total()));
    if (lengths.total() > 0)
      gaps_.text += fmt::format(": p50 {}, p99 {}, max {}; the longest ten",
                                report::format_duration(lengths.quantile(500)),
                                report::format_duration(lengths.quantile(990)),
                                report::format_duration(lengths.largest()));
    gaps_.text += "\n";
  }

  static std::string thread_of(std::uint32_t tid) {
    return tid == log::kNoTid ? "first" : fmt::format("{}", tid);
  }

  /// In the order of the page.
  Result<std::vector<report::HtmlSection>> sections() {
    std::vector<report::HtmlSection> sections;
    for (const auto& [heading, top] : tops_) {
      auto table = report::top_table(top, limit_, "");
      if (!table) return table.error();
      auto& section = sections.emplace_back();
      section.heading = heading;
      section.table = std::move(*table);
      if (top.options().by == report::TopBy::Function) section.text = footers_;
      if (top.options().by == report::TopBy::Stage && stage_times_) {
        auto& times = sections.emplace_back();
        times.heading = "Stages by time";
        times.text = "seconds since the first line; busy: at least one of the stage's calls ran\n";
        times.table = report::stage_times_table(stage_times_->times(), first_ns_);
      }
    }
    rules_.heading = "Rules";
    rules_.text = "rules of thumb; -: the log does not have what the rule needs\n";
    sections.push_back(std::move(rules_));
    if (!from_.empty()) {
      gaps_.heading = fmt::format("Gaps from {} to {}", from_, to_);
      sections.push_back(std::move(gaps_));
    }
    silence_.heading = "Silence";
    sections.push_back(std::move(silence_));
    sections.push_back(flame_section());
    sections.push_back(timeline_section());
    return sections;
  }

  report::HtmlSection flame_section() {
    flame_->finish();
    report::HtmlSection section;
    section.heading = "Flame graph";
    const auto& root = flame_->nodes()[0];
    if (root.total_calls == 0) {
      section.text = "no call is left to draw";
      return section;
    }
    report::FlameSvgOptions options;
    const bool by_time = flame_->has_times() && root.total_ns > 0;
    options.weight = by_time ? report::FlameWeight::Time : report::FlameWeight::Calls;
    options.title = by_time ? "self time" : "number of calls";
    section.svg = report::flame_svg(*flame_, options);
    return section;
  }

  report::HtmlSection timeline_section() {
    timeline_->finish();
    report::HtmlSection section;
    section.heading = "Timeline";
    section.text = report::timeline_note(*timeline_);
    if (timeline_->slices() == 0) {
      section.text += "no call is known to have been at a time: trace with -T -tt\n";
      return section;
    }
    report::TimelineSvgOptions svg;
    svg.title = "calls by thread";
    section.svg = report::timeline_svg(*timeline_, svg);
    return section;
  }

  CommonOptions common_;
  report::FilterOptions filter_;
  std::size_t limit_ = 50;
  std::string title_, stages_file_, from_, to_, frame_function_;
  report::RuleOptions rule_options_;
  report::GapOptions gap_options_;
  report::TimelineOptions timeline_options_ = {DemangleStyle::None, 20'000};

  std::optional<report::Stages> stages_;
  std::vector<TopSection> tops_;
  std::optional<report::StageTimes> stage_times_;
  std::optional<report::Flame> flame_;
  std::optional<report::Timeline> timeline_;
  report::HtmlSection rules_, gaps_, silence_;
  std::string footers_, names_;
  std::uint64_t first_ns_ = ~std::uint64_t{0};
  int status_ = kOk;
};

} // namespace

std::unique_ptr<Command> make_html() { return std::make_unique<HtmlCommand>(); }

} // namespace sonictrace::sonicreport
