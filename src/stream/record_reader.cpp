#include "sonictrace/stream/record_reader.hpp"

#include "sonictrace/wire/histogram.hpp"

namespace sonictrace {

bool RecordReader::is_sound_counts(std::span<const std::byte> payload) {
  constexpr std::size_t kLastBucket = wire::bucket_of(~std::uint64_t{0});
  if (payload.size() < sizeof(wire::CountsPayload)) return fail("counts without a payload");
  const CountsView counts(payload);
  const std::size_t room =
      (payload.size() - sizeof(wire::CountsPayload)) / sizeof(wire::CountedBucket);
  if (counts.sums().buckets > room) return fail("counts whose buckets run over their end");
  for (std::size_t at = 0; at < counts.bucket_count(); ++at)
    if (counts.bucket(at).bucket > kLastBucket) return fail("counts of a bucket that there is not");
  return true;
}

bool RecordReader::fail(const char* why) {
  error_ = why;
  rest_ = {};
  return false;
}

} // namespace sonictrace
