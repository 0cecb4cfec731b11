#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "sonictrace/arch/registers.hpp"
#include "sonictrace/base/address.hpp"
#include "sonictrace/process/address_space.hpp"
#include "sonictrace/process/code_map.hpp"

namespace sonictrace {

/// One frame of a backtrace.
struct UnwoundFrame {
  TraceeAddress address;
  /// It was interrupted by a signal there, or is the handler's return trampoline. Any other frame
  /// is in a call, and its address is behind the call instruction: perhaps in the next function.
  bool interrupted = false;

  /// An address that is in the frame's function.
  TraceeAddress inside() const { return interrupted ? address : address + -1; }
};

/// Walks the stacks of stopped tracees, by libunwind (the only user of it) and the unwind tables of
/// the mapped files (.eh_frame), which stripped programs have too. Never guesses: a walk ends at
/// code that has no table, and at an address that is no code.
class Unwinder {
public:
  /// `open` gives the image of an open file: whoever has parsed it already can share it.
  explicit Unwinder(CodeMap::OpenImage open = {});
  ~Unwinder();

  /// The callers of the frame that `registers` belong to, innermost first, at most `limit`. The pc
  /// says by which rule that frame is left: behind a call, one byte before the return address.
  /// Valid until the next call. 64-bit code only: else nothing.
  std::span<const UnwoundFrame> callers(const std::shared_ptr<AddressSpace>& space,
                                        const Registers& registers, std::size_t limit);
  /// The code at an address.
  CodeMap::Place place_of(const std::shared_ptr<AddressSpace>& space, TraceeAddress address);

  /// The instruction addresses of a stopped tracee's frames, innermost first: the pc, then return
  /// addresses; at most `limit`.
  std::vector<TraceeAddress> frames(pid_t tid, std::size_t limit);

  /// What is known of mappings is out of date (dlclose), of one address space or of all.
  void forget(const AddressSpace& space);
  void forget();

private:
  struct Space;
  Space& space_of(const std::shared_ptr<AddressSpace>& space);

  CodeMap::OpenImage open_;
  std::map<std::weak_ptr<AddressSpace>, std::unique_ptr<Space>, std::owner_less<>> spaces_;
  std::vector<UnwoundFrame> found_;
};

} // namespace sonictrace
