#pragma once

// Runs the capture plans of a call inside the process that makes it.

#include "agent/safe_memory.hpp"

namespace sonictrace::agent {

/// What entry.S has pushed; see there.
struct EntryFrame {
  std::uint64_t words[kEntryWords];
  std::uint64_t static_chain;
  std::uint64_t rax;
  std::uint64_t r11;
  std::uint64_t return_address;
};
static_assert(sizeof(EntryFrame) == 144);

struct ExitFrame {
  std::uint64_t results[2]; ///< rax rdx
  std::uint64_t vectors[2]; ///< xmm0 xmm1
  std::uint64_t x87[2];
  std::uint64_t unused;
  std::uint64_t return_address;
};
static_assert(sizeof(ExitFrame) == 64);

/// A variadic call says in al how many vector registers it uses (psABI 3.5.7).
inline void clear_unused_vectors(EntryFrame& frame, const Site& site) {
  const bool has_vectors = (site.flags & kSiteVectors) != 0;
  const bool unused = (site.flags & kSiteVectorsByAl) != 0 && (frame.rax & 0xff) == 0;
  if (has_vectors && !unused) return;
  for (std::size_t i = kVectorWordsAt / 8; i < kEntryWords; ++i)
    frame.words[i] = 0;
}

/// Bytes of the words that a site's plan looks at, where it looks at nothing else.
inline std::uint32_t word_bytes_of_entry(const Site& site) {
  return (site.flags & kSiteVectors) != 0 ? kStackWordsAt : site.entry_words * 8U;
}
inline std::uint32_t word_bytes_of_return(const Site& site) {
  return (site.flags & kSiteResultVectors) != 0 ? kResultX87At : site.result_words * 8U;
}

inline void copy_words(std::byte* to, const std::uint64_t* from, std::size_t bytes) {
  auto* const words = reinterpret_cast<std::uint64_t*>(to);
  for (std::size_t i = 0; i < bytes / 8; ++i)
    words[i] = from[i];
}

struct Captured {
  std::size_t size = 0;
  bool is_cut = false; ///< there was no room for all of it
};

Captured capture_entry(AgentBlock& block, const EntryFrame& frame, const Site& site, std::byte* out,
                       std::size_t room);
/// `kept`: words of the entry; `stack`: of its first stack argument.
Captured capture_return(AgentBlock& block, const ExitFrame& frame, const Site& site,
                        const std::uint64_t* kept, std::size_t kept_words, std::uint64_t stack,
                        std::byte* out, std::size_t room);

} // namespace sonictrace::agent
