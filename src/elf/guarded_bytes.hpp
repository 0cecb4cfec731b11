#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonictrace/elf/entries.hpp"

namespace sonictrace::elf {

/// The bytes of entries that nothing may lead to, as they become the inside of one instruction;
/// and what was found to lead there nevertheless.
class GuardedBytes {
public:
  struct Range {
    /// The second byte that is replaced, as the first is the jump's own. Behind an endbr64 the
    /// first as well: only a loop leads there, which is no call.
    ElfAddress begin;
    ElfAddress end;
    ElfAddress jump;       ///< the first byte that is replaced
    std::size_t index = 0; ///< of the entry
  };

  explicit GuardedBytes(std::span<const EntryBytes> entries);

  const std::vector<Range>& ranges() const { return ranges_; } ///< by begin
  bool is_refused(std::size_t index) const { return reasons_[index].has_value(); }

  /// False for most addresses that are not guarded. Quick.
  bool may_hold(ElfAddress address) const {
    if (address.value() - first_.value() >= reach_) return false; // wraps for one before the first
    const std::uint64_t key = key_of(address);
    return (filter_[key / 64] >> (key % 64) & 1) != 0;
  }
  bool holds(ElfAddress address) const;

  /// Refuses the entries that guard `address`, where there are any.
  void led_to(ElfAddress address, const char* why);
  void refuse(std::size_t index, const char* why);

  std::vector<std::optional<std::string>> take_reasons() { return std::move(reasons_); }

private:
  /// Two neighbours share a bit, so that a range has few.
  std::uint64_t key_of(ElfAddress address) const {
    return (address.value() / 2 * 0x9e37'79b9'7f4a'7c15) >> shift_;
  }
  template <class Visit>
  void for_each_that_holds(ElfAddress address, Visit visit) const;

  std::vector<Range> ranges_;
  std::vector<std::optional<std::string>> reasons_; ///< by entry
  std::vector<std::uint64_t> filter_;               ///< a power of two of bits
  int shift_ = 0;
  ElfAddress first_;        ///< begin of the first range
  std::uint64_t reach_ = 0; ///< bytes from there to the last one's end
};

} // namespace sonictrace::elf
