#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "sonictrace/process/address_space.hpp"
#include "sonictrace/wire/agent_abi.hpp"

namespace sonictrace {

/// The agent's table of threads (wire::ThreadSlot), as the tracer changes it: for one thread, which
/// is stopped, while others may enter themselves. `key` is the thread's %fs:0, which is also its
/// fs_base (psABI, "Thread-Local Storage"); 0 (no thread area yet) is no thread.
class AgentThreads {
public:
  /// `private_data`: the agent's.
  AgentThreads(std::shared_ptr<AddressSpace> space, TraceeAddress private_data)
      : space_(std::move(space)), private_(private_data) {}

  /// The thread's block, if it has one.
  Result<std::optional<TraceeAddress>> find(std::uint64_t key) const;
  /// Nothing is recorded of the thread from now on. Its block, if it had one, is for `restore`.
  Result<std::optional<TraceeAddress>> mute(std::uint64_t key) const;
  /// Gives it its block back, or any other one.
  Result<void> restore(std::uint64_t key, TraceeAddress block) const;
  /// The thread has ended, or is to begin anew.
  Result<void> forget(std::uint64_t key) const;
  /// The thread has not called yet, and has this tid.
  Result<void> announce(std::uint64_t key, pid_t tid) const;

private:
  struct Found {
    TraceeAddress at; ///< of its slot, or of one that is free
    bool is_there = false;
    std::uint64_t block = 0;
  };

  Result<Found> look_for(std::uint64_t key) const;
  Result<std::optional<TraceeAddress>> enter(std::uint64_t key, std::uint64_t block) const;

  std::shared_ptr<AddressSpace> space_;
  TraceeAddress private_;
};

} // namespace sonictrace
