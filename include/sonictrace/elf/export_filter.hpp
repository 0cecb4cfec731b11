#pragma once

#include <cstddef>
#include <cstdint>

namespace sonictrace::elf {

/// Turns away nearly all names that an image does not define, at the price of one look into memory
/// (a Bloom filter of two bits a name, as DT_GNU_HASH has one). Borrows the image's.
class ExportFilter {
public:
  ExportFilter() = default;
  /// `words`: a power of two of them, `mask` + 1.
  ExportFilter(const std::uint64_t* words, std::size_t mask) : words_(words), mask_(mask) {}

  bool is_known() const { return words_ != nullptr; }
  /// `hash`: Image::hash_of_name. Only of one that is known.
  bool may_hold(std::size_t hash) const {
    const std::uint64_t wanted = bits_of(hash);
    return (words_[hash & mask_] & wanted) == wanted;
  }
  static std::uint64_t bits_of(std::size_t hash) {
    return std::uint64_t{1} << (hash >> 58) | std::uint64_t{1} << (hash >> 52 & 63);
  }

private:
  const std::uint64_t* words_ = nullptr;
  std::size_t mask_ = 0;
};

} // namespace sonictrace::elf
