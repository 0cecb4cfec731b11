#pragma once

#include <cstdint>
#include <string>

#include "sonictrace/log/line.hpp"

namespace sonictrace::report {

/// A time of a log as its lines have it: `14:23:07.410000`, `1796009218.757446`, `0.000270`; with
/// the digits that the log has.
std::string format_log_time(std::uint64_t time_ns, log::Clock clock, unsigned fraction_digits);

/// `70.000 ms`: milliseconds, as exact as times with so many digits are.
std::string format_milliseconds(std::uint64_t ns, unsigned fraction_digits);

} // namespace sonictrace::report
