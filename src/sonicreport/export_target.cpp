#include "sonicreport/export_target.hpp"

#include <fmt/format.h>

#include "sonicreport/output_file.hpp"
#include "sonictrace/report/quantity.hpp"

namespace sonictrace::sonicreport {
namespace {

class FileTarget final : public ExportTarget {
public:
  explicit FileTarget(OutputFile file) : file_(std::move(file)) {}

  Result<void> put(std::string_view, std::string_view text) override {
    if (has_failed_) return {};
    auto written = file_.write(text);
    has_failed_ = !written;
    return written;
  }
  Result<void> finish() override { return has_failed_ ? Result<void>() : file_.commit(); }

private:
  OutputFile file_;
  bool has_failed_ = false;
};

class HttpTarget final : public ExportTarget {
public:
  explicit HttpTarget(publish::HttpRequest request) : request_(std::move(request)) {}

  Result<void> put(std::string_view, std::string_view text) override {
    ++(has_failed_ ? dropped_ : sent_);
    if (has_failed_) return {};
    auto sent = publish::send_http(request_, text);
    if (sent) return sent;
    has_failed_ = true;
    --sent_;
    ++dropped_;
    return sent;
  }
  Result<void> finish() override { return {}; }
  std::string account() const override {
    if (sent_ + dropped_ <= 1) return {}; // the error says it
    return fmt::format("{}: {} requests delivered, {} dropped", publish::url_to_show(request_.url),
                       report::format_count(sent_), report::format_count(dropped_));
  }
  bool has_dropped() const override { return dropped_ > 0; }

private:
  publish::HttpRequest request_;
  std::uint64_t sent_ = 0, dropped_ = 0;
  bool has_failed_ = false;
};

class KafkaTarget final : public ExportTarget {
public:
  KafkaTarget(publish::KafkaProducer producer, std::string name)
      : producer_(std::move(producer)), name_(std::move(name)) {}

  Result<void> put(std::string_view key, std::string_view text) override {
    if (text.ends_with('\n')) text.remove_suffix(1);
    return producer_.send(key, text);
  }
  Result<void> finish() override { return producer_.finish(); }
  std::string account() const override {
    std::string text = fmt::format("{}: {} records delivered, {} dropped", name_,
                                   report::format_count(producer_.delivered()),
                                   report::format_count(producer_.dropped()));
    if (!producer_.refusal().empty()) text += fmt::format(" ({})", producer_.refusal());
    if (has_dropped())
      text += "; the same command again sends all of them, under the same run id and numbers";
    return text;
  }
  bool has_dropped() const override { return producer_.dropped() > 0; }

private:
  publish::KafkaProducer producer_;
  std::string name_;
};

} // namespace

Result<std::unique_ptr<ExportTarget>> open_file_target(const std::string& path) {
  auto file = OutputFile::open(path);
  if (!file) return file.error();
  return std::unique_ptr<ExportTarget>(std::make_unique<FileTarget>(std::move(*file)));
}

std::unique_ptr<ExportTarget> make_http_target(publish::HttpRequest request) {
  return std::make_unique<HttpTarget>(std::move(request));
}

Result<std::unique_ptr<ExportTarget>> open_kafka_target(const publish::KafkaOptions& options) {
  auto producer = publish::KafkaProducer::make(options);
  if (!producer) return producer.error();
  return std::unique_ptr<ExportTarget>(std::make_unique<KafkaTarget>(
      std::move(*producer), fmt::format("kafka://{}/{}", options.brokers, options.topic)));
}

} // namespace sonictrace::sonicreport
