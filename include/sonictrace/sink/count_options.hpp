#pragma once

#include <cstdint>
#include <string>

#include "sonictrace/names/demangle.hpp"

namespace sonictrace {

/// How the table of -c looks.
struct CountOptions {
  bool percentiles = false; ///< --percentiles: the columns p50, p90, p99 and max
  std::uint64_t interval_ns =
      0;             ///< --interval: a table of each so long time; 0: only one at the end
  bool json = false; ///< --output-format=json: one object for each table
  DemangleStyle demangle = DemangleStyle::Short;
  std::uint64_t min_time_ns = 0; ///< --min-time: shorter calls are not counted
  unsigned max_depth = 0;        ///< --max-depth: deeper calls are not counted; 0: no limit
  bool ltrace = false;           ///< --ltrace: nothing but its table, `SYS_` before system calls
  bool closing_lines = true;     ///< off with --quiet: nothing but the tables
  std::string banner;            ///< the first line; empty: none
  std::string host;              ///< for json

  bool operator==(const CountOptions&) const = default;
};

} // namespace sonictrace
