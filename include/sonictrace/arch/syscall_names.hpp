#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sonictrace/arch/machine.hpp"

namespace sonictrace {

/// The name of a system call by its number, of a 64-bit program or of one of i386 (a 64-bit program
/// makes calls of i386 by `int 0x80`). Empty where no such call is known.
std::string_view known_syscall(Machine machine, std::uint64_t number);

/// The same; `syscall_0x1ff` where none is known.
std::string syscall_name(Machine machine, std::uint64_t number);

/// As ltrace 0.7.3 names it, without its `SYS_`: the bare number where its own table has ended.
std::string ltrace_syscall_name(Machine machine, std::uint64_t number);

} // namespace sonictrace
