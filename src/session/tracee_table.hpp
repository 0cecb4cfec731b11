#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "session/space_modules.hpp"
#include "sonictrace/process/address_space.hpp"

namespace sonictrace {

/// A process with traced threads.
struct TracedProcess {
  pid_t pid = 0;
  std::shared_ptr<AddressSpace> space;
  /// Shared with a vfork child; null where its program can't be traced (another machine).
  std::shared_ptr<SpaceModules> modules;
  /// Attached only because it shares the memory of a traced process, or until it can be let go:
  /// nothing of it is logged.
  bool silent = false;
  /// To be detached at its first stop: a child that is not followed.
  bool to_be_left = false;
  bool begun = false; ///< its modules are being looked at, or have been
  int threads = 0;
};

struct TraceeThread {
  pid_t tid = 0;
  std::shared_ptr<TracedProcess> process;
  bool started = false; ///< its first stop has been seen
  bool silent = false;  ///< nothing of it is logged, as of its process where that is silent
  /// Where it was last let go, if that was onto a system call that was begun anew.
  std::optional<TraceeAddress> restarted_at;
};

/// The tracees of a session, by tid.
class TraceeTable {
public:
  TraceeThread& add(pid_t tid, std::shared_ptr<TracedProcess> process) {
    remove(tid); // an attach and a birth may both tell of a thread
    ++process->threads;
    auto& thread = threads_[tid];
    thread = {tid, std::move(process), false, false, std::nullopt};
    return thread;
  }
  void remove(pid_t tid) {
    const auto found = threads_.find(tid);
    if (found == threads_.end()) return;
    --found->second.process->threads;
    threads_.erase(found);
  }
  TraceeThread* find(pid_t tid) {
    const auto found = threads_.find(tid);
    return found == threads_.end() ? nullptr : &found->second;
  }
  bool empty() const { return threads_.empty(); }
  bool is_single() const { return threads_.size() == 1; }

  std::vector<pid_t> tids() const {
    std::vector<pid_t> all;
    for (const auto& [tid, thread] : threads_)
      all.push_back(tid);
    return all;
  }
  std::vector<pid_t> tids_of(const TracedProcess& process) const {
    std::vector<pid_t> some;
    for (const auto& [tid, thread] : threads_)
      if (thread.process.get() == &process) some.push_back(tid);
    return some;
  }

private:
  std::unordered_map<pid_t, TraceeThread> threads_;
};

} // namespace sonictrace
