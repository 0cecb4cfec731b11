#include "engine/inline/count_reader.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "engine/inline/shared_memory.hpp"

namespace sonictrace {
namespace {

using wire::CallCount;

/// The bytes of [from, to) that the process has touched, piece by piece: to read a page of memory
/// that nobody has written to takes one.
template <class Taker>
void for_touched(int memory, std::uint64_t from, std::uint64_t to, Taker take) {
  while (from < to) {
    const off_t begin = ::lseek(memory, static_cast<off_t>(from), SEEK_DATA);
    if (begin < 0 || static_cast<std::uint64_t>(begin) >= to) return;
    const off_t end = ::lseek(memory, begin, SEEK_HOLE);
    if (end <= begin) return;
    const std::uint64_t piece_end = std::min(static_cast<std::uint64_t>(end), to);
    take(std::max(static_cast<std::uint64_t>(begin), from), piece_end);
    from = piece_end;
  }
}

} // namespace

std::uint64_t CountReader::read(std::uint32_t thread, const KnownFunctions& functions,
                                const TickClock& clock, std::uint64_t time_ns, BatchWriter& out) {
  if (!arena_->is_counting() || functions.size() == 0) return 0;
  const std::uint64_t base =
      wire::ArenaLayout::kCounts + std::uint64_t{ring_} * wire::kCountsStride;
  const std::size_t known = std::min<std::size_t>(functions.size(), wire::kMaxFunctions);
  std::uint64_t calls = 0;
  for_touched(arena_->memory(), base, base + known * sizeof(CallCount),
              [&](std::uint64_t from, std::uint64_t to) {
                const auto first = static_cast<std::uint32_t>((from - base) / sizeof(CallCount));
                const auto end = static_cast<std::uint32_t>((to - base) / sizeof(CallCount));
                for (std::uint32_t function = first; function < end; ++function)
                  if (functions.find(function) != nullptr)
                    calls += read_function(function, thread, clock, time_ns, out);
              });
  return calls;
}

std::uint64_t CountReader::read_function(std::uint32_t function, std::uint32_t thread,
                                         const TickClock& clock, std::uint64_t time_ns,
                                         BatchWriter& out) {
  const CallCount& shared = arena_->counts(ring_)[function];
  if (load_shared(shared.calls) == 0) return 0; // most of them
  CallCount count;
  copy_shared(&count, &shared, sizeof count);
  Told& told = told_[function];
  const std::uint64_t calls = count.calls - told.calls;
  // They only rise; the agent's are not that many in a lifetime.
  if (calls == 0 || count.calls < told.calls || calls > kMostBelieved) return 0;
  const std::uint64_t sum =
      count.sum_ticks >= told.sum_ticks ? count.sum_ticks - told.sum_ticks : 0;
  told.calls = count.calls;
  told.sum_ticks = std::max(count.sum_ticks, told.sum_ticks);

  wire::CountsPayload payload = {};
  payload.calls = calls;
  payload.sum_ns = clock.duration_ns(sum);
  payload.least_ns = count.least_ticks == 0 ? 0 : clock.duration_ns(count.least_ticks - 1);
  payload.most_ns = clock.duration_ns(count.most_ticks);

  const bool has_histogram = count.histogram != 0 && count.histogram <= wire::kHistogramsOfRing;
  constexpr std::size_t kMostBuckets = wire::bucket_of(~std::uint64_t{0}) + 1;
  static_assert(kMostBuckets <= wire::kHistogramBuckets);
  std::byte* const at = out.reserve(sizeof(wire::RecordHeader) + sizeof payload +
                                    kMostBuckets * sizeof(wire::CountedBucket)) +
                        sizeof(wire::RecordHeader);
  std::size_t used = sizeof payload;
  if (has_histogram) {
    const auto& buckets = arena_->histograms(ring_)[count.histogram - 1].buckets;
    told.buckets.resize(kMostBuckets);
    for (std::size_t bucket = 0; bucket < kMostBuckets; ++bucket) {
      const std::uint32_t value = load_shared(buckets[bucket]);
      const std::uint32_t more = value - told.buckets[bucket];
      if (more == 0) continue;
      told.buckets[bucket] = value;
      const wire::CountedBucket counted = {static_cast<std::uint32_t>(bucket), more};
      std::memcpy(at + used, &counted, sizeof counted);
      used += sizeof counted;
      ++payload.buckets;
    }
  }
  std::memcpy(at, &payload, sizeof payload);
  wire::RecordHeader header = {};
  header.kind = wire::RecordKind::Counts;
  header.function = function;
  header.thread = thread;
  header.time_ns = time_ns;
  out.commit(header, used);
  return calls;
}

} // namespace sonictrace
