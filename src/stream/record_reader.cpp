#include "sonictrace/stream/record_reader.hpp"

#include <cstring>

namespace sonictrace {

using wire::RecordHeader;
using wire::RecordKind;

std::optional<RecordView> RecordReader::next() {
  if (rest_.empty()) return std::nullopt;
  if (rest_.size() < sizeof(RecordHeader)) return fail("a part of a record at the end");
  RecordView view;
  std::memcpy(&view.header, rest_.data(), sizeof view.header);
  const std::size_t size = view.header.size;
  if (size < sizeof(RecordHeader)) return fail("a record smaller than its header");
  if (size % wire::kRecordAlignment != 0) return fail("a record of an odd size");
  if (size > rest_.size()) return fail("a record that runs over the end");
  if (view.header.kind < RecordKind::Enter || view.header.kind > RecordKind::Frames)
    return fail("a record of an unknown kind");
  view.payload = rest_.subspan(sizeof(RecordHeader), size - sizeof(RecordHeader));
  rest_ = rest_.subspan(size);
  return view;
}

std::optional<RecordView> RecordReader::fail(const char* why) {
  error_ = why;
  rest_ = {};
  return std::nullopt;
}

} // namespace sonictrace
