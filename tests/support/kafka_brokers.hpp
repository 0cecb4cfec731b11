#pragma once

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace sonictrace::test {

/// Three brokers of Kafka in this process (librdkafka's mock cluster), on 127.0.0.1.
class KafkaBrokers {
public:
  using Record = std::pair<std::string, std::string>; ///< key and value

  KafkaBrokers()
      : owner_(make(RD_KAFKA_PRODUCER, {})), cluster_(rd_kafka_mock_cluster_new(owner_, 3)) {
    EXPECT_NE(cluster_, nullptr);
  }
  KafkaBrokers(const KafkaBrokers&) = delete;
  KafkaBrokers& operator=(const KafkaBrokers&) = delete;
  ~KafkaBrokers() {
    rd_kafka_mock_cluster_destroy(cluster_);
    rd_kafka_destroy(owner_);
  }

  std::string addresses() const { return rd_kafka_mock_cluster_bootstraps(cluster_); }
  void make_topic(const std::string& topic, int partitions) {
    EXPECT_EQ(rd_kafka_mock_topic_create(cluster_, topic.c_str(), partitions, 3),
              RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  void forbid(const std::string& topic) {
    rd_kafka_mock_topic_set_error(cluster_, topic.c_str(),
                                  RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  }
  /// The next requests to produce are answered so.
  void answer_produce_with(const std::vector<rd_kafka_resp_err_t>& errors) {
    constexpr std::int16_t kProduce = 0; // the protocol's key of the request
    rd_kafka_mock_push_request_errors_array(cluster_, kProduce, errors.size(), errors.data());
  }

  /// All that is in a topic, up to the end of each partition.
  std::vector<Record> records(const std::string& topic, int partitions) const {
    auto* const consumer = make(RD_KAFKA_CONSUMER, {{"bootstrap.servers", addresses()},
                                                    {"group.id", "test"},
                                                    {"enable.partition.eof", "true"}});
    rd_kafka_poll_set_consumer(consumer);
    auto* const from = rd_kafka_topic_partition_list_new(partitions);
    for (int i = 0; i < partitions; ++i)
      rd_kafka_topic_partition_list_add(from, topic.c_str(), i)->offset = RD_KAFKA_OFFSET_BEGINNING;
    EXPECT_EQ(rd_kafka_assign(consumer, from), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_topic_partition_list_destroy(from);
    std::vector<Record> all;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    for (int ended = 0; ended < partitions && std::chrono::steady_clock::now() < limit;) {
      auto* const message = rd_kafka_consumer_poll(consumer, 100);
      if (message == nullptr) continue;
      if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
        ++ended;
      else if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR)
        all.emplace_back(std::string(static_cast<const char*>(message->key), message->key_len),
                         std::string(static_cast<const char*>(message->payload), message->len));
      rd_kafka_message_destroy(message);
    }
    rd_kafka_consumer_close(consumer);
    rd_kafka_destroy(consumer);
    return all;
  }

private:
  static rd_kafka_t* make(rd_kafka_type_t type,
                          const std::vector<std::pair<std::string, std::string>>& settings) {
    char why[256];
    auto* const conf = rd_kafka_conf_new();
    for (const auto& [name, value] : settings)
      EXPECT_EQ(rd_kafka_conf_set(conf, name.c_str(), value.c_str(), why, sizeof why),
                RD_KAFKA_CONF_OK)
          << why;
    auto* const made = rd_kafka_new(type, conf, why, sizeof why);
    EXPECT_NE(made, nullptr) << why;
    return made;
  }

  rd_kafka_t* owner_;
  rd_kafka_mock_cluster_t* cluster_;
};

} // namespace sonictrace::test
