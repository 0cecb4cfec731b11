#include "cli/explain.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "sonictrace/session/explain.hpp"

namespace sonictrace {

int explain(const SessionOptions& options) {
  const auto explained = explain_session(options);
  if (const auto* failed = std::get_if<StartFailure>(&explained)) {
    fmt::print(stderr, "sonictrace: {}\n", failed->error.message());
    return failed->exit_status;
  }
  const auto& explanation = std::get<Explanation>(explained);
  fmt::print("{:>9} {:>9} {:>9} {:>9}\n", "functions", "of these", "probes", "functions");
  fmt::print("{:>9} {:>9} {:>9} {:>9}  {}\n", "it calls", "traced", "for them", "by -x", "module");
  for (const auto& module : explanation.modules) {
    fmt::print("{:>9} {:>9} {:>9} {:>9}  {}", module.imports, module.calls,
               module.sites + module.hoisted, module.entries, module.path);
    if (module.hoisted > 0)
      fmt::print(" ({} seen at the called function's entry)", module.hoisted);
    if (!module.skipped.empty()) fmt::print(": {}", module.skipped);
    else if (!module.left_out.empty()) fmt::print(" (not {})", module.left_out);
    fmt::print("\n");
  }
  for (const auto& note : explanation.notes)
    fmt::print("sonictrace: {}\n", note);
  return 0;
}

} // namespace sonictrace
