#pragma once

#include <cstdint>

namespace sonictrace {

/// What one breakpoint stop costs a tracee besides the time that the tracer holds it, in ns: measured
/// on a child of ours that runs into two hundred of them. The least, so that what is taken off measured
/// times is never too much. 0 where it can't be measured.
std::uint64_t measure_stop_latency();

/// The same of one syscall-stop, of which a system call has two: what they cost besides the system
/// call itself, which is measured untraced.
std::uint64_t measure_syscall_stop_latency();

} // namespace sonictrace
