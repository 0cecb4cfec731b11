#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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

/// Words of one stack.
class StackReader {
public:
  StackReader() = default;
  StackReader(const StackReader&) = delete;
  virtual ~StackReader() = default;
  /// Nothing where it is not known.
  virtual std::optional<std::uint64_t> word(std::uint64_t address) = 0;
  /// The walk looks at a register, by its DWARF number (psABI 3.6.2), of the frame that it begins
  /// with.
  virtual void looks_at_register(unsigned) {}
};

/// Code that the tracer has put into a process, and what that has put onto stacks. Walks go through
/// it, and show no frame of it.
struct OwnCode {
  AddressRange text;
  std::span<const std::byte> bytes; ///< of `text`, from its begin; kept by the giver
  std::uint64_t unwind_table = 0;   ///< of the .eh_frame_hdr in `bytes`
  /// Return addresses in here stand for others: those that `original` gives, for a stopped thread.
  AddressRange thunks;
  std::function<std::uint64_t(std::uint64_t)> original;
  /// Instructions of the program that were put in between, as return addresses. Sorted.
  std::vector<TraceeAddress> gadgets = {};
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
  /// The same of a stack that is known by another way.
  std::span<const UnwoundFrame> callers(const std::shared_ptr<AddressSpace>& space,
                                        const Registers& registers, std::size_t limit,
                                        StackReader& stack);
  /// The code at an address.
  CodeMap::Place place_of(const std::shared_ptr<AddressSpace>& space, TraceeAddress address);

  /// The instruction addresses of a stopped tracee's frames, innermost first: the pc, then return
  /// addresses; at most `limit`.
  std::vector<TraceeAddress> frames(pid_t tid, std::size_t limit);

  /// How often the kernel was asked what is mapped; what follows from its answer may be another
  /// next time.
  std::uint64_t questions(const std::shared_ptr<AddressSpace>& space);

  /// See OwnCode. Stays known whatever is forgotten.
  void set_own_code(const std::shared_ptr<AddressSpace>& space, OwnCode code);
  /// See CodeMap::survey.
  void learn(const std::shared_ptr<AddressSpace>& space, std::vector<MappedCode> all);

  /// What is known of mappings is out of date (dlclose), of one address space or of all.
  void forget(const AddressSpace& space);
  void forget(const AddressSpace& space, AddressRange range);
  void forget();

private:
  struct Space;
  Space& space_of(const std::shared_ptr<AddressSpace>& space);

  CodeMap::OpenImage open_;
  std::map<std::weak_ptr<AddressSpace>, std::unique_ptr<Space>, std::owner_less<>> spaces_;
  std::vector<UnwoundFrame> found_;
};

} // namespace sonictrace
