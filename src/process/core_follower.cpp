#include "sonictrace/process/core_follower.hpp"

#include "sonictrace/process/proc_files.hpp"

namespace sonictrace {
namespace {

constexpr std::uint32_t kRound = 64; ///< stops between two looks: reading a core costs some 10 us
constexpr int kMajority = 32;        ///< votes that the winner must be ahead

} // namespace

CoreFollower::CoreFollower() {
  CPU_ZERO(&own_);
  usable_ = ::sched_getaffinity(0, sizeof own_, &own_) == 0 && CPU_COUNT(&own_) > 1;
}

CoreFollower::~CoreFollower() { release(); }

void CoreFollower::release() {
  if (pinned_to_ < 0) return;
  ::sched_setaffinity(0, sizeof own_, &own_);
  pinned_to_ = -1;
}

void CoreFollower::saw_stop(pid_t tid) {
  if (!usable_) return;
  if (tid == candidate_) ++votes_;
  else if (votes_ > 0) --votes_;
  else candidate_ = tid, votes_ = 1;
  if (++stops_ % kRound == 0) decide(tid);
}

void CoreFollower::decide(pid_t tid) {
  const bool one_thread = tid == candidate_ && votes_ >= kMajority;
  if (votes_ > 2 * kMajority) votes_ = 2 * kMajority; // so that a change of mind takes one round
  if (!one_thread) return release();
  const auto core = core_of(tid);
  if (!core || *core == pinned_to_ || !CPU_ISSET(static_cast<std::size_t>(*core), &own_)) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(*core), &one);
  if (::sched_setaffinity(0, sizeof one, &one) == 0) pinned_to_ = *core;
}

} // namespace sonictrace
