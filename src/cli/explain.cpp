#include "cli/explain.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "sonictrace/session/explain.hpp"

namespace sonictrace {

int explain(const SessionOptions& options) {
  const auto explanation = explain_session(options);
  if (!explanation) {
    fmt::print(stderr, "sonictrace: {}\n", explanation.error().message());
    return 1;
  }
  fmt::print("{:>9} {:>9} {:>7} {:>8}  {}\n", "functions", "of which", "watched", "entries", "");
  fmt::print("{:>9} {:>9} {:>7} {:>8}  {}\n", "it calls", "traced", "places", "(-x)", "module");
  for (const auto& module : explanation->modules) {
    fmt::print("{:>9} {:>9} {:>7} {:>8}  {}", module.imports, module.calls,
               module.sites + module.hoisted, module.entries, module.path);
    if (module.hoisted > 0)
      fmt::print(" ({} seen at the called function's entry)", module.hoisted);
    if (!module.skipped.empty()) fmt::print(": {}", module.skipped);
    fmt::print("\n");
  }
  for (const auto& note : explanation->notes)
    fmt::print("sonictrace: {}\n", note);
  return 0;
}

} // namespace sonictrace
