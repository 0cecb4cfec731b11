#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sonictrace/report/fingerprint.hpp"
#include "sonictrace/report/table.hpp"

namespace sonictrace::report {

/// One version in a trend.
struct Version {
  std::string label; ///< a parameter, or the name of the file
  Fingerprint fingerprint;
};

struct TrendOptions {
  /// Columns of functions: those with the most time over all versions, or, where no version has
  /// times, with the most calls.
  std::size_t functions = 3;
  bool per_call = false; ///< the time of one call in place of that of a run
};

/// One row for each version, in their order: runs, calls, system calls, wall, and for each of the
/// key functions its calls and its time, with the change against the version before.
Table trend_table(const std::vector<Version>& versions, const TrendOptions& options);

} // namespace sonictrace::report
