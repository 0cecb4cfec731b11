#include "engine/inline/arena.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace sonictrace {

using wire::ArenaLayout;

Result<std::shared_ptr<Arena>> Arena::map(const UniqueFd& memory, bool counting) {
  const std::size_t size = counting ? ArenaLayout::kEndWithCounts : ArenaLayout::kEnd;
  // Our own descriptor: the caller's may be the process's, or closed as soon as it has mapped it.
  UniqueFd own(::fcntl(memory.get(), F_DUPFD_CLOEXEC, 0));
  if (!own) return Error::from_errno("the memory shared with the agent");
  if (::ftruncate(own.get(), static_cast<off_t>(size)) < 0)
    return Error::from_errno("ftruncate of the memory shared with the agent");
  // A process that makes it smaller would have us die of SIGBUS. Refused (EPERM) where the memfd
  // was made without MFD_ALLOW_SEALING, which is a matter of who made it.
  (void)::fcntl(own.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  void* const at =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, own.get(), 0);
  if (at == MAP_FAILED) return Error::from_errno("mmap of the memory shared with the agent");
  (void)::madvise(at, size, MADV_DONTDUMP); // a core of ours shall not hold tens of gigabytes
  return std::shared_ptr<Arena>(
      new Arena(static_cast<std::byte*>(at), size, counting, std::move(own)));
}

Arena::~Arena() { ::munmap(bytes_, size_); }

void Arena::release_ring(std::uint32_t index) {
  const auto punch = [this](std::uint64_t from, std::uint64_t size) {
    // Where that fails the memory stays taken, which harms nobody but for its size.
    (void)::fallocate(memory_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                      static_cast<off_t>(from), static_cast<off_t>(size));
  };
  punch(ArenaLayout::kRings + std::uint64_t{index} * wire::kRingStride, wire::kRingStride);
  if (counting_)
    punch(ArenaLayout::kCounts + std::uint64_t{index} * wire::kCountsStride, wire::kCountsStride);
}

} // namespace sonictrace
