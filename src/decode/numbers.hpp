#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "sonictrace/proto/type.hpp"

namespace sonictrace {

/// The low `size` bytes, as a number with a sign.
inline std::int64_t with_sign(std::uint64_t number, std::size_t size) {
  if (size >= sizeof number || size == 0) return static_cast<std::int64_t>(number);
  const std::size_t unused = 64 - size * 8;
  return static_cast<std::int64_t>(number << unused) >> unused;
}

/// `0xff`, zero `0`.
void append_hex_number(std::string& out, std::uint64_t value);
/// `0755`, zero `00`.
void append_octal_number(std::string& out, std::uint64_t value);
/// `0b101`, zero `0`.
void append_binary_number(std::string& out, std::uint64_t value);
/// Decimal from -10000 to 10000, else hex: of what may be a number, a pointer, anything.
void append_guess(std::string& out, std::uint64_t value);
/// Does append_guess take it for a number?
inline bool is_guessed_number(std::uint64_t value) {
  constexpr std::uint64_t kSmall = 10000;
  return value + kSmall <= 2 * kSmall; // what is negative wraps around
}

/// `<3-5,7>`; where more bits are set than not, those that are not: `~<0>`.
void append_bits(std::string& out, std::span<const std::byte> bytes);

/// `CV_8UC3 640x480`; with more than two dimensions `CV_32FC1 4D`. The 16 bytes are the flags, the
/// number of dimensions, the rows and the columns of a cv::Mat.
void append_matrix(std::string& out, std::span<const std::byte> bytes);

/// How a floating-point number is written.
enum class FloatForm {
  Shortest, ///< the fewest digits that read back as the same number: `0.1`, `1.0`, `1e+100`
  Fixed,    ///< as `%f` does
  Hex,      ///< as `%a` does
};
/// `size`: 4, 8, or more for the x87's ten bytes; it is shown with the precision of `precision`.
void append_float(std::string& out, const std::byte* bytes, std::size_t size, std::size_t precision,
                  FloatForm form);
/// Is it a number that a double can hold, and not an infinity or a NaN?
bool is_finite_float(const std::byte* bytes, std::size_t size, std::size_t precision);

/// The name of a value; none: false.
bool append_name(std::string& out, const proto::NameTable& names, std::uint64_t value,
                 std::size_t size);
/// `O_WRONLY|O_CREAT|0x40000000`: see docs/LOG-FORMAT.md.
void append_flags(std::string& out, const proto::NameTable& names, std::uint64_t value,
                  std::size_t size);

} // namespace sonictrace
