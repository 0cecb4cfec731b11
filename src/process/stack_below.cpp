#include "process/stack_below.hpp"

#include "sonictrace/process/mappings.hpp"

namespace sonictrace {
namespace {

constexpr std::uint64_t kRedZone = 128; // psABI 3.2.2

bool has_room(const Mapping& mapping, TraceeAddress below, std::uint64_t size) {
  return mapping.writable && mapping.range.contains(below) &&
         below.value() - mapping.range.begin().value() >= size;
}

/// A C library maps a thread's stack between a guard and the thread's area (%fs), which is at the
/// upper end of the same mapping.
bool is_stack_of_thread(const Mapping& mapping, TraceeAddress area, const AddressSpace& space) {
  constexpr std::int64_t kMostArea = 128 * 1024; // with its thread-local variables
  if (!mapping.range.contains(area) || mapping.range.end() - area > kMostArea) return false;
  const auto guard = space.mapping_at(mapping.range.begin() + -1);
  return guard && !guard->writable && !guard->executable && guard->inode == 0;
}

std::optional<Mapping> first_stack(pid_t pid) {
  const auto mappings = read_mappings(pid);
  if (!mappings) return std::nullopt;
  for (const Mapping& mapping : *mappings)
    if (mapping.path == "[stack]") return mapping;
  return std::nullopt;
}

} // namespace

// A thread may run elsewhere: on a coroutine's, a goroutine's or an alternate stack, which can be
// small, with somebody else's memory beneath. Then the first thread has its stack from the kernel,
// whose lower end is used least; the others have nothing that could be told for sure.
std::optional<TraceeAddress> find_room_below_stack(const AddressSpace& space, pid_t tid,
                                                   const Registers& registers, std::uint64_t size) {
  const TraceeAddress below = registers.sp() + -static_cast<std::int64_t>(kRedZone);
  const TraceeAddress area(registers.raw().fs_base);
  const bool is_first = tid == space.pid();
  const auto here = space.mapping_at(below);
  if (here && (here->path == "[stack]" ||
               (!is_first && below < area && is_stack_of_thread(*here, area, space))))
    return has_room(*here, below, size) ? std::optional(below) : std::nullopt;

  const auto stack = is_first ? first_stack(tid) : std::nullopt;
  if (!stack || stack->range.size() < 4 * size) return std::nullopt;
  return stack->range.begin() + static_cast<std::int64_t>(size);
}

} // namespace sonictrace
