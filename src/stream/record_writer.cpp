#include "sonictrace/stream/record_writer.hpp"

#include <cstring>

#include "sonictrace/base/check.hpp"

namespace sonictrace {

using wire::RecordHeader;
using wire::RecordKind;

RecordBuffer::RecordBuffer(std::size_t limit) : limit_(limit) { bytes_.resize(limit + 4096); }

std::span<std::byte> RecordBuffer::enter(std::uint32_t thread, std::uint32_t function,
                                         std::uint64_t call, std::uint16_t depth,
                                         std::uint64_t time_ns, std::uint64_t return_address,
                                         std::size_t room) {
  return begin({0, RecordKind::Enter, 0, depth, function, thread, call, time_ns, return_address},
               room);
}

std::span<std::byte> RecordBuffer::leave(std::uint32_t thread, std::uint32_t function,
                                         std::uint64_t call, std::uint16_t depth,
                                         std::uint64_t time_ns, std::uint64_t duration_ns,
                                         std::size_t room) {
  return begin({0, RecordKind::Return, 0, depth, function, thread, call, time_ns, duration_ns},
               room);
}

void RecordBuffer::unwound(std::uint32_t thread, std::uint32_t function, std::uint64_t call,
                           std::uint16_t depth, std::uint64_t time_ns, std::uint64_t duration_ns) {
  begin({0, RecordKind::Unwound, 0, depth, function, thread, call, time_ns, duration_ns}, 0);
  commit(0);
}

void RecordBuffer::frames(std::uint32_t thread, std::uint32_t function, std::uint64_t call,
                          std::uint16_t depth, std::uint64_t time_ns,
                          std::span<const std::uint32_t> frames) {
  const auto room =
      begin({0, RecordKind::Frames, 0, depth, function, thread, call, time_ns, frames.size()},
            frames.size_bytes());
  std::memcpy(room.data(), frames.data(), frames.size_bytes());
  commit(frames.size_bytes());
}

std::span<std::byte> RecordBuffer::call(const WholeCall& call, std::size_t room) {
  const auto all = begin({0, RecordKind::Call, call.flags, call.depth, call.function, call.thread,
                          call.return_address, call.time_ns, call.duration_ns},
                         sizeof(wire::CallPayload) + room);
  return all.subspan(sizeof(wire::CallPayload));
}

void RecordBuffer::commit_call(std::size_t entry_size, std::size_t used) {
  SONICTRACE_CHECK(begun_ && entry_size <= used, "the entry is a part of the call");
  const wire::CallPayload head = {static_cast<std::uint32_t>(entry_size)};
  std::memcpy(bytes_.data() + used_ + sizeof(RecordHeader), &head, sizeof head);
  commit(sizeof head + used);
}

void RecordBuffer::counts(std::uint32_t thread, std::uint32_t function, std::uint64_t time_ns,
                          wire::CountsPayload sums, std::span<const wire::CountedBucket> buckets) {
  sums.buckets = buckets.size();
  const auto room = begin({0, RecordKind::Counts, 0, 0, function, thread, 0, time_ns, 0},
                          sizeof sums + buckets.size_bytes());
  std::memcpy(room.data(), &sums, sizeof sums);
  if (!buckets.empty())
    std::memcpy(room.data() + sizeof sums, buckets.data(), buckets.size_bytes());
  commit(sizeof sums + buckets.size_bytes());
}

std::span<std::byte> RecordBuffer::begin(const RecordHeader& header, std::size_t room) {
  SONICTRACE_CHECK(!begun_, "a record was begun and not committed");
  const std::size_t needed = used_ + wire::record_size(room);
  if (bytes_.size() < needed) bytes_.resize(needed * 2);
  std::memcpy(bytes_.data() + used_, &header, sizeof header);
  begun_ = true;
  room_ = room;
  return std::span(bytes_).subspan(used_ + sizeof header, room);
}

void RecordBuffer::commit(std::size_t used) {
  SONICTRACE_CHECK(begun_, "no record was begun");
  SONICTRACE_CHECK(used <= room_, "more was captured than there was room for");
  const std::size_t size = wire::record_size(used);
  const std::size_t filled = sizeof(RecordHeader) + used;
  std::memset(bytes_.data() + used_ + filled, 0, size - filled);
  const auto size32 = static_cast<std::uint32_t>(size);
  std::memcpy(bytes_.data() + used_ + offsetof(RecordHeader, size), &size32, sizeof size32);
  used_ += size;
  begun_ = false;
}

RecordBatch RecordBuffer::batch() const {
  SONICTRACE_CHECK(!begun_, "a record was begun and not committed");
  return RecordBatch(bytes_).first(used_);
}

void RecordBuffer::clear() {
  SONICTRACE_CHECK(!begun_, "a record was begun and not committed");
  used_ = 0;
}

} // namespace sonictrace
