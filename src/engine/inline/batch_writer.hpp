#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "sonictrace/stream/sink.hpp"
#include "sonictrace/wire/record.hpp"

namespace sonictrace {

/// A batch that is being filled by the collector; for each of a hundred million records there is
/// time for a handful of instructions, so this does less for its user than a RecordBuffer.
class BatchWriter {
public:
  BatchWriter() : bytes_(std::make_unique_for_overwrite<std::byte[]>(kCapacity)) {}

  /// `room` bytes behind what is there, and some more that may be overwritten too.
  std::byte* reserve(std::size_t room) {
    if (used_ + room + kSlack > capacity_) grow(room);
    return bytes_.get() + used_;
  }
  /// Ends the record that was written to the room reserved: `header`, and `payload` bytes.
  void commit(const wire::RecordHeader& header, std::size_t payload) {
    const std::size_t size = wire::record_size(payload);
    std::byte* const at = bytes_.get() + used_;
    put(at + sizeof header + payload, 0);
    // By words: a header that is made of its fields in memory and copied from there costs a stall,
    // which is a third of all that is spent on a record.
    put(at, std::uint64_t{static_cast<std::uint32_t>(size)} |
                std::uint64_t{static_cast<std::uint8_t>(header.kind)} << 32 |
                std::uint64_t{header.flags} << 40 | std::uint64_t{header.depth} << 48);
    put(at + 8, std::uint64_t{header.function} | std::uint64_t{header.thread} << 32);
    put(at + 16, header.call);
    put(at + 24, header.time_ns);
    put(at + 32, header.detail);
    used_ += size;
  }

  RecordBatch batch() const { return {bytes_.get(), used_}; }
  std::size_t size() const { return used_; }
  bool empty() const { return used_ == 0; }
  bool is_full() const { return used_ >= kFull; }
  void clear() { used_ = 0; }

private:
  static constexpr std::size_t kFull = std::size_t{16} * 1024; ///< stays in the first level cache
  static constexpr std::size_t kCapacity = 2 * kFull;
  static constexpr std::size_t kSlack = 64;

  static_assert(sizeof(wire::RecordHeader) == 40 && offsetof(wire::RecordHeader, depth) == 6 &&
                offsetof(wire::RecordHeader, thread) == 12);
  static void put(std::byte* to, std::uint64_t word) { std::memcpy(to, &word, sizeof word); }

  void grow(std::size_t room) {
    const std::size_t wanted = 2 * (used_ + room + kSlack);
    auto larger = std::make_unique_for_overwrite<std::byte[]>(wanted);
    std::memcpy(larger.get(), bytes_.get(), used_);
    bytes_ = std::move(larger);
    capacity_ = wanted;
  }

  std::unique_ptr<std::byte[]> bytes_;
  std::size_t capacity_ = kCapacity;
  std::size_t used_ = 0;
};

} // namespace sonictrace
