#pragma once

#include <string>

#include "sonictrace/log/log_reader.hpp"
#include "sonictrace/report/call_filter.hpp"

namespace sonictrace::report {

/// What was read and what was not used, for people: every number that is not in a table.
std::string footer(const log::Accounting& account);
/// `filtered: N calls, T s`; empty where there are none.
std::string footer(const FilterTally& tally);

} // namespace sonictrace::report
