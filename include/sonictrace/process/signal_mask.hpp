#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace sonictrace {

/// The signals that a stopped tracee blocks: bit N-1 is signal N (PTRACE_GETSIGMASK, ptrace(2)).
/// Nothing when it was killed meanwhile.
std::optional<std::uint64_t> signal_mask(pid_t tid);
bool set_signal_mask(pid_t tid, std::uint64_t mask);

} // namespace sonictrace
