#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "sonicreport/command.hpp"
#include "sonicreport/common_options.hpp"
#include "sonicreport/load_profile.hpp"
#include "sonictrace/report/diff.hpp"

namespace sonictrace::sonicreport {
namespace {

class DiffCommand final : public Command {
public:
  void add_options(CLI::App& app) override {
    common_.add_to(app, "text csv json jsonl md");
    app.get_option("LOG")->required(false)->description(
        "OLD NEW: two logs or fingerprints, in place of --old and --new");
    app.add_option("--old", old_, "logs or fingerprints of the old version")->type_name("LOG...");
    app.add_option("--new", new_, "logs or fingerprints of the new version")->type_name("LOG...");
    app.add_option("--max-increase", limits_,
                   "exit with 1 where a number has grown by more: time=5%, calls=0, "
                   "calls:GLOB=30%, time:GLOB=5%, scale=10%, wall=5%, syscalls=40%, new=0")
        ->type_name("LIMIT")
        ->allow_extra_args(false);
    app.add_flag("--allow-single", options_.allow_single,
                 "judge times of fewer than 4 runs by their change alone: often wrong");
    app.add_option("--time", measure_,
                   "what a function's time in a run is: typical (calls x the mean of the shorter "
                   "half, the default) or sum")
        ->check(CLI::IsMember({"typical", "sum"}).description(""))
        ->type_name("WHAT");
    app.add_option("-n,--limit", limit_, "rows of functions in text; 30 by default")
        ->type_name("N");
  }

  Result<int> run() override {
    if (auto sides = find_sides(); !sides) return sides.error();
    for (const auto& text : limits_) {
      auto limit = report::parse_limit(text);
      if (!limit) return limit.error();
      options_.limits.push_back(std::move(*limit));
    }
    if (measure_ == "sum") options_.measure = report::TimeMeasure::Sum;
    auto before = load_profile(old_, common_, false);
    if (!before) return before.error();
    auto after = load_profile(new_, common_, false);
    if (!after) return after.error();
    auto diff = report::compare(before->profile, after->profile, options_);
    if (!diff) return diff.error();
    const auto format = *report::parse_table_format(common_.format);
    const bool for_people = common_.is_text() || common_.format == "md";
    std::string text = report::render(
        for_people ? report::diff_summary(*diff, limit_) : report::diff_table(*diff), format);
    if (for_people) {
      std::string rest;
      if (diff->rows.size() > limit_)
        rest = fmt::format("{} functions are not shown (-n)\n", diff->rows.size() - limit_);
      rest += notes(*before, *after) + report::diff_footer(*diff, options_);
      text += common_.is_text() ? rest : "\n```\n" + rest + "```\n";
    } else if (diff->failures() > 0) {
      tell(fmt::format("gate: FAILED ({}){}", diff->failures(), listed(diff->broken)));
    }
    if (auto written = common_.write(text); !written) return written.error();
    if (diff->failures() > 0) return kGateFailed;
    return std::max(before->status, after->status);
  }

private:
  Result<void> find_sides() {
    if (old_.empty() && new_.empty() && common_.logs.size() == 2) {
      old_ = {common_.logs[0]};
      new_ = {common_.logs[1]};
      return {};
    }
    if (old_.empty() || new_.empty() || !common_.logs.empty())
      return Error::saying("diff: OLD NEW, or --old OLD... --new NEW...: which logs are which?");
    return {};
  }

  /// What makes the two sides, or their counts, less comparable than they look.
  static std::string notes(const LoadedProfile& before, const LoadedProfile& after) {
    std::string text;
    for (const auto* side : {&before, &after})
      for (const auto& run : side->profile.runs())
        if (run.lost > 0)
          text +=
              fmt::format("note: one of the {} runs has lost {} calls: its counts are too low\n",
                          side == &before ? "old" : "new", run.lost);
    if (before.fingerprints.empty() || after.fingerprints.empty()) return text;
    const auto& left = before.fingerprints.front();
    const auto& right = after.fingerprints.front();
    if (left.parameters != right.parameters)
      text += fmt::format("note: the parameters differ: {} -> {}\n", listed(left), listed(right));
    if (left.machine != right.machine)
      text += fmt::format("note: the machines differ: {} -> {}\n", left.machine, right.machine);
    return text;
  }
  static std::string listed(const report::Fingerprint& one) {
    std::string text;
    for (const auto& [name, value] : one.parameters)
      text += (text.empty() ? "" : " ") + name + "=" + value;
    return text.empty() ? "none" : text;
  }

  static std::string listed(const std::vector<std::string>& broken) {
    std::string text;
    for (const auto& one : broken)
      text += ", " + one;
    return text;
  }

  CommonOptions common_;
  std::vector<std::string> old_, new_, limits_;
  std::string measure_;
  std::size_t limit_ = 30;
  report::DiffOptions options_;
};

} // namespace

std::unique_ptr<Command> make_diff() { return std::make_unique<DiffCommand>(); }

} // namespace sonictrace::sonicreport
