#include "sonictrace/sink/json_sink.hpp"

#include <utility>
#include <variant>

#include "sink/json_log.hpp"

namespace sonictrace {

JsonSink::JsonSink(Writer writer, const JsonOptions& options)
    : log_(std::make_unique<Log>(std::move(writer), options)) {}

JsonSink::~JsonSink() { log_->writer().flush(); }

void JsonSink::define(const Definition& definition) {
  std::visit([this](const auto& which) { log_->take(which); }, definition);
  log_->writer().end_batch();
}

void JsonSink::write(RecordBatch batch) {
  log_->write(batch);
  log_->writer().end_batch();
}

void JsonSink::tick(std::uint64_t) { log_->writer().flush(); }

Result<void> JsonSink::finish(const SessionSummary& summary) {
  log_->close(summary);
  log_->writer().finish();
  closing_line_ = log_->closing_line(summary);
  return log_->writer().status();
}

std::uint64_t JsonSink::bytes_written() const { return log_->writer().size(); }

bool JsonSink::is_healthy() const { return log_->writer().is_healthy(); }

} // namespace sonictrace
