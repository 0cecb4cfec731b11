#pragma once

// The tracee's own memory, for the capture interpreter: a wild pointer must cost it nothing.

#include "agent/machine.hpp"

namespace sonictrace::agent {

extern "C" AGENT_HIDDEN std::size_t agent_copy(void* to, const void* from, std::size_t size);

class SafeMemory {
public:
  explicit SafeMemory(AgentBlock& block) : block_(block) {}

  std::size_t read(std::uint64_t address, std::byte* into, std::size_t size) {
    std::size_t done = 0;
    while (done < size) {
      const std::uint64_t at = address + done;
      if (at < address || !is_readable(at)) break;
      const std::size_t in_page = kPage - at % kPage;
      const std::size_t piece = in_page < size - done ? in_page : size - done;
      if (agent_copy(into + done, reinterpret_cast<const void*>(at), piece) != piece) break;
      done += piece;
    }
    return done;
  }

  bool read_word(std::uint64_t address, std::uint64_t& word) {
    return read(address, reinterpret_cast<std::byte*>(&word), sizeof word) == sizeof word;
  }

private:
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::uint64_t kUserEnd = std::uint64_t{1} << 47;

  bool is_readable(std::uint64_t address) {
    if (address < kPage || address >= kUserEnd) return false;
    const std::uint64_t page = address / kPage;
    std::uint64_t& known = block_.pages[page % kPageCache];
    if (known == page) return true;
    // Without system calls it is tried: the tracer repairs what goes wrong.
    if (may_make_calls() && !probe(page * kPage)) return false;
    known = page;
    return true;
  }

  /// The kernel copies the set before it looks at the first argument: EFAULT where it can't, EINVAL
  /// where it could (kernel/signal.c, rt_sigprocmask). Nothing is changed.
  static bool probe(std::uint64_t address) {
    constexpr std::uint64_t kNoSuchAction = 99;
    constexpr long kFault = -14;
    return system_call(number::kRtSigprocmask, kNoSuchAction, address, 0, 8) != kFault;
  }

  AgentBlock& block_;
};

/// Pages may have been unmapped since they were seen. What happens then is repaired by the tracer
/// (a fault in agent_copy), but it costs: so nothing is believed for longer than a millisecond.
inline void forget_old_pages(AgentBlock& block, std::uint64_t time) {
  const std::uint64_t millisecond = control().heartbeat_ticks / 2000;
  if (time - block.cache_time < millisecond) return;
  block.cache_time = time;
  for (auto& page : block.pages)
    page = 0;
}

} // namespace sonictrace::agent
