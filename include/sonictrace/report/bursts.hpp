#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sonictrace/base/result.hpp"
#include "sonictrace/log/log_reader.hpp"
#include "sonictrace/report/call_filter.hpp"
#include "sonictrace/report/table.hpp"

namespace sonictrace::report {

/// The calls that began in a span of time.
struct Bucket {
  std::uint64_t calls = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t self_ns = 0;

  bool operator==(const Bucket&) const = default;
};

/// Buckets next to each other with far more calls than there are on average.
struct Burst {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;
  std::uint64_t calls = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t most_calls = 0; ///< in one bucket

  bool operator==(const Burst&) const = default;
};

/// How many calls began when. Bounded: of too many buckets, two are taken together each time.
class Bursts {
public:
  static constexpr std::size_t kMostBuckets = 100'000; ///< with calls

  /// A bucket belongs to a burst when it has at least `factor` times the calls of an average one,
  /// and `least` calls.
  explicit Bursts(std::uint64_t bucket_ns, double factor = 5, std::uint64_t least = 10)
      : bucket_ns_(bucket_ns), factor_(factor), least_(least) {}

  Result<void> add(log::LogReader& reader, CallFilter& filter);

  std::uint64_t bucket_ns() const { return bucket_ns_; }
  /// Those with calls, by their number from the first time of the log on.
  const std::map<std::uint64_t, Bucket>& buckets() const { return buckets_; }
  std::uint64_t calls() const { return calls_; }
  /// Of all buckets from the beginning of the logs to their end.
  double average() const;
  std::vector<Burst> bursts() const;
  bool is_in_burst(const Bucket& bucket) const;
  bool was_widened() const { return widened_; }

private:
  class Counter;

  void widen();

  std::uint64_t bucket_ns_;
  double factor_;
  std::uint64_t least_;
  std::map<std::uint64_t, Bucket> buckets_;
  std::uint64_t calls_ = 0;
  std::uint64_t first_ns_ = ~std::uint64_t{0}; ///< of the logs, whatever the filter
  std::uint64_t last_ns_ = 0;
  bool widened_ = false;
};

/// One row a bucket with calls: time since `origin_ns`, calls, and whether it is part of a burst.
Table bursts_table(const Bursts& bursts, std::uint64_t origin_ns);
/// For people: bars, and the bursts in words.
std::string bursts_text(const Bursts& bursts, std::uint64_t origin_ns);

/// A bar of block characters, to an eighth of a character: `most` is `cells` long.
std::string bar(double value, double most, unsigned cells);

} // namespace sonictrace::report
