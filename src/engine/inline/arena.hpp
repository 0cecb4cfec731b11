#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "sonictrace/base/result.hpp"
#include "sonictrace/base/unique_fd.hpp"
#include "sonictrace/wire/agent_abi.hpp"

namespace sonictrace {

/// The memory that a traced process and the tracer share (wire::ArenaLayout), as the tracer maps
/// it. The process may write to all of it at any time: each value is read once, and checked before
/// it is used as an index, a size or an address.
class Arena {
public:
  /// `memory`: the memfd. Makes it large enough; pages are taken when they are touched.
  static Result<std::shared_ptr<Arena>> map(const UniqueFd& memory, bool counting);
  Arena(const Arena&) = delete;
  ~Arena();

  std::size_t size() const { return size_; }
  bool is_counting() const { return counting_; }
  /// The memfd, for lseek(2) with SEEK_DATA: to look at a page that nobody has touched makes one.
  int memory() const { return memory_.get(); }
  std::size_t max_rings() const { return counting_ ? wire::kMaxCountingRings : wire::kMaxRings; }

  wire::SharedControl& control() const { return *at<wire::SharedControl>(0); }
  /// `index` below max_rings(), here and below.
  wire::RingHeader& ring(std::uint32_t index) const {
    return at<wire::RingHeader>(wire::ArenaLayout::kRingHeaders)[index];
  }
  std::byte* ring_data(std::uint32_t index) const {
    return bytes_ + wire::ArenaLayout::kRings + std::uint64_t{index} * wire::kRingStride;
  }
  /// `pool` below kMaxPools.
  wire::PoolInfo& pool(std::uint32_t pool) const {
    return at<wire::PoolInfo>(wire::ArenaLayout::kPools)[pool];
  }
  /// The open call of entry `entry` (below kEntriesOfPool) of a pool.
  wire::OpenCall& open_call(std::uint32_t pool, std::uint32_t entry) const {
    const std::uint64_t group = pool / wire::kPoolsOfGroup;
    const std::uint64_t in_group =
        (pool % wire::kPoolsOfGroup) * wire::kEntriesOfPool + std::uint64_t{entry};
    // The entries of a group lie behind its code.
    const std::uint64_t distance =
        group * wire::kGroupStride + wire::kGroupCode + in_group * sizeof(wire::AgentEntry);
    return *at<wire::OpenCall>(wire::ArenaLayout::kOpenCalls + distance * 4);
  }
  std::uint8_t* function_flags() const {
    return at<std::uint8_t>(wire::ArenaLayout::kFunctionFlags);
  }
  /// `index` below kMaxFunctions.
  const wire::BoundFunction& bound_function(std::uint32_t index) const {
    return at<wire::BoundFunction>(wire::ArenaLayout::kBoundFunctions)[index];
  }
  /// Of a counting arena.
  wire::CallCount* counts(std::uint32_t ring) const {
    return at<wire::CallCount>(wire::ArenaLayout::kCounts + ring * wire::kCountsStride);
  }
  wire::CallHistogram* histograms(std::uint32_t ring) const {
    return at<wire::CallHistogram>(wire::ArenaLayout::kCounts + ring * wire::kCountsStride +
                                   wire::kMaxFunctions * sizeof(wire::CallCount));
  }
  /// Gives the memory of a ring, whose thread is gone and which was read to its end, back to the
  /// system.
  void release_ring(std::uint32_t index);

private:
  Arena(std::byte* bytes, std::size_t size, bool counting, UniqueFd memory)
      : bytes_(bytes), size_(size), counting_(counting), memory_(std::move(memory)) {}

  template <class T>
  T* at(std::uint64_t offset) const {
    return reinterpret_cast<T*>(bytes_ + offset);
  }

  std::byte* bytes_;
  std::size_t size_;
  bool counting_;
  UniqueFd memory_;
};

} // namespace sonictrace
