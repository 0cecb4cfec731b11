#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "sonicreport/command.hpp"
#include "sonicreport/common_options.hpp"
#include "sonictrace/report/balance.hpp"
#include "sonictrace/report/footer.hpp"
#include "sonictrace/report/log_time.hpp"
#include "sonictrace/report/quantity.hpp"
#include "sonictrace/report/table.hpp"

namespace sonictrace::sonicreport {
namespace {

class BalanceCommand final : public Command {
public:
  void add_options(CLI::App& app) override {
    common_.add_to(app, "text csv json jsonl md");
    app.add_option(
           "--pair", pairs_,
           "what takes and what gives back, by value: malloc:free (the default; with calloc, "
           "realloc and the like), fopen,fdopen:fclose, open,openat:close; may be repeated")
        ->type_name("TAKES:GIVES")
        ->allow_extra_args(false);
    app.add_option("--list", list_, "so many of what was not given back, the oldest first")
        ->type_name("N");
    app.add_option("--max-unmatched", max_,
                   "more that was not given back is a failure (exit status 1)")
        ->type_name("N");
  }

  Result<int> run() override {
    std::vector<report::BalancePair> pairs;
    if (pairs_.empty()) pairs_.emplace_back("malloc:free");
    for (const auto& text : pairs_) {
      auto pair = report::parse_balance_pair(text);
      if (!pair) return pair.error();
      pairs.push_back(std::move(*pair));
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
      report::Balance balance(pairs, &*filter, reader->functions());
      if (auto read = reader->pump(balance); !read) return read.error();
      if (reader->accounting().lines == 0)
        return Error::saying(
            fmt::format("{}: the log is empty; was anything traced?", reader->name()));
      print(balance, pairs, *reader);
      footers_ += report::footer(reader->accounting()) + report::footer(filter->tally());
      status = common_.judge(reader->name(), reader->accounting(), status);
    }
    if (rows_.rows.empty())
      return Error::saying(
          "balance: no call of what takes in --pair; sonicreport top shows the names "
          "there are");
    std::string gate;
    if (max_) {
      const bool failed = unmatched_ > *max_;
      gate = fmt::format("gate: {} not given back {} {}   {}\n", unmatched_,
                         failed ? ">" : "<=", *max_, failed ? "FAILED" : "ok");
      if (failed && status == kOk) status = kGateFailed;
      if (failed && !common_.is_text()) tell(gate.substr(0, gate.size() - 1));
    }
    const auto& table = list_ > 0 && !common_.is_text() ? listed_ : rows_;
    const auto format = *report::parse_table_format(common_.format);
    auto written =
        common_.is_text()
            ? common_.write(report::render(rows_, report::TableFormat::Text) + text_ +
                            (list_ > 0 ? report::render(listed_, report::TableFormat::Text) : "") +
                            gate + footers_)
            : common_.write(report::render(table, format));
    if (!written) return written.error();
    return status;
  }

private:
  void print(const report::Balance& balance, const std::vector<report::BalancePair>& pairs,
             const log::LogReader& reader) {
    using report::Cell;
    rows_.columns = {
        {"log", "log", true},         {"function", "function", true}, {"caller", "caller", true},
        {"taken", "taken"},           {"given_back", "given back"},   {"unmatched", "unmatched"},
        {"unmatched_bytes", "bytes"}, {"reused", "reused"},           {"failed", "failed"}};
    for (const auto& row : balance.rows())
      rows_.rows.push_back({Cell(reader.name()), Cell(row.function), Cell(row.caller),
                            Cell(row.taken), Cell(row.given), Cell(row.unmatched()),
                            Cell(row.unmatched_bytes), Cell(row.reused), Cell(row.failed)});
    const auto count = [](std::uint64_t value) { return report::format_count(value); };
    const auto& account = reader.accounting();
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto sum = balance.sum(i);
      unmatched_ += sum.unmatched;
      text_ += fmt::format("{}: {} of {} not given back", pairs[i].name, count(sum.unmatched),
                           count(sum.taken));
      if (sum.unmatched_bytes > 0) text_ += fmt::format(", {} bytes", count(sum.unmatched_bytes));
      text_ += fmt::format(
          "; {} given back that were not seen to be taken, {} of nothing; at most {} at a time",
          count(sum.unknown), count(sum.nothing), count(sum.peak));
      if (sum.peak_bytes > 0) text_ += fmt::format(", {} bytes", count(sum.peak_bytes));
      text_ += fmt::format(" (line {})\n", count(sum.peak_line));
    }
    std::uint64_t unreadable = 0, not_followed = 0, reused = 0;
    for (const auto& row : balance.rows()) {
      unreadable += row.unreadable;
      not_followed += row.not_followed;
      reused += row.reused;
    }
    if (reused > 0)
      text_ +=
          "reused: the same value was taken once more, so that a call outside of the log has given "
          "it back\n";
    if (unreadable > 0)
      text_ += fmt::format("{} calls returned what is no number: not counted\n", count(unreadable));
    if (not_followed > 0)
      text_ += fmt::format("{} calls are not followed: more than {} were taken at a time\n",
                           count(not_followed), count(report::Balance::kMostLive));
    if (balance.has_forked())
      text_ += "the log has several processes: what a child gives back is taken for its parent's\n";
    if (account.thinned_calls > 0)
      text_ += "the log is thinned: calls that it only counts are in no pair; trace without "
               "--thin-after\n";
    list(balance, reader);
  }

  void list(const report::Balance& balance, const log::LogReader& reader) {
    using report::Cell;
    const auto& account = reader.accounting();
    listed_.columns = {{"log", "log", true},
                       {"line", "line"},
                       {"time", "time", true},
                       {"tid", "tid"},
                       {"function", "function", true},
                       {"value", "value", true},
                       {"bytes", "bytes"}};
    for (const auto& one : balance.oldest(list_))
      listed_.rows.push_back(
          {Cell(reader.name()), Cell(one.line),
           Cell(report::format_log_time(one.entry_ns, account.clock, account.fraction_digits)),
           Cell(std::uint64_t{one.tid}), Cell(balance.rows()[one.row].function),
           Cell(fmt::format("{:#x}", one.value)), Cell(one.bytes)});
  }

  CommonOptions common_;
  std::vector<std::string> pairs_;
  std::size_t list_ = 0;
  std::optional<std::uint64_t> max_;

  report::Table rows_, listed_;
  std::string text_, footers_;
  std::uint64_t unmatched_ = 0;
};

} // namespace

std::unique_ptr<Command> make_balance() { return std::make_unique<BalanceCommand>(); }

} // namespace sonictrace::sonicreport
