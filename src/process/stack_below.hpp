#pragma once

#include <optional>

#include "sonictrace/arch/registers.hpp"
#include "sonictrace/process/address_space.hpp"

namespace sonictrace {

/// Memory that a thread's stack may grow into, and that nobody uses: what is put there has to end
/// at or below the address that is returned, and there are `size` bytes. Nothing where there are
/// not.
std::optional<TraceeAddress> find_room_below_stack(const AddressSpace& space, pid_t tid,
                                                   const Registers& registers, std::uint64_t size);

} // namespace sonictrace
