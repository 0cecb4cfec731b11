#include "process/stack_below.hpp"

#include "sonictrace/process/mappings.hpp"

namespace sonictrace {
namespace {

constexpr std::uint64_t kRedZone = 128; // psABI 3.2.2

bool has_room(const Mapping& mapping, TraceeAddress below, std::uint64_t size) {
  return mapping.writable && mapping.range.contains(below) &&
         below.value() - mapping.range.begin().value() >= size;
}

} // namespace

// A C library puts a thread's area (%fs) at the upper end of its stack, so that both are in one
// mapping; the first thread has the stack that the kernel has made. A thread that runs elsewhere (a
// coroutine, an alternate stack, a goroutine) may have little room below, and somebody else's
// memory beneath: there the lower end of its real stack is taken, which is used least.
std::optional<TraceeAddress> find_room_below_stack(const AddressSpace& space, pid_t tid,
                                                   const Registers& registers, std::uint64_t size) {
  const TraceeAddress below = registers.sp() + -static_cast<std::int64_t>(kRedZone);
  const TraceeAddress area(registers.raw().fs_base);
  const auto here = space.mapping_at(below);
  const bool is_first = tid == space.pid();
  const bool is_own = here && (here->path == "[stack]" ||
                               (!is_first && here->range.contains(area) && below < area));
  if (is_own) return has_room(*here, below, size) ? std::optional(below) : std::nullopt;

  std::optional<Mapping> real;
  if (!is_first) {
    real = space.mapping_at(area);
  } else if (const auto mappings = read_mappings(tid)) {
    for (const Mapping& mapping : *mappings)
      if (mapping.path == "[stack]") real = mapping;
  }
  if (!real || real->inode != 0 || real->range.size() < 4 * size) return std::nullopt;
  const TraceeAddress at = real->range.begin() + static_cast<std::int64_t>(size);
  return has_room(*real, at, size) ? std::optional(at) : std::nullopt;
}

} // namespace sonictrace
