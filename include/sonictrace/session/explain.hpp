#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "sonictrace/session/session.hpp"
#include "sonictrace/session/session_options.hpp"

namespace sonictrace {

/// What would be traced of one module.
struct ExplainedModule {
  std::string soname;
  std::string path;
  std::size_t imports = 0; ///< functions that it may call in other modules
  std::size_t calls = 0;   ///< of these, chosen
  std::size_t sites = 0;   ///< instructions that would be watched for them
  std::size_t hoisted = 0; ///< of the chosen, those seen at the callee's entry
  std::size_t entries = 0; ///< functions of its own, chosen by -x
  std::string left_out;    ///< functions that are never traced by default, by name
  std::string skipped;     ///< why none of its calls are; empty: they are looked at
};

struct Explanation {
  std::vector<ExplainedModule> modules;
  std::vector<std::string> notes; ///< selectors without a match, modules that can't be read, ...
};

/// Of the modules that a command begins with (those that it loads by dlopen are not known before it
/// runs), or that a process has. Runs no program: the command's own dynamic linker lists what it
/// would load (ld.so(8), --list).
/// Fails as Session::start would.
std::variant<Explanation, StartFailure> explain_session(const SessionOptions& options);

} // namespace sonictrace
