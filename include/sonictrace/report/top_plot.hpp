#pragma once

#include <cstddef>
#include <string>

#include "sonictrace/report/top.hpp"

namespace sonictrace::report {

/// Bars of block characters, no line longer than `columns` (but 50 at least): self time, or calls
/// where it is sorted by them or no call has a time.
std::string top_plot(const Top& top, std::size_t limit, unsigned columns);

} // namespace sonictrace::report
