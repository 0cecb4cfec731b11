#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "sonictrace/base/address.hpp"

namespace sonictrace {

/// Walks the stack of a stopped tracee, by libunwind (the only user of it).
class Unwinder {
public:
  Unwinder();
  ~Unwinder();

  /// The instruction addresses of its frames, innermost first: the pc, then return addresses; at
  /// most `limit`. Ends early where there is nothing to unwind by.
  std::vector<TraceeAddress> frames(pid_t tid, std::size_t limit);
  /// What it knows of mappings is out of date (dlclose, exec).
  void forget();

private:
  struct Space;
  std::unique_ptr<Space> space_;
};

} // namespace sonictrace
