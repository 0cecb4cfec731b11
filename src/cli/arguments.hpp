#pragma once

#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sonictrace {

/// A command line cut into options and the command to run, as getopt_long(3) with `+` does it:
/// short options may be glued, long ones shortened, and the first argument that is no option
/// begins the command, whose own options are not looked at.
struct Arguments {
  enum class Fault { None, UnknownOption, AmbiguousOption, ValueMissing, ValueNotAllowed };

  /// Every option by a name that CLI11 knows, each value in an element of its own.
  std::vector<std::string> options;
  std::vector<std::string> command;
  Fault fault = Fault::None;
  std::string faulty;                     ///< the option it is about, dashes included
  std::vector<std::string> possibilities; ///< of an ambiguous one

  /// `app` says which options there are and which take a value; a flag with a type name takes one
  /// only behind `=`. Stops at the first fault, and behind -h and -V: then nothing else counts.
  static Arguments split(const CLI::App& app, std::span<const char* const> arguments);
};

/// What --help prints, in lines of at most 80 columns: the options by group, in their order.
std::string options_text(const CLI::App& app);

} // namespace sonictrace
