#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "sonicreport/command.hpp"
#include "sonicreport/common_options.hpp"
#include "sonictrace/report/footer.hpp"
#include "sonictrace/report/gaps.hpp"
#include "sonictrace/report/log_time.hpp"
#include "sonictrace/report/quantity.hpp"
#include "sonictrace/report/silence.hpp"
#include "sonictrace/report/table.hpp"

namespace sonictrace::sonicreport {
namespace {

constexpr std::size_t kPartsShown = 5;

Result<Glob> glob_of(const char* option, const std::string& text) {
  auto glob = Glob::compile(text);
  if (!glob) return Error::saying(fmt::format("{} '{}': {}", option, text, glob.error().message()));
  return glob;
}

Result<std::uint64_t> duration_of(const char* option, const std::string& text) {
  const auto ns = report::parse_duration_ns(text);
  if (!ns)
    return Error::saying(fmt::format("{} '{}': not a time like 100us or 50ms", option, text));
  return *ns;
}

std::string thread_of(std::uint32_t tid) {
  return tid == log::kNoTid ? "first thread" : fmt::format("tid {}", tid);
}

class GapsCommand final : public Command {
public:
  void add_options(CLI::App& app) override {
    common_.add_to(app, "text csv json jsonl md");
    app.add_option("--from", from_, "the gap begins where a call of this function ends")
        ->type_name("GLOB");
    app.add_option("--to", to_, "and ends where a call of this function begins")->type_name("GLOB");
    app.add_option("--pair", pair_,
                   "last-first: the last --from before a --to, and the first --to behind it (the "
                   "default); each: every --from and the first --to behind it")
        ->check(CLI::IsMember({"last-first", "each"}).description(""))
        ->type_name("HOW");
    app.add_flag("--any-thread", any_thread_,
                 "the two calls may be of different threads; without --from: times in which no "
                 "thread has a call");
    app.add_option("--max", max_, "a gap that is longer is a failure (exit status 1): 50ms")
        ->type_name("DUR");
    app.add_option("--top", top_, "so many, the longest ones; 10 by default")->type_name("N");
    app.add_option("--min", min_,
                   "without --from: the shortest time without a call that counts; 1ms by default")
        ->type_name("DUR");
  }

  Result<int> run() override {
    if (from_.empty() != to_.empty())
      return Error::saying("gaps: --from and --to go together; without both of them it shows the "
                           "longest times without a call");
    std::optional<std::uint64_t> max_ns;
    if (!max_.empty()) {
      auto max = duration_of("--max", max_);
      if (!max) return max.error();
      max_ns = *max;
    }
    auto filter_options = common_.filter();
    if (!filter_options) return filter_options.error();
    filter_options->modules_are_known = true;
    int status = kOk;
    for (const auto& path : common_.logs) {
      auto filter = report::CallFilter::make(*filter_options);
      if (!filter) return filter.error();
      auto reader = common_.open_knowing_modules(path);
      if (!reader) return reader.error();
      Result<void> read =
          from_.empty() ? find_silence(*reader, *filter) : find_gaps(*reader, *filter, path);
      if (!read) return read.error();
      footers_ += report::footer(reader->accounting()) + report::footer(filter->tally());
      status = common_.judge(reader->name(), reader->accounting(), status);
    }
    std::string gate;
    if (max_ns) {
      gate = fmt::format("gate: {} {} {}   {}\n", report::format_milliseconds(worst_ns_, digits_),
                         worst_ns_ > *max_ns ? ">" : "<=", report::format_milliseconds(*max_ns, 6),
                         worst_ns_ > *max_ns ? "FAILED" : "ok");
      if (worst_ns_ > *max_ns && status == kOk) status = kGateFailed;
    }
    auto written =
        common_.is_text()
            ? common_.write(text_ + gate + footers_)
            : common_.write(report::render(table_, *report::parse_table_format(common_.format)));
    if (!written) return written.error();
    if (!common_.is_text() && worst_ns_ > max_ns.value_or(~std::uint64_t{0}))
      tell(gate.substr(0, gate.size() - 1));
    return status;
  }

private:
  /// Fails where nothing can be measured.
  static Result<void> check_times(const log::LogReader& reader) {
    const auto& account = reader.accounting();
    if (account.lines == 0)
      return Error::saying(
          fmt::format("{}: the log is empty; was anything traced?", reader.name()));
    if (account.clock == log::Clock::None)
      return Error::saying(
          fmt::format("{}: the lines have no times; trace with -tt -T", reader.name()));
    if (account.timed_lines == 0)
      return Error::saying(fmt::format(
          "{}: no call has a time, so that no end is known; trace with -T", reader.name()));
    return {};
  }

  std::string time_of(const log::Accounting& account, std::uint64_t ns) const {
    return report::format_log_time(ns, account.clock, account.fraction_digits);
  }

  Result<void> find_gaps(log::LogReader& reader, report::CallFilter& filter,
                         const std::string& path) {
    report::GapOptions options;
    auto from = glob_of("--from", from_);
    if (!from) return from.error();
    auto to = glob_of("--to", to_);
    if (!to) return to.error();
    options.from = *from;
    options.to = *to;
    options.pairing = pair_ == "each" ? report::GapPairing::Each : report::GapPairing::LastFirst;
    options.any_thread = any_thread_;
    options.limit = top_.value_or(10);
    report::GapFinder finder(options, filter, reader.functions());
    if (auto read = reader.pump(finder); !read) return read;
    if (auto checked = check_times(reader); !checked) return checked;
    finder.finish();
    for (const auto& [count, option, glob] : {std::tuple(finder.from_calls(), "--from", from_),
                                              std::tuple(finder.to_calls(), "--to", to_)})
      if (count == 0)
        return Error::saying(
            fmt::format("{}: no call for {} '{}'; sonicreport top shows the names there are",
                        reader.name(), option, glob));
    auto gaps = finder.take_longest();
    // A pipe has been read.
    if (path != "-" && !gaps.empty()) {
      auto again = common_.open(path);
      if (!again) return again.error();
      report::GapContents contents(gaps, again->functions());
      if (auto read = again->pump(contents); !read) return read;
      contents.finish();
    }
    const auto& account = reader.accounting();
    digits_ = std::max<unsigned>(digits_, account.fraction_digits);
    worst_ns_ = std::max(worst_ns_, finder.lengths().largest());
    print_gaps(reader, finder, gaps);
    for (const auto& gap : gaps)
      add_row(reader, gap);
    return {};
  }

  void print_gaps(const log::LogReader& reader, const report::GapFinder& finder,
                  const std::vector<report::Gap>& gaps) {
    const auto& account = reader.accounting();
    if (common_.logs.size() > 1) text_ += reader.name() + ":\n";
    for (const auto& gap : gaps) {
      text_ += fmt::format("from end {} ({})  to start {} ({})  gap {}",
                           time_of(account, gap.from.time_ns), thread_of(gap.from.tid),
                           time_of(account, gap.to.time_ns), thread_of(gap.to.tid),
                           report::format_milliseconds(gap.length_ns(), account.fraction_digits));
      if (gap.has_parts) text_ += "   in between: " + parts_of(gap);
      text_ += "\n";
    }
    const auto& lengths = finder.lengths();
    if (lengths.total() == 0)
      text_ += any_thread_
                   ? "no --to call begins behind the end of a --from call\n"
                   : "no --to call begins behind the end of a --from call in the same thread; "
                     "--any-thread looks in all\n";
    text_ += fmt::format(
        "from calls {}  to calls {}  gaps {}", report::format_count(finder.from_calls()),
        report::format_count(finder.to_calls()), report::format_count(lengths.total()));
    if (lengths.total() > 0)
      text_ +=
          fmt::format("  min {}  p50 {}  p99 {}  max {}", report::format_duration(lengths.least()),
                      report::format_duration(lengths.quantile(500)),
                      report::format_duration(lengths.quantile(990)),
                      report::format_duration(lengths.largest()));
    text_ += "\n";
    if (finder.untimed() > 0)
      text_ += fmt::format("{} of the --from calls have no time: where they end is not known\n",
                           report::format_count(finder.untimed()));
    if (finder.given_up() > 0)
      text_ +=
          fmt::format("{} of the --from calls were too many before a --to call began: not paired\n",
                      report::format_count(finder.given_up()));
    if (!gaps.empty() && !gaps.front().has_parts)
      text_ += "what lies between is told of files only: standard input is read once\n";
    if (account.fraction_digits == 0)
      text_ += "the times of the log are whole seconds: trace with -tt\n";
  }

  static std::string parts_of(const report::Gap& gap) {
    std::string text;
    std::uint64_t rest_ns = 0;
    std::size_t shown = 0;
    for (const auto& part : gap.parts) {
      if (shown == kPartsShown) {
        rest_ns += part.self_ns;
        continue;
      }
      text += fmt::format("{} {}, ", part.function, report::format_duration(part.self_ns));
      ++shown;
    }
    if (gap.parts.size() > shown)
      text +=
          fmt::format("{} others {}, ", gap.parts.size() - shown, report::format_duration(rest_ns));
    text += "untraced " + report::format_duration(gap.untraced_ns());
    if (gap.length_ns() > 0)
      text += fmt::format(" ({:.1f} %)", 100.0 * static_cast<double>(gap.untraced_ns()) /
                                             static_cast<double>(gap.length_ns()));
    return text;
  }

  void add_row(const log::LogReader& reader, const report::Gap& gap) {
    const auto& account = reader.accounting();
    table_.columns = {
        {"log", "log", true},           {"from", "from", true}, {"from_end", "from end", true},
        {"from_tid", "from tid"},       {"to", "to", true},     {"to_start", "to start", true},
        {"to_tid", "to tid"},           {"gap_ns", "gap"},      {"untraced_ns", "untraced"},
        {"between", "in between", true}};
    std::string between;
    for (const auto& part : gap.parts)
      between += fmt::format("{}{}={}", between.empty() ? "" : " ", part.function, part.self_ns);
    using report::Cell;
    table_.rows.push_back({Cell(reader.name()), Cell(gap.from_name),
                           Cell(time_of(account, gap.from.time_ns)),
                           Cell(std::uint64_t{gap.from.tid}), Cell(gap.to_name),
                           Cell(time_of(account, gap.to.time_ns)), Cell(std::uint64_t{gap.to.tid}),
                           Cell(report::Nanoseconds{gap.length_ns()}),
                           gap.has_parts ? Cell(report::Nanoseconds{gap.untraced_ns()}) : Cell(),
                           gap.has_parts ? Cell(between) : Cell()});
  }

  Result<void> find_silence(log::LogReader& reader, report::CallFilter& filter) {
    report::SilenceOptions options;
    if (!min_.empty()) {
      auto min = duration_of("--min", min_);
      if (!min) return min.error();
      options.min_ns = std::max<std::uint64_t>(1, *min);
    }
    options.any_thread = any_thread_;
    options.limit = top_.value_or(10);
    report::SilenceFinder finder(options, filter, reader.functions());
    if (auto read = reader.pump(finder); !read) return read;
    if (auto checked = check_times(reader); !checked) return checked;
    finder.finish();
    const auto spans = finder.take_longest();
    const auto& account = reader.accounting();
    digits_ = std::max<unsigned>(digits_, account.fraction_digits);
    report::Table table;
    table.columns = {{"log", "log", true},      {"silent_ns", "silent"}, {"from", "from", true},
                     {"to", "to", true},        {"tid", "tid"},          {"after", "behind", true},
                     {"before", "before", true}};
    for (const auto& span : spans) {
      worst_ns_ = std::max(worst_ns_, span.length_ns());
      using report::Cell;
      table.rows.push_back(
          {Cell(reader.name()), Cell(report::Nanoseconds{span.length_ns()}),
           Cell(time_of(account, span.from_ns)), Cell(time_of(account, span.to_ns)),
           any_thread_ ? Cell("any") : Cell(std::uint64_t{span.tid}),
           Cell(reader.functions()[span.before].name), Cell(reader.functions()[span.after].name)});
    }
    if (table_.columns.empty()) table_.columns = table.columns;
    table_.rows.insert(table_.rows.end(), table.rows.begin(), table.rows.end());
    if (common_.logs.size() == 1) { // whose name says nothing
      table.columns.erase(table.columns.begin());
      for (auto& row : table.rows)
        row.erase(row.begin());
    }
    text_ += report::render(table, report::TableFormat::Text);
    text_ +=
        fmt::format("times without a traced call, of {} or more: {}, {} s in all\n",
                    report::format_duration(options.min_ns), report::format_count(finder.spans()),
                    report::format_seconds(finder.total_ns(), 6));
    if (finder.late_calls() > 0)
      text_ += fmt::format("{} calls are longer than {} such times: those may be inside of them\n",
                           report::format_count(finder.late_calls()),
                           report::format_count(report::SilenceFinder::kMostOpen / 2));
    return {};
  }

  CommonOptions common_;
  std::string from_, to_, pair_ = "last-first", max_, min_;
  bool any_thread_ = false;
  std::optional<std::size_t> top_;

  std::string text_, footers_;
  report::Table table_;
  std::uint64_t worst_ns_ = 0;
  unsigned digits_ = 0; ///< of the times
};

} // namespace

std::unique_ptr<Command> make_gaps() { return std::make_unique<GapsCommand>(); }

} // namespace sonictrace::sonicreport
