#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace sonictrace::report {

/// SHA-256 (FIPS 180-4), as sha256sum(1) prints it.
class Sha256 {
public:
  void add(std::span<const char> bytes);
  /// 64 hexadecimal digits; to be asked once.
  std::string finish();

private:
  void take_block(const unsigned char* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> rest_{};
  std::uint64_t bytes_ = 0;
};

} // namespace sonictrace::report
