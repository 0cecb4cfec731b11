#include "sonictrace/publish/kafka_producer.hpp"

#include <gtest/gtest.h>

#include <set>

#if __has_include(<librdkafka/rdkafka_mock.h>)
#include "support/kafka_brokers.hpp"

namespace sonictrace::publish {
namespace {

using namespace std::chrono_literals;
using test::KafkaBrokers;
constexpr const char* kNobody = "127.0.0.1:1"; ///< a port that nothing listens at

KafkaProducer producer_to(const std::string& brokers, std::chrono::milliseconds patience = 20s,
                          const KafkaSettings& settings = {}) {
  auto made = KafkaProducer::make({brokers, "calls", patience, settings});
  EXPECT_TRUE(made) << made.error().message();
  return std::move(*made);
}

TEST(KafkaProducer, delivers_each_record_once_under_its_key) {
  KafkaBrokers brokers;
  brokers.make_topic("calls", 4);
  auto producer = producer_to(brokers.addresses());

  std::set<KafkaBrokers::Record> sent;
  for (int i = 0; i < 2000; ++i) {
    const KafkaBrokers::Record record{"run:host:" + std::to_string(i),
                                      "{" + std::to_string(i) + "}"};
    ASSERT_TRUE(producer.send(record.first, record.second));
    sent.insert(record);
  }
  ASSERT_TRUE(producer.finish());

  EXPECT_EQ(producer.delivered(), 2000U);
  EXPECT_EQ(producer.dropped(), 0U);
  const auto arrived = brokers.records("calls", 4);
  EXPECT_EQ(arrived.size(), 2000U);
  EXPECT_EQ(std::set<KafkaBrokers::Record>(arrived.begin(), arrived.end()), sent);
}

TEST(KafkaProducer, tries_again_where_a_broker_has_trouble) {
  KafkaBrokers brokers;
  brokers.make_topic("calls", 1);
  brokers.answer_produce_with({RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
                               RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
                               RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT});
  auto producer = producer_to(brokers.addresses());

  for (int i = 0; i < 50; ++i)
    ASSERT_TRUE(producer.send(std::to_string(i), "x"));
  ASSERT_TRUE(producer.finish());

  EXPECT_EQ(producer.delivered(), 50U);
  EXPECT_EQ(brokers.records("calls", 1).size(), 50U);
}

TEST(KafkaProducer, gives_up_brokers_that_are_not_there_and_counts_what_is_lost) {
  auto producer = producer_to(kNobody, 300ms);
  const auto begin = std::chrono::steady_clock::now();

  ASSERT_TRUE(producer.send("1", "x"));
  const auto finished = producer.finish();
  const auto took = std::chrono::steady_clock::now() - begin;

  ASSERT_FALSE(finished);
  EXPECT_NE(finished.error().message().find(
                "kafka://127.0.0.1:1/calls: given up: no record was taken for 0.3"),
            std::string::npos)
      << finished.error().message();
  EXPECT_NE(finished.error().message().find("Connection refused"), std::string::npos)
      << finished.error().message();
  EXPECT_EQ(finished.error().message().find('\n'), std::string::npos);
  EXPECT_GE(took, 300ms);
  EXPECT_LT(took, 5s);
  EXPECT_TRUE(producer.send("2", "x")); // the error was told
  EXPECT_TRUE(producer.finish());
  EXPECT_EQ(producer.delivered(), 0U);
  EXPECT_EQ(producer.dropped(), 2U);
}

TEST(KafkaProducer, gives_up_at_once_where_it_is_refused) {
  KafkaBrokers brokers;
  brokers.make_topic("calls", 1);
  brokers.answer_produce_with({RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED});
  auto producer = producer_to(brokers.addresses(), 60s);
  const auto begin = std::chrono::steady_clock::now();

  ASSERT_TRUE(producer.send("1", "x"));
  const auto finished = producer.finish();

  ASSERT_FALSE(finished);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
  EXPECT_NE(finished.error().message().find("given up: Broker: Topic authorization failed"),
            std::string::npos)
      << finished.error().message();
  EXPECT_EQ(producer.dropped(), 1U);
}

TEST(KafkaProducer, says_what_is_wrong_with_the_topic) {
  KafkaBrokers brokers;
  brokers.make_topic("calls", 1);
  brokers.forbid("calls");
  auto producer = producer_to(brokers.addresses(), 500ms);

  ASSERT_TRUE(producer.send("1", "x"));
  const auto finished = producer.finish();

  ASSERT_FALSE(finished);
  EXPECT_NE(finished.error().message().find("Topic authorization failed"), std::string::npos)
      << finished.error().message();
}

TEST(KafkaProducer, holds_no_more_than_its_queue_while_it_waits) {
  auto producer = producer_to(kNobody, 500ms);
  const std::string record(4096, 'x');

  std::size_t sent = 0;
  bool has_failed = false;
  while (!has_failed && sent < 100'000) {
    has_failed = !producer.send("key", record);
    ++sent;
  }

  EXPECT_TRUE(has_failed);
  EXPECT_LE((sent - 1) * record.size(), KafkaProducer::kQueueBytes);
  EXPECT_EQ(producer.dropped(), sent);
}

TEST(KafkaProducer, drops_a_record_that_is_too_large_and_goes_on) {
  KafkaBrokers brokers;
  brokers.make_topic("calls", 1);
  auto producer = producer_to(brokers.addresses());

  EXPECT_TRUE(producer.send("large", std::string(3'000'000, 'x')));
  EXPECT_TRUE(producer.send("small", "x"));
  EXPECT_TRUE(producer.finish());

  EXPECT_EQ(producer.delivered(), 1U);
  EXPECT_EQ(producer.dropped(), 1U);
  EXPECT_NE(producer.refusal().find("size too large"), std::string::npos) << producer.refusal();
}

TEST(KafkaProducer, says_which_setting_is_wrong) {
  const auto made = KafkaProducer::make({kNobody, "calls", 1s, {{"security.protocl", "ssl"}}});

  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message().find("security.protocl"), std::string::npos)
      << made.error().message();
}

TEST(KafkaProducer, ends_at_once_where_nobody_waits_for_its_records) {
  const auto begin = std::chrono::steady_clock::now();
  {
    auto producer = producer_to(kNobody, 60s);
    ASSERT_TRUE(producer.send("1", "x"));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

} // namespace
} // namespace sonictrace::publish

#else
TEST(KafkaProducer, needs_librdkafka) { GTEST_SKIP() << "built without librdkafka-dev"; }
#endif
