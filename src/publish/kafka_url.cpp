#include <fmt/format.h>

#include "sonictrace/publish/kafka_producer.hpp"

namespace sonictrace::publish {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

} // namespace

Result<KafkaOptions> parse_kafka_url(std::string_view url) {
  constexpr std::string_view kScheme = "kafka://";
  const auto wrong = [url](const char* what) {
    return Error::saying(fmt::format("'{}': {}; it is kafka://HOST:PORT,.../TOPIC", url, what));
  };
  if (!url.starts_with(kScheme)) return wrong("not a URL of Kafka");
  const auto rest = url.substr(kScheme.size());
  const auto slash = rest.find('/');
  if (slash == 0 || rest.empty()) return wrong("it names no broker");
  if (slash == std::string_view::npos || slash + 1 == rest.size())
    return wrong("it names no topic");
  KafkaOptions options;
  options.brokers = rest.substr(0, slash);
  options.topic = rest.substr(slash + 1);
  // Kafka's own rule for names (org.apache.kafka.common.internals.Topic).
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  if (options.topic.find_first_not_of(kAllowed) != std::string::npos || options.topic.size() > 249)
    return wrong("a topic's name is of letters, digits, '.', '_' and '-'");
  return options;
}

Result<KafkaSettings> parse_kafka_settings(std::string_view text) {
  KafkaSettings settings;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line[0] == '#') continue;
    const auto equals = line.find('=');
    if (equals == std::string_view::npos || equals == 0) // the line may hold a password
      return Error::saying(fmt::format("line {}: not NAME=VALUE", number));
    settings.emplace_back(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
  }
  return settings;
}

} // namespace sonictrace::publish
