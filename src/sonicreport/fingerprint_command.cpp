#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "sonicreport/command.hpp"
#include "sonicreport/common_options.hpp"
#include "sonicreport/load_profile.hpp"
#include "sonictrace/report/fingerprint.hpp"

namespace sonictrace::sonicreport {
namespace {

class FingerprintCommand final : public Command {
public:
  void add_options(CLI::App& app) override {
    common_.add_to(app, "");
    app.add_option("--param", parameters_, "what the runs were made with, NAME=VALUE; several")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    app.add_option("--machine", machine_, "where the runs were made, if not on this machine")
        ->type_name("TEXT");
  }

  Result<int> run() override {
    report::Fingerprint one;
    for (const auto& text : parameters_) {
      const auto equals = text.find('=');
      if (equals == 0 || equals == std::string::npos)
        return Error::saying(fmt::format("--param '{}': not NAME=VALUE", text));
      one.parameters[text.substr(0, equals)] = text.substr(equals + 1);
    }
    auto loaded = load_profile(common_.logs, common_, true);
    if (!loaded) return loaded.error();
    one.machine = machine_.empty() ? report::this_machine() : machine_;
    one.tool = "sonicreport " SONICTRACE_VERSION;
    one.profile = std::move(loaded->profile);
    if (auto written = common_.write(report::to_json(one)); !written) return written.error();
    return loaded->status;
  }

private:
  CommonOptions common_;
  std::vector<std::string> parameters_;
  std::string machine_;
};

} // namespace

std::unique_ptr<Command> make_fingerprint() { return std::make_unique<FingerprintCommand>(); }

} // namespace sonictrace::sonicreport
