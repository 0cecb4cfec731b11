#include <gtest/gtest.h>

#include "sonictrace/publish/kafka_producer.hpp"

namespace sonictrace::publish {
namespace {

TEST(KafkaUrl, names_brokers_and_a_topic) {
  const auto options = parse_kafka_url("kafka://b1:9092,[::1]:9093/sonictrace.calls");

  ASSERT_TRUE(options);
  EXPECT_EQ(options->brokers, "b1:9092,[::1]:9093");
  EXPECT_EQ(options->topic, "sonictrace.calls");
}

TEST(KafkaUrl, says_what_is_missing) {
  for (const auto& [url, said] :
       std::vector<std::pair<const char*, const char*>>{{"kafka://", "names no broker"},
                                                        {"kafka:///t", "names no broker"},
                                                        {"kafka://b:1", "names no topic"},
                                                        {"kafka://b:1/", "names no topic"},
                                                        {"kafka://b:1/a/b", "a topic's name is of"},
                                                        {"http://b:1/a", "not a URL of Kafka"}}) {
    const auto options = parse_kafka_url(url);
    ASSERT_FALSE(options) << url;
    EXPECT_NE(options.error().message().find(said), std::string::npos) << options.error().message();
  }
}

TEST(KafkaSettings, are_lines_with_an_equals_sign) {
  const auto settings =
      parse_kafka_settings("# TLS\n\nsecurity.protocol = ssl\r\nsasl.password=a=b ");

  ASSERT_TRUE(settings);
  EXPECT_EQ(*settings, (KafkaSettings{{"security.protocol", "ssl"}, {"sasl.password", "a=b"}}));
}

TEST(KafkaSettings, tell_the_line_that_is_none_without_showing_it) {
  const auto settings = parse_kafka_settings("a=b\nsecret\n");

  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().message(), "line 2: not NAME=VALUE");
}

} // namespace
} // namespace sonictrace::publish
