#include "engine/breakpoint/trap_guard.hpp"

#include <sys/syscall.h>

#include <csignal>
#include <span>

#include "sonictrace/process/proc_files.hpp"
#include "sonictrace/process/signal_mask.hpp"

namespace sonictrace {
namespace {

constexpr std::uint64_t kTrapBit = std::uint64_t{1} << (SIGTRAP - 1);

constexpr std::uint64_t kDefault = 0; // SIG_DFL
constexpr std::uint64_t kIgnore = 1;  // SIG_IGN

/// Which argument of rt_sigaction(2) has them.
constexpr std::size_t kNew = 1, kOld = 2;

} // namespace

void TrapGuard::begin(pid_t tid) {
  const auto status = read_task_status(tid);
  if (!status) return;
  mask_.see(status->blocked);
  disposition_.must_be_read = (status->caught & kTrapBit) != 0;
  if ((status->ignored & kTrapBit) != 0) disposition_.action = {kIgnore, 0, 0, 0};
}

void TrapGuard::begin_child(pid_t tid, TrapMask& mask) {
  if (const auto status = read_task_status(tid)) mask.see_birth(status->blocked);
}

bool TrapGuard::sets_action(const Registers& registers) {
  return registers.arguments()[0] == SIGTRAP && registers.arguments()[1] != 0;
}

bool TrapGuard::follow_action(std::optional<StoppedTracee>& tracee, std::optional<Exit>& killed,
                              const std::function<void(const StoppedTracee&)>& see) {
  constexpr int kMostCalls = 8; // of the library's own around it
  const pid_t tid = tracee->tid();
  std::optional<std::array<std::uint64_t, 4>> set;
  for (int stops = 0; stops < 2 * kMostCalls; ++stops) {
    auto next = std::move(*tracee).run_to_syscall();
    tracee.reset();
    if (!next || std::holds_alternative<Exit>(*next)) {
      killed = next ? std::get<Exit>(*next) : Exit{tid, {StopKind::Killed, SIGKILL}, 0};
      return false;
    }
    tracee.emplace(std::get<StoppedTracee>(*std::move(next)));
    if (tracee->stop().kind != StopKind::Syscall) return false;
    see(*tracee);
    const auto registers = tracee->registers();
    if (!registers) return false;
    const auto& raw = registers->raw();
    const bool is_entry = stops % 2 == 0;
    if (raw.orig_rax != SYS_rt_sigaction || raw.rdi != SIGTRAP) {
      // A library of its own that takes locks: they may be held by a thread that waits for us.
      const bool is_harmless =
          raw.orig_rax == SYS_rt_sigprocmask || raw.orig_rax == SYS_rt_sigaction;
      if (is_harmless) continue;
      disposition_.must_be_read = true;
      return true;
    }
    if (is_entry) {
      set.emplace();
      const auto into = std::as_writable_bytes(std::span(*set));
      if (!space_.space().memory().read(TraceeAddress(raw.rsi), into)) set.reset();
      continue;
    }
    if (set && raw.rax == 0) {
      disposition_.must_be_read = false;
      disposition_.action.reset();
      if ((*set)[0] != kDefault) disposition_.action = set;
    }
    return true;
  }
  return true;
}

void TrapGuard::see_mask_set(const Registers& registers) {
  const auto [how, set, old, unused1, unused2, unused3] = registers.arguments();
  if (set == 0) return;
  const auto word = space_.read_word(TraceeAddress(set));
  if (!word) return;
  const bool holds_trap = (*word & kTrapBit) != 0;
  if (static_cast<int>(how) == SIG_SETMASK)
    mask_.set(holds_trap);
  else if (holds_trap)
    mask_.set(static_cast<int>(how) == SIG_BLOCK);
}

/// rt_sigaction(2) with `action` as that argument.
Result<std::uint64_t> TrapGuard::call(std::optional<StoppedTracee>& tracee,
                                      std::optional<Exit>& killed, std::size_t argument,
                                      std::array<std::uint64_t, 4>& action) {
  constexpr std::uint64_t kMaskSize = 8;
  return space_.call_in(tracee, killed, SYS_rt_sigaction, {SIGTRAP, 0, 0, kMaskSize, 0, 0},
                        PassedMemory{argument, std::as_writable_bytes(std::span(action))});
}

void TrapGuard::read_action(std::optional<StoppedTracee>& tracee, std::optional<Exit>& killed) {
  std::array<std::uint64_t, 4> action{};
  if (!call(tracee, killed, kOld, action)) return;
  disposition_.must_be_read = false;
  disposition_.action.reset();
  if (action[0] != kDefault) disposition_.action = action;
}

void TrapGuard::write_action(std::optional<StoppedTracee>& tracee, std::optional<Exit>& killed) {
  auto action = *disposition_.action;
  (void)call(tracee, killed, kNew, action);
}

/// A signal that is pending already is not queued a second time: where the program's own SIGTRAP
/// was, the int3's took its place, and its end (kernel/signal.c, legacy_queue).
void TrapGuard::send_again(std::optional<StoppedTracee>& tracee, std::optional<Exit>& killed) {
  const auto process = static_cast<std::uint64_t>(space_.space().pid());
  const auto thread = static_cast<std::uint64_t>(tracee->tid());
  (void)space_.call_in(tracee, killed, SYS_tgkill, {process, thread, SIGTRAP, 0, 0, 0});
}

void TrapGuard::repair(std::optional<StoppedTracee>& tracee, std::optional<Exit>& killed) {
  const auto info = tracee->signal_info();
  bool was_blocked = mask_.is_blocked();
  if (!was_blocked && mask_.may_be_blocked()) {
    const auto now = signal_mask(tracee->tid());
    was_blocked = now && mask_.was_blocked(*now);
    if (now && !was_blocked) mask_.set(false); // the old one was given back
  }
  if (disposition_.action) {
    const auto status = read_task_status(tracee->tid());
    if (status && ((status->caught | status->ignored) & kTrapBit) == 0) {
      // It was reset: so the thread ignored the signal, or blocked it.
      was_blocked = was_blocked || (*disposition_.action)[0] != kIgnore;
      write_action(tracee, killed);
      if (killed) return;
    }
  }
  if (disposition_.must_be_read) {
    read_action(tracee, killed);
    if (killed) return;
  }
  if (!was_blocked) return;
  if (auto mask = signal_mask(tracee->tid()); mask && !TrapMask::holds_trap(*mask))
    (void)set_signal_mask(tracee->tid(), TrapMask::with_trap(*mask));
  if (info && info->si_code != SI_KERNEL) send_again(tracee, killed);
}

} // namespace sonictrace
