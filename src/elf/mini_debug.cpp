#include "elf/mini_debug.hpp"

#include <lzma.h>

#include <algorithm>
#include <cstdint>

namespace sonictrace::elf {
namespace {

constexpr std::size_t kMost = std::size_t{64} << 20; ///< bytes; that of libLLVM has 5 MB
constexpr std::uint64_t kMostMemory = std::uint64_t{128} << 20;
constexpr std::size_t kFirst = std::size_t{64} << 10;

class Decoder {
public:
  Decoder() { is_sound_ = ::lzma_stream_decoder(&stream_, kMostMemory, 0) == LZMA_OK; }
  Decoder(const Decoder&) = delete;
  ~Decoder() { ::lzma_end(&stream_); }

  std::vector<std::byte> unpack(std::span<const std::byte> packed) {
    std::vector<std::byte> plain;
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
    stream_.avail_in = packed.size();
    while (is_sound_ && plain.size() < kMost) {
      const std::size_t before = plain.size();
      plain.resize(std::min(kMost, std::max(kFirst, before * 2)));
      stream_.next_out = reinterpret_cast<std::uint8_t*>(plain.data() + before);
      stream_.avail_out = plain.size() - before;
      const lzma_ret result = ::lzma_code(&stream_, LZMA_FINISH);
      if (result == LZMA_STREAM_END) {
        plain.resize(plain.size() - stream_.avail_out);
        return plain;
      }
      is_sound_ = result == LZMA_OK && stream_.avail_out == 0;
    }
    return {};
  }

private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool is_sound_ = false;
};

} // namespace

std::vector<std::byte> unpack_mini_debug(std::span<const std::byte> packed) {
  return Decoder().unpack(packed);
}

} // namespace sonictrace::elf
