// Brokers of Kafka for other processes: prints their addresses, makes the topic that it is given,
// with so many partitions, and ends with its standard input.
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::array<char, 256> why{};
  auto* const owner = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), why.data(), why.size());
  if (owner == nullptr) return 1;
  auto* const cluster = rd_kafka_mock_cluster_new(owner, 3);
  if (cluster == nullptr) return 1;
  if (rd_kafka_mock_topic_create(cluster, argv[1], std::atoi(argv[2]), 1) !=
      RD_KAFKA_RESP_ERR_NO_ERROR)
    return 1;
  std::printf("%s\n", rd_kafka_mock_cluster_bootstraps(cluster));
  std::fflush(stdout);
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {}
  rd_kafka_mock_cluster_destroy(cluster);
  rd_kafka_destroy(owner);
  return 0;
}
