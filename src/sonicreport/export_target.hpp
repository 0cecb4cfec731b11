#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "sonictrace/base/result.hpp"
#include "sonictrace/publish/http_request.hpp"
#include "sonictrace/publish/kafka_producer.hpp"

namespace sonictrace::sonicreport {

/// Where an export goes. After a failure more may be put: it is dropped.
class ExportTarget {
public:
  virtual ~ExportTarget() = default;
  /// A record, or a text that is whole for itself. `key`: what tells it from all others.
  virtual Result<void> put(std::string_view key, std::string_view text) = 0;
  /// At the end of everything: waits until it is there.
  virtual Result<void> finish() = 0;
  /// What a person has to know of the delivery; empty: nothing.
  virtual std::string account() const { return {}; }
  /// Records that did not arrive, as account() says.
  virtual bool has_dropped() const { return false; }
};

/// A file that is there whole or not at all; empty: stdout.
Result<std::unique_ptr<ExportTarget>> open_file_target(const std::string& path);
/// Each text is a request of its own.
std::unique_ptr<ExportTarget> make_http_target(publish::HttpRequest request);
/// Each record is a message of its own, without its line feed.
Result<std::unique_ptr<ExportTarget>> open_kafka_target(const publish::KafkaOptions& options);

} // namespace sonictrace::sonicreport
