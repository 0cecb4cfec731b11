#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace sonictrace {

/// Lets threads go without their tokens, which a dying tracer may have anywhere.
class ForcedRelease {
public:
  /// Stops those that run. Waits a second at most.
  explicit ForcedRelease(const std::vector<pid_t>& tids);

  /// None of them can run an instruction of the program. Where it is another thread than the tracer
  /// that dies, they all can (ptrace(2) is for the tracer alone).
  bool is_quiet() const { return is_quiet_; }

  /// Detaches each that is stopped, with its pc as `place_in_program` gives it.
  void
  release(const std::function<std::uint64_t(pid_t tid, std::uint64_t pc)>& place_in_program) const;

private:
  struct Stopped {
    pid_t tid;
    int signal; ///< that it was about to be given
  };

  std::vector<Stopped> stopped_;
  bool is_quiet_ = true;
};

} // namespace sonictrace
