#pragma once

#include <cstdint>
#include <memory>

#include "engine/inline/arena.hpp"
#include "sonictrace/arch/registers.hpp"
#include "sonictrace/base/address.hpp"
#include "sonictrace/base/result.hpp"

namespace sonictrace {

/// The tracer's end of the line to a thread that waits in the dynamic linker's rendezvous, in the
/// agent, and is not stopped.
class LinkerLine {
public:
  explicit LinkerLine(std::shared_ptr<Arena> arena) : arena_(std::move(arena)) {}

  /// A thread waits for an answer.
  bool is_asked() const;
  /// Of the thread that waits: as they are when the rendezvous returns to the linker. What the
  /// process says; not to be trusted.
  Registers caller() const;
  /// The list of modules has been dealt with: it may go on.
  void answer();
  /// mmap(2) of private anonymous memory, made by the waiting thread. Fails with timed_out where it
  /// does not come (it is gone, or stopped).
  Result<TraceeAddress> map(TraceeAddress at, std::size_t size, int protection, int flags);

private:
  std::shared_ptr<Arena> arena_;
};

} // namespace sonictrace
