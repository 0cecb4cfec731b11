#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonictrace/base/result.hpp"
#include "sonictrace/log/log_reader.hpp"
#include "sonictrace/log/module_map.hpp"
#include "sonictrace/names/demangle.hpp"
#include "sonictrace/report/call_filter.hpp"

namespace CLI {
class App;
}

namespace sonictrace::sonicreport {

/// The options that every command has. A command has one of these, and calls add_to().
struct CommonOptions {
  std::vector<std::string> logs; ///< paths, `-` is stdin
  std::string format = "text";
  std::string output; ///< empty: stdout
  unsigned jobs = 0;  ///< 0: as many as there are cores
  bool strict = false;
  double min_coverage = 0.99; ///< of the lines that end in a time
  bool demangle = false;

  std::vector<std::string> functions, libraries, excluded;
  std::optional<std::uint32_t> tid;
  std::string one_class, window, min_time, map, max_memory;

  /// `formats`: the values of --format, separated by blanks; empty: there is no --format.
  void add_to(CLI::App& app, const std::string& formats);

  /// Opens a log with --jobs. `keep_arguments`: see log::ReaderOptions.
  Result<log::LogReader> open(const std::string& path, bool keep_arguments = false) const;
  /// The same for who decides about a call when it comes. With --lib, what the log says at its end
  /// about modules is known from the beginning: it is read once more before.
  Result<log::LogReader> open_knowing_modules(const std::string& path,
                                              bool keep_arguments = false) const;
  /// Holds the process to --max-mem from here on. Fails with one line that names the option.
  Result<void> limit_memory() const;
  /// Fails with one line that names the option.
  Result<report::FilterOptions> filter() const;
  DemangleStyle demangle_style() const {
    return demangle ? DemangleStyle::Short : DemangleStyle::None;
  }
  /// Whether people are to read the output: then a footer follows.
  bool is_text() const { return format == "text"; }
  /// With --jobs and --map.
  Result<log::ReaderOptions> reader_options(bool keep_arguments) const;
  /// kPoorCoverage, with a line on stderr, where a log was not read well enough; else `status`.
  int judge(const std::string& name, const log::Accounting& account, int status) const;
  /// To stdout or --output, whole.
  Result<void> write(std::string_view text) const;
};

/// One line on stderr, with the name of the program.
void tell(std::string_view text);

} // namespace sonictrace::sonicreport
