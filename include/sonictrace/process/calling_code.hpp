#pragma once

#include <array>
#include <cstddef>

#include "sonictrace/base/result.hpp"
#include "sonictrace/process/tracee_memory.hpp"

namespace sonictrace {

/// Where a tracee makes system calls for us.
struct CallingCode {
  enum class Kind {
    Bare,  ///< some `syscall` instruction; who is left behind it is lost
    Whole, ///< kCallingCode is there
    Slack, ///< is to be put there for the time of a call, and taken out again: nothing is there
  };
  TraceeAddress at;
  Kind kind = Kind::Bare;
};

/// A system call, and the return from a signal handler.
inline constexpr std::array<std::byte, 11> kCallingCode = {
    std::byte{0x0f}, std::byte{0x05}, // syscall
    std::byte{0xb8}, std::byte{0x0f}, std::byte{0x00},
    std::byte{0x00}, std::byte{0x00}, // mov $15,%eax
    std::byte{0x0f}, std::byte{0x05}, // syscall
    std::byte{0x0f}, std::byte{0x0b}, // ud2
};
constexpr std::int64_t kBehindCall = 2; ///< bytes

/// In what is left of the last page of some code (of a module, or the vdso), if there is any; else
/// a `syscall` instruction wherever one is. `pid`: a thread of the process.
Result<CallingCode> find_calling_code(pid_t pid, const TraceeMemory& memory);

} // namespace sonictrace
