#include "sonictrace/process/remote_call.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <vector>

#include "process/stack_below.hpp"
#include "sonictrace/arch/signal_frame.hpp"
#include "sonictrace/base/check.hpp"
#include "sonictrace/base/clock.hpp"
#include "sonictrace/process/signal_mask.hpp"
#include "sonictrace/process/syscall_restart.hpp"

namespace sonictrace {
namespace {

bool is_stop_by_interrupt(const Stop& stop) {
  return stop.kind == StopKind::Group || stop == Stop{StopKind::PtraceEvent, PTRACE_EVENT_STOP};
}

/// Gone without an exit of its own: another thread's exec ended it (ptrace(2)).
Exit ended_unseen(pid_t tid) { return {tid, {StopKind::Killed, SIGKILL}, monotonic_ns()}; }

/// The registers beyond the general ones; empty where the processor has no XSAVE.
std::vector<std::byte> extended_registers(pid_t tid) {
  std::vector<std::byte> bytes(16384); // AMX, the largest of them, takes 8 KB
  iovec into = {bytes.data(), bytes.size()};
  if (::ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &into) < 0) return {};
  bytes.resize(into.iov_len);
  return bytes;
}

} // namespace

RemoteCalls::RemoteCalls(StoppedTracee tracee, const AddressSpace& space, CallingCode code)
    : tid_(tracee.tid()), tracee_(std::move(tracee)), space_(space), code_(code),
      was_interrupted_(is_stop_by_interrupt(tracee_->stop())) {}

RemoteCalls::~RemoteCalls() {
  SONICTRACE_CHECK(!tracee_, "remote calls were not ended: their thread would be lost");
}

/// Where the thread comes back to by itself. It is complete before the registers lead there.
void RemoteCalls::write_frame(std::uint64_t mask) {
  constexpr std::array kNothing = std::array<std::byte, kCallingCode.size()>{};
  if (code_.kind == CallingCode::Kind::Bare || saved_->machine() != Machine::X86_64) return;
  const auto extended = extended_registers(tid_);
  const std::size_t size = room_for_signal_frame(extended);
  // And for the handler of a signal that comes when the thread has its mask again.
  constexpr std::size_t kHandler = 8192;
  const auto below = find_room_below_stack(space_, tid_, *saved_, size + kHandler);
  if (size == 0 || !below) return;
  Registers goes_on = *saved_;
  if (was_interrupted_) restart_at_once(goes_on);
  const auto frame = make_signal_frame(*below, goes_on, mask, extended);
  // Nothing of anybody's; but where that should be wrong, it is so only for us.
  std::vector<std::byte> before(frame.bytes.size());
  if (!space_.memory().read(frame.begin, before) ||
      !space_.memory().write(frame.begin, frame.bytes))
    return;
  frame_at_ = frame.begin;
  under_frame_ = std::move(before);
  if (code_.kind == CallingCode::Kind::Slack && !space_.memory().write(code_.at, kCallingCode)) {
    (void)space_.memory().write(code_.at, kNothing);
    return;
  }
  resting_->set_sp(frame.resume_at);
  restores_itself_ = true;
}

Result<void> RemoteCalls::begin() {
  const auto saved = tracee_->registers();
  if (!saved) return saved.error();
  const auto mask = signal_mask(tid_);
  if (!mask) return Error::from_errno(fmt::format("signal mask of {}", tid_));
  saved_ = resting_ = *saved;
  resting_->set_pc(code_.at + kBehindCall);
  resting_->raw().orig_rax = ~std::uint64_t{0}; // not in a system call: nothing to restart
  write_frame(*mask);
  if (!restores_itself_ && code_.kind == CallingCode::Kind::Slack) {
    // Only its first instruction is run.
    if (auto written = space_.memory().write(code_.at, kCallingCode); !written) return written;
  }
  // The registers first: from here on the mask comes back with them.
  if (auto prepared = tracee_->set_registers(*resting_); !prepared) return prepared;
  has_begun_ = true;
  mask_ = *mask;
  if (!set_signal_mask(tid_, ~std::uint64_t{0}))
    return Error::from_errno(fmt::format("signal mask of {}", tid_));
  return {};
}

Result<std::uint64_t> RemoteCalls::call(long number,
                                        const std::array<std::uint64_t, 6>& arguments) {
  const Error gone(std::errc::no_such_process, fmt::format("thread {}", tid_));
  if (!tracee_) return gone;
  if (!has_begun_)
    if (auto done = begin(); !done) return std::move(done).error();

  Registers call = *resting_;
  call.set_pc(code_.at);
  call.raw().rax = static_cast<std::uint64_t>(number);
  call.raw().rdi = arguments[0];
  call.raw().rsi = arguments[1];
  call.raw().rdx = arguments[2];
  call.raw().r10 = arguments[3];
  call.raw().r8 = arguments[4];
  call.raw().r9 = arguments[5];
  if (auto prepared = tracee_->set_registers(call); !prepared) return std::move(prepared).error();
  // To the end of the system call: two stops, at its entry and at its exit. Not by a single step:
  // its trap is a forced signal, and would reset the program's own disposition of SIGTRAP.
  for (int syscall_stops = 0; syscall_stops < 2;) {
    StoppedTracee before = *std::move(tracee_);
    tracee_.reset();
    auto next = std::move(before).run_to_syscall();
    if (!next)
      exit_ = ended_unseen(tid_);
    else if (const auto* exit = std::get_if<Exit>(&*next))
      exit_ = *exit;
    if (exit_) return gone;
    tracee_.emplace(std::get<StoppedTracee>(std::move(*next)));
    const Stop stop = tracee_->stop();
    if (stop.kind == StopKind::Syscall) ++syscall_stops;
    if (stop.kind == StopKind::Group) missed_group_stop_ = true;
    if (stop == Stop{StopKind::SignalDelivery, SIGSTOP}) missed_stop_signal_ = true;
  }
  const auto registers = tracee_->registers();
  if (!registers) return gone;
  const auto result = static_cast<std::int64_t>(registers->result());
  if (result < 0 && result > -4096)
    return Error(static_cast<std::errc>(-result), fmt::format("remote system call {}", number));
  return registers->result();
}

/// Below the frame; and beyond the red zone where there is none (psABI 3.2.2). The frame has room
/// for a handler below it, and none runs now.
TraceeAddress RemoteCalls::room_for(std::size_t size) const {
  constexpr std::int64_t kRedZone = 128;
  const TraceeAddress top = under_frame_.empty() ? saved_->sp() + -kRedZone : frame_at_;
  return TraceeAddress((top.value() - size) & ~std::uint64_t{15});
}

Result<std::uint64_t> RemoteCalls::call(long number, std::array<std::uint64_t, 6> arguments,
                                        PassedMemory passed) {
  SONICTRACE_CHECK(passed.bytes.size() <= PassedMemory::kMost, "more than there is room for");
  if (!has_begun_ && tracee_)
    if (auto done = begin(); !done) return std::move(done).error();
  if (!tracee_) return Error(std::errc::no_such_process, fmt::format("thread {}", tid_));
  const TraceeMemory& memory = space_.memory();
  const TraceeAddress at = room_for(passed.bytes.size());
  std::vector<std::byte> before(passed.bytes.size());
  if (auto read = memory.read(at, before); !read) return std::move(read).error();
  if (auto written = memory.write(at, passed.bytes); !written) return std::move(written).error();
  arguments[passed.argument] = at.value();
  auto result = call(number, arguments);
  if (!tracee_) return result;
  if (result)
    if (auto read = memory.read(at, passed.bytes); !read) result = std::move(read).error();
  // Nothing of anybody's either, as far as we know.
  (void)memory.write(at, before);
  return result;
}

/// Until here the thread would have done it itself.
void RemoteCalls::put_back() {
  if (mask_) (void)set_signal_mask(tid_, *mask_);
  (void)tracee_->set_registers(*saved_);
  constexpr std::array kNothing = std::array<std::byte, kCallingCode.size()>{};
  if (code_.kind == CallingCode::Kind::Slack) (void)space_.memory().write(code_.at, kNothing);
  if (!under_frame_.empty()) (void)space_.memory().write(frame_at_, under_frame_);
}

StoppedTracee::Outcome RemoteCalls::end(bool wants_interrupt) && {
  if (has_begun_ && tracee_) {
    const bool follows = tracee_->follows_system_calls();
    put_back();
    // Into a stop as PTRACE_INTERRUPT makes them, with no instruction run in between. The kernel
    // looks behind such a stop, and only there, whether the registers are those of a call that is
    // to be restarted (arch/x86/kernel/signal.c, arch_do_signal_or_restart).
    while ((was_interrupted_ || wants_interrupt) && tracee_) {
      (void)interrupt(tid_);
      StoppedTracee before = *std::move(tracee_);
      tracee_.reset();
      (void)std::move(before).resume(); // killed meanwhile: the wait gives its exit
      auto next = StoppedTracee::wait(tid_);
      if (!next)
        exit_ = ended_unseen(tid_);
      else if (const auto* exit = std::get_if<Exit>(&*next))
        exit_ = *exit;
      if (exit_) break;
      tracee_.emplace(std::get<StoppedTracee>(std::move(*next)));
      if (follows) tracee_->follow_system_calls();
      if (is_stop_by_interrupt(tracee_->stop())) {
        missed_group_stop_ = false; // in which it is again, if it lasts
        break;
      }
      if (tracee_->stop() == Stop{StopKind::SignalDelivery, SIGSTOP}) missed_stop_signal_ = true;
    }
    if (tracee_ && (missed_stop_signal_ || missed_group_stop_)) ::syscall(SYS_tkill, tid_, SIGSTOP);
  }
  if (!tracee_) return *exit_;
  StoppedTracee tracee = *std::move(tracee_);
  tracee_.reset();
  return tracee;
}

RemoteCallOutcome remote_call(StoppedTracee tracee, const AddressSpace& space, CallingCode code,
                              long number, const std::array<std::uint64_t, 6>& arguments,
                              std::optional<PassedMemory> passed) {
  RemoteCalls calls(std::move(tracee), space, code);
  auto value = passed ? calls.call(number, arguments, *passed) : calls.call(number, arguments);
  return {std::move(calls).end(), std::move(value)};
}

} // namespace sonictrace
