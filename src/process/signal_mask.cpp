#include "sonictrace/process/signal_mask.hpp"

#include <sys/ptrace.h>

namespace sonictrace {
namespace {

// Not in glibc 2.36's enum of requests.
constexpr auto kGetSignalMask = static_cast<__ptrace_request>(0x420a);
constexpr auto kSetSignalMask = static_cast<__ptrace_request>(0x420b);

} // namespace

std::optional<std::uint64_t> signal_mask(pid_t tid) {
  std::uint64_t mask = 0;
  if (::ptrace(kGetSignalMask, tid, sizeof mask, &mask) < 0) return std::nullopt;
  return mask;
}

bool set_signal_mask(pid_t tid, std::uint64_t mask) {
  return ::ptrace(kSetSignalMask, tid, sizeof mask, &mask) == 0;
}

} // namespace sonictrace
