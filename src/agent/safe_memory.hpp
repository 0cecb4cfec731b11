#pragma once

// The tracee's own memory, for the capture interpreter: a wild pointer must cost it nothing.

#include "agent/machine.hpp"

namespace sonictrace::agent {

extern "C" AGENT_HIDDEN std::size_t agent_copy(void* to, const void* from, std::size_t size);

constexpr std::uint64_t kPage = 4096;

/// Where no program has anything.
constexpr bool is_no_address(std::uint64_t word) {
  constexpr std::uint64_t kUserEnd = std::uint64_t{1} << 47;
  return word - kPage >= kUserEnd - kPage;
}

// Pages may have been unmapped since they were seen. What happens then is repaired by the tracer
// (a fault in agent_copy), but it costs, and not all that is known of a page is looked at again: so
// nothing is believed for longer than a millisecond.

/// AgentBlock::page_time
inline std::uint64_t page_time_of(std::uint64_t ticks) {
  const std::uint64_t millisecond = ticks >> control().page_time_shift;
  return millisecond << (kPageTimeAt + 1) >> 1;
}
static_assert(std::uint64_t{1} << 47 >> 12 < std::uint64_t{1} << kPageTimeAt);

inline void forget_old_pages(AgentBlock& block, std::uint64_t ticks) {
  block.page_time = page_time_of(ticks);
}

inline std::uint64_t& cached_page(AgentBlock& block, std::uint64_t address) {
  return block.pages[address / kPage % kPageCache];
}

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
      if (agent_copy(into + done, reinterpret_cast<const void*>(at), piece) != piece) {
        cached_page(block_, at) = 0;
        break;
      }
      done += piece;
    }
    return done;
  }

  bool read_word(std::uint64_t address, std::uint64_t& word) {
    return read(address, reinterpret_cast<std::byte*>(&word), sizeof word) == sizeof word;
  }

  bool has_byte_at(std::uint64_t address) {
    std::byte byte;
    return read(address, &byte, 1) == 1;
  }

private:
  bool is_readable(std::uint64_t address) {
    if (is_no_address(address)) return false;
    const std::uint64_t page = address / kPage;
    std::uint64_t& known = cached_page(block_, address);
    const std::uint64_t now_known = page | block_.page_time;
    if (known == now_known) return true;
    // Without system calls it is tried: the tracer repairs what goes wrong.
    if (may_make_calls() && !probe(page * kPage)) return false;
    known = now_known;
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

} // namespace sonictrace::agent
