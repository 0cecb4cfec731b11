#pragma once

// Of words that are recorded as they are: which of them lead to something. See Site::probed_words.

#include "agent/safe_memory.hpp"

namespace sonictrace::agent {

struct ProbedWords {
  std::uint32_t readable; ///< lead to a byte that can be read; a bit for each
  std::uint32_t unknown;  ///< the page has to be asked for: see ask_for
};

/// What can be told of the words in `asked` without asking the kernel. Calls nothing.
inline ProbedWords probe(const AgentBlock& block, const std::uint64_t* words, std::uint32_t asked,
                         std::uint64_t page_time) {
  ProbedWords found = {0, 0};
  for (; asked != 0; asked &= asked - 1) {
    const std::uint64_t word = words[__builtin_ctz(asked)];
    if (is_no_address(word)) continue;
    const std::uint64_t page = word / kPage;
    const std::uint32_t bit = asked & -asked;
    if (block.pages[page % kPageCache] == (page | page_time)) [[likely]]
      found.readable |= bit;
    else
      found.unknown |= bit;
  }
  return found;
}

/// The words in `asked` that lead somewhere. The time must have been told to forget_old_pages.
inline std::uint32_t ask_for(AgentBlock& block, const std::uint64_t* words, std::uint32_t asked) {
  std::uint32_t readable = 0;
  for (; asked != 0; asked &= asked - 1)
    if (SafeMemory(block).has_byte_at(words[__builtin_ctz(asked)])) readable |= asked & -asked;
  return readable;
}

} // namespace sonictrace::agent
