#include "sonictrace/process/stop_cost.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <vector>

#include "sonictrace/base/clock.hpp"
#include "sonictrace/process/stopped_tracee.hpp"

namespace sonictrace {
namespace {

constexpr std::size_t kRounds = 192;

struct Shared {
  std::array<std::uint64_t, kRounds> before; ///< CLOCK_MONOTONIC in the child
  std::array<std::uint64_t, kRounds> after;
};

[[noreturn]] void be_the_tracee(Shared& shared, int ready) {
  char byte;
  (void)!::read(ready, &byte, 1); // until we are seized
  for (std::size_t i = 0; i < kRounds; ++i) {
    shared.before[i] = monotonic_ns();
#if defined(__x86_64__)
    __asm__ volatile("int3");
#endif
    shared.after[i] = monotonic_ns();
  }
  ::_exit(0);
}

} // namespace

std::uint64_t measure_stop_latency() {
  void* page = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                      -1, 0);
  if (page == MAP_FAILED) return 0;
  auto& shared = *static_cast<Shared*>(page);
  int ready[2];
  if (::pipe(ready) < 0) return 0;
  // Both on one core, which is the cheapest case: what is taken off must not be more than that.
  cpu_set_t own;
  const bool known = ::sched_getaffinity(0, sizeof own, &own) == 0;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
  if (known) ::sched_setaffinity(0, sizeof one, &one);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ready[1]);
    be_the_tracee(shared, ready[0]);
  }
  ::close(ready[0]);
  std::vector<std::uint64_t> costs;
  if (child > 0 && !seize(child, 0)) ::kill(child, SIGKILL);
  (void)!::write(ready[1], "g", 1);
  ::close(ready[1]);
  std::size_t round = 0;
  while (child > 0) {
    auto next = StoppedTracee::wait(child);
    if (!next || std::holds_alternative<Exit>(*next)) break;
    auto tracee = std::get<StoppedTracee>(std::move(*next));
    auto registers = tracee.registers();
    if (registers) (void)tracee.set_registers(*registers);
    const auto held = monotonic_ns() - tracee.seen_ns();
    (void)std::move(tracee).resume();
    if (round > 0) { // the stop before is complete now
      const auto whole = shared.after[round - 1] - shared.before[round - 1];
      if (whole > costs.back()) costs.back() = whole - costs.back();
    }
    costs.push_back(held);
    ++round;
  }
  if (known) ::sched_setaffinity(0, sizeof own, &own);
  ::munmap(page, sizeof(Shared));
  if (costs.size() < 8) return 0;
  costs.pop_back(); // the last one's end was not seen
  // On a busy machine most stops wait for a core as well, as those of the program may or may not.
  return *std::min_element(costs.begin(), costs.end());
}

} // namespace sonictrace
