#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sonictrace/base/result.hpp"

namespace sonictrace::publish {

/// Settings of librdkafka by their names (its CONFIGURATION.md).
using KafkaSettings = std::vector<std::pair<std::string, std::string>>;

/// Lines `name=value`; `#` begins a line that is a remark. The form of Kafka's own tools.
Result<KafkaSettings> parse_kafka_settings(std::string_view text);

struct KafkaOptions {
  std::string brokers; ///< HOST[:PORT], with commas between several
  std::string topic;
  /// So long no record may be acknowledged before it is given up.
  std::chrono::milliseconds patience{30'000};
  KafkaSettings settings; ///< go before those that are made here
};

/// Of `kafka://HOST[:PORT],.../TOPIC`. Fails with one line.
Result<KafkaOptions> parse_kafka_url(std::string_view url);

/// Sends records to a topic, each of them once (librdkafka's idempotent producer), and knows of
/// each what became of it. What waits to be sent takes at most kQueueBytes; send() waits where it
/// is full. A broker that takes nothing for as long as the patience is given up: then all that was
/// not acknowledged, and what is sent later, counts as dropped.
class KafkaProducer {
public:
  static constexpr std::size_t kQueueBytes = std::size_t{16} << 20;
  static constexpr std::size_t kQueueRecords = 50'000;

  /// Does not wait for a broker. Fails where a setting is wrong, and where the program was built
  /// without librdkafka.
  static Result<KafkaProducer> make(const KafkaOptions& options);

  KafkaProducer(KafkaProducer&& other) noexcept;
  KafkaProducer& operator=(KafkaProducer&& other) noexcept;
  /// Does not wait: what finish() was not called for is lost.
  ~KafkaProducer();

  /// Fails once, where the brokers are given up.
  Result<void> send(std::string_view key, std::string_view record);
  /// Waits until it is known of each record what became of it. Fails as send() does.
  Result<void> finish();

  std::uint64_t delivered() const; ///< acknowledged by the brokers
  std::uint64_t dropped() const;   ///< not acknowledged, and given up
  /// Why a record was dropped that the brokers refused for itself (too large); empty if none was.
  const std::string& refusal() const;

private:
  struct Impl;
  explicit KafkaProducer(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

} // namespace sonictrace::publish
