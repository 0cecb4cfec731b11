#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sink/histogram.hpp"

namespace sonictrace {

/// What -c counts of one function.
struct CallCount {
  std::uint64_t calls = 0;
  std::uint64_t time_ns = 0; ///< nested calls included
  Histogram times;           ///< empty where no percentiles are asked for
};

/// A row of the table that -c prints.
struct CallRow {
  std::string name;
  const CallCount* count = nullptr;
};

/// The longest time first; at equal times the most calls, then by name.
void sort_rows(std::vector<CallRow>& rows);

/// ltrace's table, with a column for each percentile behind `calls` if they are asked for. Times
/// are cut to microseconds, as ltrace cuts them.
void append_table(std::string& out, const std::vector<CallRow>& sorted, bool percentiles);

} // namespace sonictrace
