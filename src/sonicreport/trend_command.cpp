#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "sonicreport/command.hpp"
#include "sonicreport/common_options.hpp"
#include "sonicreport/load_profile.hpp"
#include "sonictrace/report/trend.hpp"

namespace sonictrace::sonicreport {
namespace {

class TrendCommand final : public Command {
public:
  void add_options(CLI::App& app) override {
    common_.add_to(app, "text csv json jsonl md");
    app.get_option("LOG")->description("fingerprints, or logs of one run each, oldest first");
    app.add_option("-n,--limit", options_.functions, "functions; 3 by default")->type_name("N");
    app.add_flag("--per-call", options_.per_call, "the time of a call in place of that of a run");
    app.add_option("--label", label_, "call a version by this parameter of its fingerprint")
        ->type_name("NAME");
  }

  Result<int> run() override {
    std::vector<report::Version> versions;
    int status = kOk;
    for (const auto& path : common_.logs) {
      auto loaded = load_profile({path}, common_, false);
      if (!loaded) return loaded.error();
      status = std::max(status, loaded->status);
      report::Version version;
      version.label = std::filesystem::path(path).stem().string();
      if (!loaded->fingerprints.empty()) version.fingerprint = loaded->fingerprints.front();
      version.fingerprint.profile = std::move(loaded->profile);
      const auto& parameters = version.fingerprint.parameters;
      if (const auto known = parameters.find(label_); known != parameters.end())
        version.label = known->second;
      else if (!label_.empty())
        return Error::saying(fmt::format("{}: has no parameter {} (--label); make the fingerprint "
                                         "with --param {}=VALUE",
                                         path, label_, label_));
      versions.push_back(std::move(version));
    }
    auto text = report::render(report::trend_table(versions, options_),
                               *report::parse_table_format(common_.format));
    if (common_.is_text())
      text += "a row's numbers are medians of its runs; time: calls x the mean of the shorter "
              "half of their times; % against the row above\n"
              "what of it stands out of the noise, sonicreport diff says\n";
    if (auto written = common_.write(text); !written) return written.error();
    return status;
  }

private:
  CommonOptions common_;
  report::TrendOptions options_;
  std::string label_;
};

} // namespace

std::unique_ptr<Command> make_trend() { return std::make_unique<TrendCommand>(); }

} // namespace sonictrace::sonicreport
