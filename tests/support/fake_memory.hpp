#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

namespace sonictrace {

/// Memory of a tracee that does not exist: mappings at addresses, and nothing between them. Has
/// what wire::run_capture asks of a memory.
class FakeMemory {
public:
  /// Maps exactly `content`, with nothing behind it.
  void map(std::uint64_t address, std::string_view content) {
    mappings_[address] = std::string(content);
  }

  /// Maps `text` and its NUL somewhere, and returns where.
  std::uint64_t text(std::string_view content) {
    const std::uint64_t address = next_;
    next_ += (content.size() + 0x1fff) & ~std::uint64_t{0xfff}; // a hole between all
    map(address, std::string(content) + '\0');
    return address;
  }

  std::size_t read(std::uint64_t address, std::byte* into, std::size_t size) {
    ++reads_;
    auto found = mappings_.upper_bound(address);
    if (found == mappings_.begin()) return 0;
    --found;
    const std::uint64_t offset = address - found->first;
    if (offset >= found->second.size()) return 0;
    const std::size_t readable =
        std::min<std::size_t>(size, found->second.size() - static_cast<std::size_t>(offset));
    std::memcpy(into, found->second.data() + offset, readable);
    return readable;
  }

  /// How often it was read.
  int reads() const { return reads_; }

private:
  std::map<std::uint64_t, std::string> mappings_;
  std::uint64_t next_ = 0x7f0000001000;
  int reads_ = 0;
};

} // namespace sonictrace
