#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <span>

namespace sonictrace {

/// The verdict (SECCOMP_RET_*) of one seccomp program on one system call. Malformed programs, which
/// the kernel never loads, give SECCOMP_RET_KILL_PROCESS.
std::uint32_t run_seccomp_program(std::span<const sock_filter> program, const seccomp_data& data);

} // namespace sonictrace
