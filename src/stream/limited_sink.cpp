#include "sonictrace/stream/limited_sink.hpp"

#include "sonictrace/stream/record_reader.hpp"

namespace sonictrace {

using wire::RecordKind;

void LimitedSink::write(RecordBatch batch) {
  constexpr std::size_t kPortion = 4096; ///< bytes of records between two looks at the log's size
  RecordReader records(batch);
  std::size_t begin = 0, end = 0;
  const auto pass_on = [&] {
    if (end > begin) inner_.write(batch.subspan(begin, end - begin));
    begin = end;
  };
  while (const auto record = records.next()) {
    const bool taken = takes(record->header);
    if (!taken) pass_on();
    end += record->header.size;
    if (!taken) begin = end;
    if (end - begin >= kPortion) pass_on();
  }
  pass_on();
  if (records.error() != nullptr) inner_.write(batch.subspan(end)); // it says so
}

bool LimitedSink::takes(const wire::RecordHeader& record) {
  const bool begins = record.kind == RecordKind::Enter;
  if (begins || record.kind == RecordKind::Call) {
    if (limits_.calls && calls_ >= *limits_.calls) return false;
    if (limits_.bytes && inner_.bytes_written() >= *limits_.bytes) return false;
    ++calls_;
    if (begins) open_.insert(record.call);
    return true;
  }
  if (record.kind == RecordKind::Return || record.kind == RecordKind::Unwound)
    return open_.erase(record.call) != 0;
  return true;
}

} // namespace sonictrace
