#include "sonictrace/sink/count_sink.hpp"

#include <utility>
#include <variant>

#include "sink/counts.hpp"

namespace sonictrace {

CountSink::CountSink(Writer writer, const CountOptions& options)
    : counts_(std::make_unique<Counts>(std::move(writer), options)) {}

CountSink::~CountSink() { counts_->writer().flush(); }

void CountSink::define(const Definition& definition) {
  std::visit([this](const auto& which) { counts_->take(which); }, definition);
}

void CountSink::write(RecordBatch batch) { counts_->write(batch); }

void CountSink::tick(std::uint64_t now_ns) { counts_->tick(now_ns); }

Result<void> CountSink::finish(const SessionSummary& summary) {
  counts_->close(summary);
  counts_->writer().finish();
  closing_line_ = counts_->closing_line(summary);
  return counts_->writer().status();
}

std::uint64_t CountSink::bytes_written() const { return counts_->writer().size(); }

bool CountSink::is_healthy() const { return counts_->writer().is_healthy(); }

} // namespace sonictrace
