#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sonictrace/sink/count_options.hpp"
#include "sonictrace/sink/writer.hpp"
#include "sonictrace/stream/sink.hpp"

namespace sonictrace {

/// -c: no log, but a table of how often and how long each function was called, at the end or each
/// interval too. Calls of one name are summed, whichever module has it. What it keeps and writes
/// grows with the number of functions, not with that of calls.
///
/// Counted is a call at its end: its return, or where an exception or a longjmp left it.
class CountSink final : public Sink {
public:
  CountSink(Writer writer, const CountOptions& options);
  ~CountSink() override;

  void define(const Definition& definition) override;
  void write(RecordBatch batch) override;
  void tick(std::uint64_t now_ns) override;
  Result<void> finish(const SessionSummary& summary) override;
  std::uint64_t bytes_written() const override;
  bool is_healthy() const override;

  /// After finish: the closing line, without a newline, also where nothing has it.
  const std::string& closing_line() const { return closing_line_; }

private:
  class Counts;
  std::unique_ptr<Counts> counts_;
  std::string closing_line_;
};

} // namespace sonictrace
