#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "sonicreport/command.hpp"
#include "sonicreport/common_options.hpp"
#include "sonictrace/base/say.hpp"
#include "sonictrace/report/bursts.hpp"
#include "sonictrace/report/footer.hpp"
#include "sonictrace/report/quantity.hpp"
#include "sonictrace/report/stage_times.hpp"
#include "sonictrace/report/stages.hpp"
#include "sonictrace/report/timeline.hpp"

namespace sonictrace::sonicreport {
namespace {

class TimelineCommand final : public Command {
public:
  void add_options(CLI::App& app) override {
    common_.add_to(app, "pftrace chrome svg text csv json jsonl md");
    app.add_option("--min-dur", common_.min_time, "the same as --min-time")->type_name("DUR");
    app.add_option("--max-events", max_events_,
                   "keep at most so many calls, the longest; 1000000 by default")
        ->type_name("N");
    app.add_option("--title", title_, "of the picture (svg)")->type_name("TEXT");
    app.add_option("--bucket", bucket_,
                   "instead of a picture, the number of calls in each such span of time: 100ms")
        ->type_name("DUR");
    app.add_option("--burst", burst_,
                   "a bucket with at least so many times the average is a burst; 5 by default")
        ->check(CLI::PositiveNumber.description(""))
        ->type_name("N");
    app.add_option("--stages", stages_,
                   "instead of a picture, when each stage of this file began, ended, was busy")
        ->type_name("FILE");
  }

  Result<int> run() override {
    if (!bucket_.empty() && !stages_.empty())
      return Error::saying("--bucket and --stages are two reports: ask for one of them");
    const bool is_table = !bucket_.empty() || !stages_.empty();
    if (is_table && common_.format == "pftrace") common_.format = "text"; // the default of tables
    const auto table_format = report::parse_table_format(common_.format);
    if (is_table && !table_format)
      return Error::saying(
          fmt::format("--format {}: a table is text, csv, json, jsonl or md", common_.format));
    if (!is_table && table_format)
      return Error::saying(fmt::format("--format {}: a timeline is pftrace, chrome or svg; tables "
                                       "come with --bucket or --stages",
                                       common_.format));
    auto filter = common_.filter();
    if (!filter) return filter.error();
    filter_ = *filter;
    if (!bucket_.empty()) return run_bursts();
    if (!stages_.empty()) return run_stages();
    return run_picture();
  }

private:
  /// Reads all logs, and gathers the footers.
  template <class Add>
  Result<int> read_logs(Add add) {
    int status = kOk;
    for (const auto& path : common_.logs) {
      auto filter = report::CallFilter::make(filter_);
      if (!filter) return filter.error();
      auto reader = common_.open(path);
      if (!reader) return reader.error();
      Result<void> read = add(*reader, *filter);
      if (!read) return read.error();
      const auto& account = reader->accounting();
      if (account.lines == 0)
        return Error::saying(
            fmt::format("{}: the log is empty; was anything traced?", reader->name()));
      if (account.first_ns == log::kNoTime)
        return Error::saying(
            fmt::format("{}: no line has a time, so nobody knows when calls were; trace with -tt",
                        reader->name()));
      first_ns_ = std::min(first_ns_, account.first_ns);
      if (common_.logs.size() > 1) footers_ += reader->name() + ": ";
      footers_ += report::footer(account) + report::footer(filter->tally());
      names_ += (names_.empty() ? "" : ", ") + reader->name();
      status = common_.judge(reader->name(), account, status);
    }
    return status;
  }

  Result<int> run_picture() {
    if (common_.format == "pftrace" && common_.output.empty() && ::isatty(STDOUT_FILENO) == 1)
      return Error::saying(
          "a Perfetto trace is no text for a terminal: give a file with -o FILE, or "
          "--format svg or chrome");
    report::TimelineOptions options;
    options.demangle = common_.demangle_style();
    options.max_events = max_events_;
    report::Timeline timeline(options);
    auto status =
        read_logs([&](auto& reader, auto& filter) { return timeline.add(reader, filter); });
    if (!status) return status;
    timeline.finish();
    if (timeline.slices() == 0)
      return Error::saying(names_ +
                           ": no call with a time is left to draw; trace with -T -tt, or look "
                           "at the filters");
    const auto summary =
        fmt::format("calls {}  threads {}  time {}\n", report::format_count(timeline.slices()),
                    report::format_count(timeline.tracks().size()),
                    report::format_duration(timeline.last_ns() - timeline.first_ns())) +
        report::timeline_note(timeline) + footers_;
    std::string text;
    if (common_.format == "chrome") {
      text = report::timeline_chrome(timeline);
    } else if (common_.format == "svg") {
      report::TimelineSvgOptions svg;
      svg.title = title_.empty() ? "Timeline of " + names_ : title_;
      svg.note = summary;
      text = report::timeline_svg(timeline, svg);
    } else {
      text = report::timeline_perfetto(timeline);
    }
    auto written = common_.write(text);
    if (!written) return written.error();
    if (!common_.output.empty())
      say(STDOUT_FILENO, common_.output + ": " + summary);
    else if (const auto note = report::timeline_note(timeline); !note.empty())
      tell(note.substr(0, note.size() - 1));
    return status;
  }

  Result<int> run_bursts() {
    const auto width = report::parse_duration_ns(bucket_);
    if (!width || *width == 0)
      return Error::saying(fmt::format("--bucket '{}': not a time like 100ms or 1s", bucket_));
    report::Bursts bursts(*width, burst_);
    auto status = read_logs([&](auto& reader, auto& filter) { return bursts.add(reader, filter); });
    if (!status) return status;
    if (bursts.calls() == 0)
      return Error::saying(names_ + ": no call is left to count; look at the filters");
    const auto origin = first_ns_ / bursts.bucket_ns() * bursts.bucket_ns();
    std::string text = common_.is_text()
                           ? report::bursts_text(bursts, origin) + footers_
                           : report::render(report::bursts_table(bursts, origin),
                                            *report::parse_table_format(common_.format));
    auto written = common_.write(text);
    if (!written) return written.error();
    return status;
  }

  Result<int> run_stages() {
    auto stages = report::Stages::read(stages_);
    if (!stages) return stages.error();
    report::StageTimes times(*stages);
    auto status = read_logs([&](auto& reader, auto& filter) { return times.add(reader, filter); });
    if (!status) return status;
    const auto all = times.times();
    auto text = report::render(report::stage_times_table(all, first_ns_),
                               *report::parse_table_format(common_.format));
    if (common_.is_text()) {
      text +=
          "times since the first line; busy: at least one of the stage's calls ran, in whatever "
          "thread; gap: the rest, from its first start to its last end; wait_before: since the "
          "stage in front of it ended\n";
      for (const auto& one : all)
        if (one.joined_ns > 0)
          text += fmt::format("busy of {} is too long by at most {}: it was at work too often to "
                              "keep all times apart\n",
                              one.name, report::format_duration(one.joined_ns));
      text += footers_;
    }
    auto written = common_.write(text);
    if (!written) return written.error();
    return status;
  }

  CommonOptions common_;
  report::FilterOptions filter_;
  std::size_t max_events_ = 1'000'000;
  std::string title_, bucket_, stages_;
  double burst_ = 5;
  std::string footers_, names_;
  std::uint64_t first_ns_ = ~std::uint64_t{0};
};

} // namespace

std::unique_ptr<Command> make_timeline() { return std::make_unique<TimelineCommand>(); }

} // namespace sonictrace::sonicreport
