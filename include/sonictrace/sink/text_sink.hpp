#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sonictrace/sink/text_options.hpp"
#include "sonictrace/sink/writer.hpp"
#include "sonictrace/stream/sink.hpp"

namespace sonictrace {

/// The classic log: `strlen("abc") = 3`, one line a call or ltrace's split lines.
/// docs/LOG-FORMAT.md has its grammar.
class TextSink final : public Sink {
public:
  /// `module_lines`: end with a line `+++ NAME is in SONAME +++` for each function that was called,
  /// unless `options.closing_lines` is off.
  TextSink(Writer writer, const TextOptions& options, bool module_lines);
  /// Writes what is pending also where `finish` was never reached.
  ~TextSink() override;

  void define(const Definition& definition) override;
  void write(RecordBatch batch) override;
  void tick(std::uint64_t now_ns) override;
  Result<void> finish(const SessionSummary& summary) override;
  std::vector<FunctionId> take_thinned() override;
  std::uint64_t bytes_written() const override;
  bool is_healthy() const override;

  /// After finish: the closing line, without a newline, also where the log has none.
  const std::string& closing_line() const { return closing_line_; }

private:
  class Log;
  std::unique_ptr<Log> log_;
  std::string closing_line_;
};

} // namespace sonictrace
