#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "sonictrace/stream/sink.hpp"
#include "sonictrace/wire/record.hpp"

namespace sonictrace {

/// One record of a batch; `payload` is what follows its header, and up to 7 zero bytes behind that.
struct RecordView {
  wire::RecordHeader header;
  std::span<const std::byte> payload;
};

/// The captured fields of a Call. Those of its end are empty where nothing was captured there; up
/// to 7 zero bytes are behind them.
struct CallFields {
  std::span<const std::byte> entry, leave;
};

/// What a Counts tells.
class CountsView {
public:
  /// `payload`: of a record that a RecordReader gave out.
  explicit CountsView(std::span<const std::byte> payload) : buckets_(payload) {
    std::memcpy(&sums_, payload.data(), sizeof sums_);
    buckets_ = payload.subspan(sizeof sums_);
  }

  const wire::CountsPayload& sums() const { return sums_; }
  std::size_t bucket_count() const { return static_cast<std::size_t>(sums_.buckets); }
  /// `at` < bucket_count(). It is one of the histogram's buckets.
  wire::CountedBucket bucket(std::size_t at) const {
    wire::CountedBucket bucket;
    std::memcpy(&bucket, buckets_.data() + at * sizeof bucket, sizeof bucket);
    return bucket;
  }

private:
  wire::CountsPayload sums_;
  std::span<const std::byte> buckets_;
};

/// Goes through a batch record by record, and trusts nothing in it: the inline engine's batches
/// come from memory that the traced program can write.
class RecordReader {
public:
  explicit RecordReader(RecordBatch batch) : rest_(batch) {}

  /// The next record; none at the end, and none from the first malformed one on.
  std::optional<RecordView> next() {
    RecordView view;
    if (!next(view)) return std::nullopt;
    return view;
  }
  /// The same, without a copy: it is asked millions of times a second. False: there is none.
  bool next(RecordView& view) {
    using wire::RecordHeader;
    if (rest_.empty()) return false;
    if (rest_.size() < sizeof(RecordHeader)) return fail("a part of a record at the end");
    std::memcpy(&view.header, rest_.data(), sizeof view.header);
    const std::size_t size = view.header.size;
    if (size < sizeof(RecordHeader)) return fail("a record smaller than its header");
    if (size % wire::kRecordAlignment != 0) return fail("a record of an odd size");
    if (size > rest_.size()) return fail("a record that runs over the end");
    view.payload = rest_.subspan(sizeof(RecordHeader), size - sizeof(RecordHeader));
    if (!is_sound(view)) return false;
    rest_ = rest_.subspan(size);
    return true;
  }

  /// What was wrong with the record that ended the iteration; null if nothing was.
  const char* error() const { return error_; }

private:
  bool is_sound(const RecordView& view) {
    using wire::RecordKind;
    if (view.header.kind == RecordKind::Call) [[likely]]
      return is_sound_call(view.payload);
    if (view.header.kind == RecordKind::Counts) return is_sound_counts(view.payload);
    if (view.header.kind < RecordKind::Enter || view.header.kind > RecordKind::Frames)
      return fail("a record of an unknown kind");
    return true;
  }
  bool is_sound_call(std::span<const std::byte> payload) {
    wire::CallPayload head;
    if (payload.size() < sizeof head) return fail("a call without a payload");
    std::memcpy(&head, payload.data(), sizeof head);
    if (head.entry_size > payload.size() - sizeof head)
      return fail("a call whose entry runs over its end");
    return true;
  }
  bool is_sound_counts(std::span<const std::byte> payload);
  bool fail(const char* why);

  std::span<const std::byte> rest_;
  const char* error_ = nullptr;
};

/// Of a Call that a RecordReader gave out.
inline CallFields call_fields(const RecordView& call) {
  wire::CallPayload head;
  std::memcpy(&head, call.payload.data(), sizeof head);
  const auto fields = call.payload.subspan(sizeof head);
  const auto leave = fields.subspan(head.entry_size);
  // No field begins with a size of 0: nothing was captured, and those zeros fill up the record.
  std::uint16_t first_size = 0;
  if (leave.size() >= sizeof first_size) std::memcpy(&first_size, leave.data(), sizeof first_size);
  return {fields.first(head.entry_size), first_size != 0 ? leave : leave.first(0)};
}

} // namespace sonictrace
