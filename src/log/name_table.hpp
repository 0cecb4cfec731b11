#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace sonictrace::log {

/// Numbers for names, in the order in which they were added.
class NameTable {
public:
  static constexpr std::uint32_t kFull = ~std::uint32_t{0};

  /// `capacity`: names beyond so many are not taken.
  explicit NameTable(std::size_t capacity) : capacity_(capacity), slots_(1024) {}

  /// The number of a name, which is added where it is new; kFull where it can't be. `slack`: so
  /// many bytes behind the name can be read.
  std::uint32_t number(std::string_view name, std::size_t slack = 0) {
    const auto hash = hash_of(name, slack);
    for (std::size_t i = hash & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[i];
      if (slot.number == 0) return add(name, hash, i);
      if (slot.hash != static_cast<std::uint32_t>(hash >> 32)) continue;
      const auto known = names_[slot.number - 1];
      if (known.size() == name.size() && is_same(known.data(), name.data(), name.size(), slack))
        return slot.number - 1;
    }
  }

  std::size_t size() const { return names_.size(); }
  std::string_view name(std::uint32_t number) const { return names_[number]; }

private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t number = 0; ///< plus one
  };

  static std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U; // 2^64 / golden ratio, as Fibonacci hashing has it
    return hash ^ hash >> 29;
  }

  /// `known` has eight readable bytes behind it.
  static bool is_same(const char* known, const char* name, std::size_t size, std::size_t slack) {
    if (slack < 8 || size > 64) return std::memcmp(known, name, size) == 0;
    std::uint64_t a, b;
    for (; size >= 8; size -= 8, known += 8, name += 8) {
      std::memcpy(&a, known, 8);
      std::memcpy(&b, name, 8);
      if (a != b) return false;
    }
    if (size == 0) return true;
    std::memcpy(&a, known, 8);
    std::memcpy(&b, name, 8);
    return (a ^ b) << (64 - 8 * size) == 0; // the first bytes are the low ones
  }

  static std::uint64_t hash_of(std::string_view name, std::size_t slack) {
    const char* p = name.data();
    std::size_t left = name.size();
    std::uint64_t hash = left;
    std::uint64_t word;
    for (; left >= 8; left -= 8, p += 8) {
      std::memcpy(&word, p, 8);
      hash = mix(hash, word);
    }
    if (left > 0) {
      if (slack >= 8) {
        std::memcpy(&word, p, 8);
        word &= ~std::uint64_t{0} >> (64 - 8 * left); // the first bytes are the low ones
      } else {
        word = 0;
        std::memcpy(&word, p, left);
      }
      hash = mix(hash, word);
    }
    return mix(hash, 0);
  }

  std::uint32_t add(std::string_view name, std::uint64_t hash, std::size_t slot);
  std::string_view keep(std::string_view name);
  void grow();

  std::size_t capacity_;
  std::vector<Slot> slots_; ///< a power of two, at most half full
  std::vector<std::string_view> names_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::unique_ptr<char[]>> pages_; ///< the names' bytes
  char* page_end_ = nullptr;                   ///< of the last page
  std::size_t left_ = 0;                       ///< in it
};

} // namespace sonictrace::log
