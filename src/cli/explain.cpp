#include "cli/explain.hpp"

#include <fmt/format.h>

#include <string>

#include "cli/ltrace_errors.hpp"
#include "cli/tell.hpp"
#include "sonictrace/session/explain.hpp"

namespace sonictrace {

int explain(const SessionOptions& options) {
  const auto explained = explain_session(options);
  if (const auto* failed = std::get_if<StartFailure>(&explained)) {
    if (options.ltrace)
      print_error(as_ltrace(*failed, options));
    else
      tell(failed->error.message());
    return failed->exit_status;
  }
  const auto& explanation = std::get<Explanation>(explained);
  std::string text =
      fmt::format("{:>9} {:>9} {:>9} {:>9}\n", "functions", "of these", "probes", "functions") +
      fmt::format("{:>9} {:>9} {:>9} {:>9}  {}\n", "it calls", "traced", "for them", "by -x",
                  "module");
  for (const auto& module : explanation.modules) {
    text += fmt::format("{:>9} {:>9} {:>9} {:>9}  {}", module.imports, module.calls,
                        module.sites + module.hoisted, module.entries, module.path);
    if (module.hoisted > 0)
      text += fmt::format(" ({} seen at the called function's entry)", module.hoisted);
    if (!module.skipped.empty())
      text += fmt::format(": {}", module.skipped);
    else if (!module.left_out.empty())
      text += fmt::format(" (not {})", module.left_out);
    text += '\n';
  }
  for (const auto& note : explanation.notes)
    text += fmt::format("sonictrace: {}\n", note);
  print(text);
  return 0;
}

} // namespace sonictrace
