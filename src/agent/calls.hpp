#pragma once

// What both ways of dealing with a call have in common: the short one, of most calls, and the one
// of all.

#include "agent/capture_call.hpp"

namespace sonictrace::agent {

/// Where entry.S goes on, and how: see there.
struct Onward {
  std::uint64_t target;
  std::uint64_t how;
};
constexpr std::uint64_t kAsItIs = 0, kThroughThunk = 1;

inline std::uint64_t target_of(const Site& site) {
  return *reinterpret_cast<const std::uint64_t*>(site.slot);
}

inline std::uint64_t slot_of(const EntryFrame& frame) {
  return reinterpret_cast<std::uint64_t>(&frame.return_address);
}

/// Functions to be treated apart.
constexpr std::uint32_t kSitesApart = kSiteForbids | kSiteFiltered | kSiteCatches | kSiteJumps |
                                      kSiteSilent | kSiteNoReturn | kSiteLooksAtCaller;

/// From when it began, without what we have spent on calls that it has made.
inline std::uint64_t duration_of(const AgentBlock& block, const AgentEntry& entry,
                                 std::uint64_t end) {
  const std::uint64_t gross = end - entry.begin;
  const std::uint64_t own = block.own - entry.own + control().inside_ticks;
  return static_cast<std::int64_t>(gross) > 0 && gross > own ? gross - own : 0;
}

/// The newest of the open ones. A signal handler may drop the one before it at any moment, when
/// that has ended on another thread.
inline void put_on_top(AgentBlock& block, AgentEntry& entry) {
  do
    entry.previous = block.top;
  while (!exchange_on_this_thread(block.top, entry.previous, &entry));
}

/// Whether a call is left out which begins now. A call that is open has its own depth.
inline bool is_too_deep(const AgentBlock& block) {
  return control().max_depth != 0 && block.depth >= control().max_depth;
}

/// Too frequent and too short to be written, of those that are to be written as a whole.
inline bool is_to_be_counted(const AgentBlock& block, const Site& site, std::uint64_t ticks) {
  return ticks < control().thin_ticks && block.counts != 0 &&
         (function_flags()[site.function % kMaxFunctions] & kFunctionThinned) != 0;
}

/// Has nobody told yet where the function's slot leads when it is bound?
inline bool is_target_awaited(const Site& site) {
  return (function_flags()[site.function % kMaxFunctions] & kFunctionAwaited) != 0;
}

/// Any call's begin.
Onward enter_any(EntryFrame& frame, const Site& site, AgentBlock& block);
/// Any call's return. `block` may be null.
void leave_any(const ExitFrame& frame, AgentEntry& entry, AgentBlock* block);
/// The same, when the clock was read.
void leave_at(const ExitFrame& frame, AgentEntry& entry, AgentBlock& block, std::uint64_t time);
/// The same, when the entry is no longer the newest.
void end_at(const ExitFrame& frame, AgentEntry& entry, AgentBlock& block, std::uint64_t time);

} // namespace sonictrace::agent
