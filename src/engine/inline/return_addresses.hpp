#pragma once

#include <cstdint>
#include <span>

#include "sonictrace/base/address_range.hpp"
#include "sonictrace/process/tracee_memory.hpp"

namespace sonictrace {

/// Open calls return to their callers again, past the thunks: who will unwind them finds nobody any
/// more who knows thunks. `region`: of the thunks. `used`: how many entries of each pool, from
/// `first_pool` on, were taken. No thread of the process runs.
void give_back_return_addresses(const TraceeMemory& memory, AddressRange region,
                                std::uint32_t first_pool, std::span<const std::uint32_t> used);

} // namespace sonictrace
