#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sonictrace/base/result.hpp"
#include "sonictrace/process/address_space.hpp"
#include "sonictrace/process/calling_code.hpp"
#include "sonictrace/process/stopped_tracee.hpp"

namespace sonictrace {

/// Memory that a remote call is given the address of, in `arguments[argument]`: what it reads, and
/// what it has written afterwards.
struct PassedMemory {
  std::size_t argument;
  std::span<std::byte> bytes; ///< kMost at most

  static constexpr std::size_t kMost = 256;
};

/// System calls that a stopped thread makes for us. Every signal is blocked meanwhile, so none is
/// taken or lost. For the stop of a breakpoint (or another signal-delivery-stop outside of system
/// calls), and for the stops that PTRACE_INTERRUPT makes, group-stops included. Not for the stops
/// of PTRACE_EVENT_EXEC, _FORK and _CLONE: there the kernel writes the running system call's result
/// into rax after our call was prepared (arch/x86/entry/common.c).
///
/// Should this process be killed in the middle, the thread puts itself back: before its registers
/// are touched, all of its state is written below its stack as a signal's frame, and each call is
/// followed by an rt_sigreturn(2). See docs/AGENT.md. (Not where CallingCode is bare, or the stack
/// has no room.)
///
/// So what is below the stack is in use from the first call to the end: memory for a call is given
/// as PassedMemory, never put there by hand.
class RemoteCalls {
public:
  /// Nothing is done before the first call.
  RemoteCalls(StoppedTracee tracee, const AddressSpace& space, CallingCode code);
  RemoteCalls(const RemoteCalls&) = delete;
  ~RemoteCalls(); ///< checks that it was ended

  /// Fails as the system call does; with no_such_process where the thread is gone.
  Result<std::uint64_t> call(long number, const std::array<std::uint64_t, 6>& arguments);
  Result<std::uint64_t> call(long number, std::array<std::uint64_t, 6> arguments,
                             PassedMemory passed);

  pid_t tid() const { return tid_; }
  /// How it died meanwhile, if it did.
  std::optional<Exit> killed() const { return exit_; }
  /// Whether the thread puts itself back if this process is killed. Behind the first call.
  bool restores_itself() const { return restores_itself_; }

  /// Puts registers and signal mask back. Behind a stop by interrupt, or where `wants_interrupt`
  /// says so, the thread is in such a stop (again), and a system call that it was interrupted in
  /// goes on from there as it would have. Else it is at the exit of a system call.
  StoppedTracee::Outcome end(bool wants_interrupt = false) &&;

private:
  Result<void> begin();
  TraceeAddress room_for(std::size_t size) const;
  void write_frame(std::uint64_t mask);
  void put_back();

  pid_t tid_;
  std::optional<StoppedTracee> tracee_;
  std::optional<Exit> exit_;
  const AddressSpace& space_;
  CallingCode code_;
  bool was_interrupted_;
  bool has_begun_ = false;
  TraceeAddress frame_at_;
  std::vector<std::byte> under_frame_; ///< what was there
  bool restores_itself_ = false;
  std::optional<Registers> saved_, resting_;
  std::optional<std::uint64_t> mask_;
  // What came between, to be made good when we are done.
  bool missed_stop_signal_ = false; ///< SIGSTOP, which cannot be blocked
  bool missed_group_stop_ = false;  ///< begun by a signal that another thread took
};

/// A tracee after a remote call: the token of its new stop (or its Exit: it was killed meanwhile),
/// and the call's outcome.
struct RemoteCallOutcome {
  StoppedTracee::Outcome tracee;
  Result<std::uint64_t> value; ///< or the error that the system call returned
};

/// One of them.
RemoteCallOutcome remote_call(StoppedTracee tracee, const AddressSpace& space, CallingCode code,
                              long number, const std::array<std::uint64_t, 6>& arguments,
                              std::optional<PassedMemory> passed = std::nullopt);

/// Whether a seccomp filter would let the tracee make this call unharmed. False also where that
/// cannot be told (no CAP_SYS_ADMIN to read the filter): a refused call could kill the process.
bool may_call(pid_t tid, long number, const std::array<std::uint64_t, 6>& arguments,
              TraceeAddress syscall_instruction);

} // namespace sonictrace
