#include "sonictrace/sink/text_sink.hpp"

#include <utility>
#include <variant>

#include "sink/text_log.hpp"

namespace sonictrace {

TextSink::TextSink(Writer writer, const TextOptions& options, bool module_lines)
    : log_(std::make_unique<Log>(std::move(writer), options, module_lines)) {}

TextSink::~TextSink() { log_->writer().flush(); }

void TextSink::define(const Definition& definition) {
  std::visit([this](const auto& which) { log_->take(which); }, definition);
  log_->writer().end_batch();
}

void TextSink::write(RecordBatch batch) {
  log_->write(batch);
  log_->writer().end_batch();
}

void TextSink::tick(std::uint64_t now_ns) {
  log_->tick(now_ns);
  log_->writer().flush();
}

Result<void> TextSink::finish(const SessionSummary& summary) {
  log_->close(summary);
  log_->writer().finish();
  closing_line_ = log_->closing_line(summary);
  return log_->writer().status();
}

std::vector<FunctionId> TextSink::take_thinned() { return log_->take_thinned(); }

std::uint64_t TextSink::bytes_written() const { return log_->writer().size(); }

bool TextSink::is_healthy() const { return log_->writer().is_healthy(); }

} // namespace sonictrace
