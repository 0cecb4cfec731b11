#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "sonictrace/stream/sink.hpp"
#include "sonictrace/wire/record.hpp"

namespace sonictrace {

/// One record of a batch; `payload` are its captured fields, and up to 7 zero bytes behind them.
struct RecordView {
  wire::RecordHeader header;
  std::span<const std::byte> payload;
};

/// Goes through a batch record by record, and trusts nothing in it: the inline engine's batches
/// come from memory that the traced program can write.
class RecordReader {
public:
  explicit RecordReader(RecordBatch batch) : rest_(batch) {}

  /// The next record; none at the end, and none from the first malformed one on.
  std::optional<RecordView> next();

  /// What was wrong with the record that ended the iteration; null if nothing was.
  const char* error() const { return error_; }

private:
  std::optional<RecordView> fail(const char* why);

  std::span<const std::byte> rest_;
  const char* error_ = nullptr;
};

} // namespace sonictrace
