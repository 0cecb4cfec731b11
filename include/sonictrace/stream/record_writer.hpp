#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sonictrace/stream/sink.hpp"
#include "sonictrace/wire/record.hpp"

namespace sonictrace {

/// A batch of records being filled by an engine.
/// Invariant: whole records, one behind the other, but for the one that `enter`, `leave` or `call`
/// began and `commit` has not ended.
class RecordBuffer {
public:
  /// `limit`: bytes from which on is_full() holds.
  explicit RecordBuffer(std::size_t limit = std::size_t{64} * 1024);

  /// Begins an Enter record. The room is for what run_capture writes; `commit` with the bytes used
  /// must follow before anything else.
  std::span<std::byte> enter(std::uint32_t thread, std::uint32_t function, std::uint64_t call,
                             std::uint16_t depth, std::uint64_t time_ns,
                             std::uint64_t return_address, std::size_t room);

  /// Begins a Return record; for the rest as `enter`.
  std::span<std::byte> leave(std::uint32_t thread, std::uint32_t function, std::uint64_t call,
                             std::uint16_t depth, std::uint64_t time_ns, std::uint64_t duration_ns,
                             std::size_t room);

  /// Ends the record begun by `enter` or `leave`, which holds `used` bytes of captured fields.
  void commit(std::size_t used);

  /// What the header of a Call says.
  struct WholeCall {
    std::uint32_t thread;
    std::uint32_t function;
    std::uint16_t depth;
    std::uint8_t flags; ///< wire::kCall...
    std::uint64_t time_ns;
    std::uint64_t duration_ns;
    std::uint64_t return_address;
  };
  /// Begins a Call record, with room for the fields of its entry and of its return together;
  /// `commit_call` must follow before anything else.
  std::span<std::byte> call(const WholeCall& call, std::size_t room);

  /// Ends it. Of the `used` bytes of captured fields the first `entry_size` are the entry's.
  void commit_call(std::size_t entry_size, std::size_t used);

  /// A whole Counts record. `sums.buckets` need not be set.
  void counts(std::uint32_t thread, std::uint32_t function, std::uint64_t time_ns,
              wire::CountsPayload sums, std::span<const wire::CountedBucket> buckets);

  /// A whole Unwound record.
  void unwound(std::uint32_t thread, std::uint32_t function, std::uint64_t call,
               std::uint16_t depth, std::uint64_t time_ns, std::uint64_t duration_ns);

  /// A whole Frames record: `frames` of the call whose Enter was committed just before.
  void frames(std::uint32_t thread, std::uint32_t function, std::uint64_t call, std::uint16_t depth,
              std::uint64_t time_ns, std::span<const std::uint32_t> frames);

  RecordBatch batch() const;
  bool empty() const { return used_ == 0; }
  bool is_full() const { return used_ >= limit_; }
  /// Forgets all records; keeps the memory.
  void clear();

private:
  std::span<std::byte> begin(const wire::RecordHeader& header, std::size_t room);

  std::vector<std::byte> bytes_;
  std::size_t used_ = 0; ///< bytes of whole records
  std::size_t limit_;
  std::size_t room_ = 0; ///< of the record begun
  bool begun_ = false;
};

} // namespace sonictrace
