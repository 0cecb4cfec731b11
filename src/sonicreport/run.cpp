#include "sonicreport/run.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "sonicreport/command.hpp"
#include "sonicreport/common_options.hpp"
#include "sonictrace/base/say.hpp"

namespace sonictrace::sonicreport {

int run(std::span<const char* const> arguments) {
  CLI::App app("Answers from logs of sonictrace and ltrace.", "sonicreport");
  app.set_version_flag("-V,--version", "sonicreport " SONICTRACE_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  struct Offered {
    CLI::App* app;
    std::unique_ptr<Command> command;
  };
  std::vector<Offered> offered;
  for (const auto& entry : all_commands()) {
    auto* const one = app.add_subcommand(entry.name, entry.summary);
    auto command = entry.make();
    command->add_options(*one);
    offered.push_back({one, std::move(command)});
  }
  try {
    app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::CallForHelp&) {
    const auto asked = app.get_subcommands();
    say(STDOUT_FILENO, (asked.empty() ? &app : asked.front())->help());
    return kOk;
  } catch (const CLI::CallForVersion& version) {
    say(STDOUT_FILENO, std::string(version.what()) + "\n");
    return kOk;
  } catch (const CLI::ParseError& error) {
    const auto asked = app.get_subcommands();
    const std::string command = asked.empty() ? "" : " " + asked.front()->get_name();
    tell(std::string(error.what()) + "; try sonicreport" + command + " --help");
    return kUnusable;
  }
  for (const auto& one : offered) {
    if (!one.app->parsed()) continue;
    auto status = one.command->run();
    if (status) return *status;
    tell(status.error().message());
    return kUnusable;
  }
  return kUnusable;
}

} // namespace sonictrace::sonicreport
