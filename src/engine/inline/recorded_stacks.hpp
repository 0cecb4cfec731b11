#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "engine/backtracer.hpp"
#include "engine/inline/arena.hpp"
#include "engine/inline/known_stacks.hpp"

namespace sonictrace {

/// What is known of a process for the backtraces of its calls.
struct ProcessCode {
  std::shared_ptr<AddressSpace> space;
  OwnCode own;
  std::vector<MappedCode> mapped;
};

/// Makes backtraces of calls that the agent has recorded, out of the stacks that came with them.
/// The processes run on meanwhile, or are gone: what is known of their code is told from outside,
/// in the order of the records. Of the collector's thread.
class RecordedStacks {
public:
  /// `limit`: most frames of a list.
  RecordedStacks(std::size_t limit, FrameSink sink);

  void add(const Arena& arena, ProcessCode code);
  /// Of a process that was added: what has come, and what is there by now.
  void learn(const Arena& arena, std::vector<TraceeAddress> gadgets,
             std::vector<MappedCode> mapped);
  /// The range was unmapped.
  void forget(const Arena& arena, AddressRange range);
  void remove(const Arena& arena);

  /// Ids of FrameDefinitions, innermost first, valid until the next call. `stack`: a
  /// wire::RingStack and what lay on the stack; the process may write to it.
  std::span<const std::uint32_t> frames_of(const Arena& arena, TraceeAddress return_address,
                                           std::span<const std::byte> stack);

private:
  struct Process {
    std::shared_ptr<AddressSpace> space;
    OwnCode own;
  };

  Backtracer backtracer_;
  KnownStacks known_;
  std::map<const Arena*, Process> processes_;
  std::vector<std::uint64_t> copy_;
};

} // namespace sonictrace
