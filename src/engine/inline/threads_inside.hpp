#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sonictrace/base/address_range.hpp"
#include "sonictrace/process/address_space.hpp"

namespace sonictrace {

/// Whether a thread of the process, all of which are stopped, is in one of `code`, or will be when
/// a signal's handler returns there; also where that can't be told. Of frames that have called out
/// of there, and of contexts that are kept elsewhere (swapcontext(3)), it knows nothing.
bool is_anyone_inside(const AddressSpace& space, const std::vector<Mapping>& mappings,
                      std::span<const AddressRange> code);

/// Whether a stopped thread's stack holds an address within `what`, and it is, or was of late, in
/// one of `code`; also where that can't be told.
bool may_anyone_know(const AddressSpace& space, const std::vector<Mapping>& mappings,
                     AddressRange what, std::span<const AddressRange> code);

/// A signal frame among the words of a stack, as the kernel makes them (struct sigcontext,
/// arch/x86/include/uapi/asm/sigcontext.h).
struct InterruptedAt {
  TraceeAddress pc, sp;
};
/// All that look like one.
std::vector<InterruptedAt> find_signal_frames(std::span<const std::uint64_t> stack);

/// Where a stopped thread is, by /proc/TID/syscall (proc(5)): its lines for one that is in no
/// system call, and in one. `calls`: the system call, or -1.
struct StoppedAt {
  long call;
  TraceeAddress sp, pc;
  bool operator==(const StoppedAt&) const = default;
};
std::optional<StoppedAt> parse_stopped_at(std::string_view line);

} // namespace sonictrace
