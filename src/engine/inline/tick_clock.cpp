#include "engine/inline/tick_clock.hpp"

#include <cpuid.h>
#include <x86intrin.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include "sonictrace/base/clock.hpp"

namespace sonictrace {
namespace {

using Reading = TickClock::Reading;

constexpr std::uint64_t kFirstInterval = 2'000'000; ///< ns
constexpr std::uint64_t kLongestInterval = 250'000'000;
/// The rate is measured over so much at least, once there is as much.
constexpr std::uint64_t kBaseline = 2'000'000'000;
/// Clocks that differ by more have not drifted: the machine was suspended, or moved.
constexpr std::int64_t kStep = 1'000'000;
/// By how much the two clocks of the kernel differ more than before, if one of them was set. Less
/// is a matter of reading them.
constexpr std::int64_t kOffsetStep = 500;
constexpr std::size_t kMostSegments = 1024;

bool has_invariant_counter() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  // CPUID 80000007h, edx bit 8 (Intel SDM 18.17.1, AMD APM 3, E.4.7).
  if (__get_cpuid(0x80000007, &a, &b, &c, &d) == 0 || (d & 1U << 8) == 0) return false;
  // The kernel drops a counter that differs between cores. The paravirtual clocks are made of it.
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  file >> source;
  return source == "tsc" || source == "kvm-clock" || source.starts_with("hyperv_clocksource_tsc");
}

std::uint64_t counter() {
  _mm_lfence(); // else it may be read before what comes before it is done
  const std::uint64_t ticks = __rdtsc();
  _mm_lfence();
  return ticks;
}

/// The narrowest of several.
Reading read_clocks(bool uses_tsc) {
  constexpr int kTries = 12;
  Reading best;
  best.width = ~std::uint64_t{0};
  std::uint64_t offset = 0, offset_width = ~std::uint64_t{0};
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t before = counter();
    const std::uint64_t monotonic = monotonic_ns();
    const std::uint64_t after = counter();
    const std::uint64_t realtime = realtime_ns();
    const std::uint64_t behind = monotonic_ns();
    if (after - before < best.width)
      best = {before + (after - before) / 2, monotonic, 0, after - before};
    if (behind - monotonic < offset_width) {
      offset_width = behind - monotonic;
      offset = realtime - (monotonic + offset_width / 2);
    }
  }
  if (!uses_tsc) best.ticks = best.monotonic_ns;
  best.realtime_ns = best.monotonic_ns + offset;
  return best;
}

std::int64_t difference(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::int64_t>(a - b);
}

} // namespace

TickClock TickClock::calibrate() { return TickClock(nullptr, has_invariant_counter()); }

TickClock::TickClock(std::function<Reading()> read, bool uses_tsc)
    : read_(std::move(read)), uses_tsc_(uses_tsc), interval_ns_(kFirstInterval) {
  const auto look = [this] { return read_ ? read_() : read_clocks(uses_tsc_); };
  old_ = look();
  if (uses_tsc_) {
    do
      young_ = look();
    while (young_.monotonic_ns - old_.monotonic_ns < kFirstInterval || young_.ticks <= old_.ticks);
    rate_ = static_cast<std::uint64_t>(
        (static_cast<Wide>(young_.monotonic_ns - old_.monotonic_ns) << 32) /
        static_cast<Wide>(young_.ticks - old_.ticks));
  } else {
    young_ = old_;
  }
  if (rate_ == 0) rate_ = 1;
  current_ = {young_.ticks, young_.monotonic_ns, rate_, young_.realtime_ns - young_.monotonic_ns};
  plan_next(young_.ticks);
}

std::uint64_t TickClock::now() const {
  if (read_) return read_().ticks;
  return uses_tsc_ ? __rdtsc() : monotonic_ns();
}

std::uint64_t TickClock::ticks_of(std::uint64_t duration_ns) const {
  return static_cast<std::uint64_t>((static_cast<Wide>(duration_ns) << 32) /
                                    static_cast<Wide>(rate_));
}

std::uint64_t TickClock::ticks_at(std::uint64_t realtime_ns) const {
  const std::int64_t distance = difference(realtime_ns, current_.ns + current_.offset);
  return current_.ticks +
         static_cast<std::uint64_t>((static_cast<Wide>(distance) * (Wide{1} << 32)) /
                                    static_cast<Wide>(current_.rate));
}

const TickClock::Segment& TickClock::segment_of(std::uint64_t ticks) const {
  const auto behind =
      std::upper_bound(past_.begin(), past_.end(), ticks,
                       [](std::uint64_t at, const Segment& segment) { return at < segment.ticks; });
  if (behind != past_.begin()) return *(behind - 1);
  return past_.empty() ? current_ : past_.front();
}

void TickClock::begin_segment(const Segment& segment) {
  if (past_.size() >= kMostSegments) {
    // Every other one of the older half goes: times of long ago need not be so exact. The one that
    // stays leads to where the next one begins.
    const std::size_t half = past_.size() / 2;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < past_.size(); ++i)
      if (i >= half || i % 2 == 0) past_[kept++] = past_[i];
    past_.resize(kept);
    for (std::size_t i = 0; i + 1 < kept; ++i) {
      Segment& one = past_[i];
      const Segment& next = past_[i + 1];
      if (next.ticks > one.ticks && next.ns >= one.ns && next.offset == one.offset)
        one.rate = static_cast<std::uint64_t>((static_cast<Wide>(next.ns - one.ns) << 32) /
                                              static_cast<Wide>(next.ticks - one.ticks));
    }
  }
  past_.push_back(current_);
  current_ = segment;
}

void TickClock::plan_next(std::uint64_t from) { due_ = from + ticks_of(interval_ns_); }

void TickClock::recalibrate() {
  const Reading reading = read_ ? read_() : read_clocks(uses_tsc_);
  std::uint64_t offset = reading.realtime_ns - reading.monotonic_ns;
  const std::int64_t change = difference(offset, current_.offset);
  if (change < kOffsetStep && change > -kOffsetStep) offset = current_.offset;

  if (!uses_tsc_) {
    if (offset != current_.offset)
      begin_segment({reading.ticks, reading.monotonic_ns, rate_, offset});
    interval_ns_ = kLongestInterval;
    return plan_next(reading.ticks);
  }
  const std::int64_t error = difference(reading.monotonic_ns, at(current_, reading.ticks));
  const bool is_step = reading.ticks <= current_.ticks || reading.ticks <= old_.ticks ||
                       reading.monotonic_ns <= old_.monotonic_ns || error > kStep || error < -kStep;
  if (is_step) {
    // The rate is still the best that is known.
    if (reading.ticks <= current_.ticks) past_.clear(), current_ = {};
    begin_segment({reading.ticks, reading.monotonic_ns, rate_, offset});
    old_ = young_ = reading;
    interval_ns_ = kFirstInterval;
    return plan_next(reading.ticks);
  }
  rate_ = static_cast<std::uint64_t>(
      (static_cast<Wide>(reading.monotonic_ns - old_.monotonic_ns) << 32) /
      static_cast<Wide>(reading.ticks - old_.ticks));
  if (rate_ == 0) rate_ = 1;
  if (reading.monotonic_ns - young_.monotonic_ns >= kBaseline) {
    old_ = young_;
    young_ = reading;
  }
  interval_ns_ = std::min(interval_ns_ * 2, kLongestInterval);
  // What is missing is made up for until the next time. A time that went too fast goes slower: it
  // never stands.
  const auto correction =
      std::clamp<std::int64_t>(error, -static_cast<std::int64_t>(interval_ns_ / 2), kStep);
  const auto rate = static_cast<Wide>(rate_) +
                    static_cast<Wide>(rate_) * correction / static_cast<Wide>(interval_ns_);
  begin_segment(
      {reading.ticks, at(current_, reading.ticks), static_cast<std::uint64_t>(rate), offset});
  plan_next(reading.ticks);
}

} // namespace sonictrace
