#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sonictrace/sink/json_options.hpp"
#include "sonictrace/sink/writer.hpp"
#include "sonictrace/stream/sink.hpp"

namespace sonictrace {

/// --output-format=json: an object a line, for each call at its end and for each event.
/// docs/JSON.md describes them, docs/json.schema.json is their schema.
class JsonSink final : public Sink {
public:
  JsonSink(Writer writer, const JsonOptions& options);
  ~JsonSink() override;

  void define(const Definition& definition) override;
  void write(RecordBatch batch) override;
  void tick(std::uint64_t now_ns) override;
  Result<void> finish(const SessionSummary& summary) override;
  std::uint64_t bytes_written() const override;
  bool is_healthy() const override;

  /// After finish: the closing line as the text log would have it, without a newline.
  const std::string& closing_line() const { return closing_line_; }

private:
  class Log;
  std::unique_ptr<Log> log_;
  std::string closing_line_;
};

} // namespace sonictrace
