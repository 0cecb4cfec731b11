#include "engine/inline/agent_threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace sonictrace {
namespace {

using wire::ThreadSlot;

std::int64_t offset_of_slot(std::size_t slot) {
  return static_cast<std::int64_t>(wire::AgentPrivate::kThreadsAt +
                                   slot % wire::kThreadSlots * sizeof(ThreadSlot));
}

} // namespace

Result<AgentThreads::Found> AgentThreads::look_for(std::uint64_t key) const {
  if (key < 4096) // and no mark of the table's
    return Error(std::errc::invalid_argument, "a thread without a thread area");
  const std::size_t home = wire::thread_slot_of(key);
  std::optional<Found> free;
  std::array<ThreadSlot, 16> slots{}; // nearly always the first one is it
  for (std::size_t probe = 0; probe < wire::kThreadProbes;) {
    const std::size_t first = (home + probe) % wire::kThreadSlots;
    const std::size_t count =
        std::min({slots.size(), wire::kThreadProbes - probe, wire::kThreadSlots - first});
    const auto piece = std::span(slots).first(count);
    const TraceeAddress at = private_ + offset_of_slot(first);
    if (auto read = space_->memory().read(at, std::as_writable_bytes(piece)); !read)
      return std::move(read).error();
    for (const ThreadSlot& slot : piece) {
      const auto here = at + (&slot - slots.data()) * static_cast<std::int64_t>(sizeof slot);
      if (slot.key == key) return Found{here, true, slot.block};
      if (slot.key == 0) return free ? *free : Found{here};
      if (slot.key == wire::kTombstone && !free) free = Found{here};
    }
    probe += count;
  }
  if (free) return *free;
  return Error(std::errc::no_buffer_space, fmt::format("thread table of {}", space_->pid()));
}

Result<std::optional<TraceeAddress>> AgentThreads::find(std::uint64_t key) const {
  const auto found = look_for(key);
  if (!found && found.error().is(std::errc::no_buffer_space)) return std::optional<TraceeAddress>();
  if (!found) return found.error();
  if (!found->is_there) return std::optional<TraceeAddress>();
  return std::optional(TraceeAddress(found->block));
}

// Another thread may take the same free slot between our look and our write. It marks the slot
// first, then writes block and key, as we do but for the mark: whoever writes last has it, and the
// other one sees that it has not (the agent at its next call, which looks for its own key).
Result<std::optional<TraceeAddress>> AgentThreads::enter(std::uint64_t key,
                                                         std::uint64_t block) const {
  constexpr int kTrials = 8;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto found = look_for(key);
    if (!found) return found.error();
    constexpr std::int64_t kBlock = offsetof(ThreadSlot, block);
    const auto& memory = space_->memory();
    if (auto done = memory.write_word(found->at + kBlock, block); !done)
      return std::move(done).error();
    if (found->is_there) return std::optional(TraceeAddress(found->block));
    if (auto done = memory.write_word(found->at, key); !done) return std::move(done).error();
    ThreadSlot now{};
    if (auto done = memory.read(found->at, std::as_writable_bytes(std::span(&now, 1))); !done)
      return std::move(done).error();
    if (now.key == key && now.block == block) return std::optional<TraceeAddress>();
  }
  return Error(std::errc::resource_unavailable_try_again,
               fmt::format("thread table of {}", space_->pid()));
}

Result<std::optional<TraceeAddress>> AgentThreads::mute(std::uint64_t key) const {
  return enter(key, private_.value() + wire::AgentPrivate::kMuteBlockAt);
}

Result<void> AgentThreads::restore(std::uint64_t key, TraceeAddress block) const {
  auto entered = enter(key, block.value());
  if (!entered) return std::move(entered).error();
  return {};
}

Result<void> AgentThreads::forget(std::uint64_t key) const {
  const auto found = look_for(key);
  if (!found || !found->is_there) return {};
  return space_->memory().write_word(found->at, wire::kTombstone);
}

Result<void> AgentThreads::announce(std::uint64_t key, pid_t tid) const {
  auto entered = enter(key | wire::kAnnounced, static_cast<std::uint64_t>(tid));
  if (!entered) return std::move(entered).error();
  return {};
}

} // namespace sonictrace
