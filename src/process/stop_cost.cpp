#include "sonictrace/process/stop_cost.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <optional>
#include <vector>

#include "sonictrace/base/clock.hpp"
#include "sonictrace/process/stopped_tracee.hpp"

namespace sonictrace {
namespace {

constexpr std::size_t kRounds = 192;
constexpr std::size_t kFewest = 8; ///< rounds that say something

/// CLOCK_MONOTONIC in the child, around what is measured.
struct Times {
  std::array<std::uint64_t, kRounds> before;
  std::array<std::uint64_t, kRounds> after;

  std::uint64_t of(std::size_t round) const { return after[round] - before[round]; }
};

struct Shared {
  Times untraced; ///< of system calls
  Times traced;
};

/// Both on one core, which is the cheapest case: what is taken off must not be more than that.
class OneCore {
public:
  OneCore() : known_(::sched_getaffinity(0, sizeof own_, &own_) == 0) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
    if (known_) ::sched_setaffinity(0, sizeof one, &one);
  }
  ~OneCore() {
    if (known_) ::sched_setaffinity(0, sizeof own_, &own_);
  }
  OneCore(const OneCore&) = delete;
  OneCore& operator=(const OneCore&) = delete;

private:
  cpu_set_t own_;
  bool known_;
};

/// A child of ours that does `body` and writes into memory that it shares with us, seized.
class Child {
public:
  template <class Body>
  Child(unsigned long options, Body body) {
    void* page =
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return;
    shared_ = static_cast<Shared*>(page);
    int ready[2];
    if (::pipe(ready) < 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ready[1]);
      char byte;
      (void)!::read(ready[0], &byte, 1); // until we have seized it
      body(*shared_);
      ::_exit(0);
    }
    ::close(ready[0]);
    if (pid_ > 0 && !seize(pid_, options)) ::kill(pid_, SIGKILL);
    (void)!::write(ready[1], "g", 1);
    ::close(ready[1]);
  }
  ~Child() {
    if (shared_ != nullptr) ::munmap(shared_, sizeof(Shared));
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Its next stop; nothing when it has ended.
  std::optional<StoppedTracee> next() const {
    if (pid_ <= 0) return std::nullopt;
    auto outcome = StoppedTracee::wait(pid_);
    if (!outcome || std::holds_alternative<Exit>(*outcome)) return std::nullopt;
    return std::get<StoppedTracee>(*std::move(outcome));
  }
  const Shared& shared() const { return *shared_; }

private:
  Shared* shared_ = nullptr;
  pid_t pid_ = -1;
};

void run_into_breakpoints(Shared& shared) {
  for (std::size_t i = 0; i < kRounds; ++i) {
    shared.traced.before[i] = monotonic_ns();
#if defined(__x86_64__)
    __asm__ volatile("int3");
#endif
    shared.traced.after[i] = monotonic_ns();
  }
}

void make_system_calls(Times& times) {
  for (std::size_t i = 0; i < kRounds; ++i) {
    times.before[i] = monotonic_ns();
    ::syscall(SYS_getppid);
    times.after[i] = monotonic_ns();
  }
}

std::uint64_t held_since(std::uint64_t seen_ns) { return monotonic_ns() - seen_ns; }

} // namespace

std::uint64_t measure_stop_latency() {
  const OneCore core;
  const Child child(0, run_into_breakpoints);
  std::vector<std::uint64_t> held;
  while (auto tracee = child.next()) {
    auto registers = tracee->registers();
    if (registers) (void)tracee->set_registers(*registers);
    held.push_back(held_since(tracee->seen_ns()));
    (void)std::move(*tracee).resume();
  }
  if (held.size() < kFewest) return 0;
  // On a busy machine most stops wait for a core as well, as those of the program may or may not.
  std::uint64_t least = ~std::uint64_t{0};
  for (std::size_t i = 0; i < std::min(held.size(), kRounds); ++i) {
    const auto whole = child.shared().traced.of(i);
    if (whole > held[i]) least = std::min(least, whole - held[i]);
  }
  return least == ~std::uint64_t{0} ? 0 : least;
}

std::uint64_t measure_syscall_stop_latency() {
  const OneCore core;
  const Child child(PTRACE_O_TRACESYSGOOD, [](Shared& shared) {
    make_system_calls(shared.untraced);
    ::raise(SIGUSR2); // from here on its system calls are followed
    make_system_calls(shared.traced);
  });
  std::vector<std::uint64_t> held; // of both stops of a call
  std::uint64_t entered = 0;
  bool follows = false;
  while (auto tracee = child.next()) {
    if (follows) tracee->follow_system_calls();
    const auto stop = tracee->stop();
    if (stop.kind == StopKind::SignalDelivery) {
      follows = true;
      tracee->follow_system_calls();
    } else if (stop.kind == StopKind::Syscall) {
      const auto call = tracee->system_call();
      const auto* entry = call ? std::get_if<SyscallEntry>(&*call) : nullptr;
      if (entry != nullptr && entry->number == SYS_getppid) {
        entered = held_since(tracee->seen_ns());
      } else if (entry != nullptr) {
        // raise's own, exit's; or a clock that is a system call itself, and not to be measured by.
        entered = 0;
      } else if (entered != 0) {
        held.push_back(entered + held_since(tracee->seen_ns()));
        entered = 0;
      }
    }
    (void)std::move(*tracee).resume();
  }
  if (held.size() != kRounds) return 0;
  const auto& shared = child.shared();
  std::vector<std::uint64_t> untraced, both;
  for (std::size_t i = 0; i < kRounds; ++i) {
    untraced.push_back(shared.untraced.of(i));
    const auto whole = shared.traced.of(i);
    if (whole > held[i]) both.push_back(whole - held[i]);
  }
  if (both.empty()) return 0;
  // The usual call, less of the cheapest stops: rather too little is taken off than too much.
  std::nth_element(untraced.begin(), untraced.begin() + kRounds / 2, untraced.end());
  const auto least = *std::min_element(both.begin(), both.end());
  const auto call = untraced[kRounds / 2];
  return least > call ? (least - call) / 2 : 0;
}

} // namespace sonictrace
