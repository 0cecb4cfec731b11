#include "decode/numbers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "sonictrace/decode/digits.hpp"

namespace sonictrace {
namespace {

/// An extended number (Intel SDM 1, 4.2.2): 64 bits of mantissa, 15 of exponent, a sign.
long double extended_in(const std::byte* bytes) {
  constexpr unsigned kBias = 16383, kMantissaBits = 63, kSpecial = 0x7fff;
  std::uint64_t mantissa;
  std::uint16_t head;
  std::memcpy(&mantissa, bytes, sizeof mantissa);
  std::memcpy(&head, bytes + sizeof mantissa, sizeof head);
  const bool negative = (head & 0x8000u) != 0;
  const unsigned exponent = head & 0x7fffu;
  const bool has_integer_bit = mantissa >> 63 != 0;
  long double value;
  if (exponent == kSpecial && mantissa << 1 == 0 && has_integer_bit) {
    value = HUGE_VALL;
  } else if (exponent == kSpecial || (exponent != 0 && !has_integer_bit)) {
    value = std::nanl(""); // with the encodings that no processor takes since the 80387
  } else {
    const int power = static_cast<int>(exponent == 0 ? 1 : exponent);
    value = std::ldexp(static_cast<long double>(mantissa),
                       power - static_cast<int>(kBias + kMantissaBits));
  }
  return negative ? -value : value;
}

template <class Float>
Float float_in(const std::byte* bytes) {
  Float value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

template <class Float>
void append_shortest(std::string& out, Float value) {
  // As Python does: powers of ten from 1e16 on, and below 1e-4.
  constexpr Float kLarge = static_cast<Float>(1e16L), kSmallest = static_cast<Float>(1e-4L);
  const Float size = std::fabs(value);
  const bool plain = size == 0 || (size >= kSmallest && size < kLarge);
  char digits[64];
  const auto form = plain ? std::chars_format::fixed : std::chars_format::scientific;
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value, form);
  out.append(digits, end);
  if (plain && std::memchr(digits, '.', static_cast<std::size_t>(end - digits)) == nullptr)
    out += ".0";
}

template <class Float>
void append_fixed(std::string& out, Float value) {
  constexpr int kDigits = 6;
  char digits[5000]; // a long double has 4933 in front of the point at most
  const auto [end, error] =
      std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed, kDigits);
  out.append(digits, end);
}

/// A 1 in front of the point, as printf has it for a double; std::to_chars and printf have more in
/// front of a long double's.
void append_hex_digits(std::string& out, long double value) {
  constexpr int kDigits = 16; // of a mantissa of 64 bits
  int exponent = 0;
  const long double fraction = std::frexp(value, &exponent); // from 0.5 to 1
  std::uint64_t rest = static_cast<std::uint64_t>(std::ldexp(fraction, 64)) << 1;
  out += value == 0 ? '0' : '1';
  if (rest != 0) out += '.';
  for (int at = 0; at < kDigits && rest != 0; ++at, rest <<= 4)
    out += "0123456789abcdef"[rest >> 60];
  if (value != 0) --exponent;
  out += exponent < 0 ? "p" : "p+";
  append_decimal(out, exponent);
}

template <class Float>
void append_hex_float(std::string& out, Float value) {
  if (std::signbit(value)) out += '-';
  out += "0x";
  append_hex_digits(out, std::fabs(static_cast<long double>(value)));
}

template <class Float>
void append_float(std::string& out, Float value, FloatForm form) {
  if (!std::isfinite(value)) {
    if (std::signbit(value)) out += '-';
    out += std::isnan(value) ? "nan" : "inf";
    return;
  }
  switch (form) {
    case FloatForm::Shortest: return append_shortest(out, value);
    case FloatForm::Fixed: return append_fixed(out, value);
    case FloatForm::Hex: return append_hex_float(out, value);
  }
}

std::uint64_t low_bytes(std::uint64_t value, std::size_t size) {
  return size >= sizeof value ? value : value & ((std::uint64_t{1} << size * 8) - 1);
}

} // namespace

void append_hex_number(std::string& out, std::uint64_t value) {
  if (value == 0)
    out += '0';
  else
    append_hex(out, value);
}

void append_octal_number(std::string& out, std::uint64_t value) {
  out += '0'; // in front of a zero too: `00`
  char digits[24];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value, 8);
  out.append(digits, end);
}

void append_binary_number(std::string& out, std::uint64_t value) {
  if (value != 0) out += "0b";
  char digits[64];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value, 2);
  out.append(digits, end);
}

void append_guess(std::string& out, std::uint64_t value) {
  if (is_guessed_number(value))
    append_decimal(out, static_cast<std::int64_t>(value));
  else
    append_hex(out, value);
}

void append_bits(std::string& out, std::span<const std::byte> bytes) {
  std::size_t set = 0;
  for (const std::byte byte : bytes)
    set += static_cast<std::size_t>(__builtin_popcount(static_cast<unsigned>(byte)));
  const std::size_t bits = bytes.size() * 8;
  const bool shown = set <= bits - set;
  const auto is_shown = [&](std::size_t bit) {
    return ((static_cast<unsigned>(bytes[bit / 8]) >> bit % 8 & 1) != 0) == shown;
  };
  out += shown ? "<" : "~<";
  bool first = true;
  for (std::size_t bit = 0; bit < bits; ++bit) {
    if (!is_shown(bit)) continue;
    std::size_t last = bit;
    while (last + 1 < bits && is_shown(last + 1))
      ++last;
    if (!first) out += ',';
    first = false;
    append_decimal(out, bit);
    if (last > bit) {
      out += '-';
      append_decimal(out, last);
    }
    bit = last;
  }
  out += '>';
}

void append_matrix(std::string& out, std::span<const std::byte> bytes) {
  std::int32_t fields[4] = {};
  std::memcpy(fields, bytes.data(), std::min(bytes.size(), sizeof fields));
  // opencv2/core/hal/interface.h
  constexpr const char* kDepths[] = {"8U", "8S", "16U", "16S", "32S", "32F", "64F", "16F"};
  const auto flags = static_cast<std::uint32_t>(fields[0]);
  out += "CV_";
  out += kDepths[flags & 7];
  out += 'C';
  append_decimal(out, (flags >> 3 & 511) + 1);
  out += ' ';
  const bool is_plain = fields[1] <= 2;
  append_decimal(out, is_plain ? fields[3] : fields[1]);
  out += is_plain ? 'x' : 'D';
  if (is_plain) append_decimal(out, fields[2]);
}

void append_float(std::string& out, const std::byte* bytes, std::size_t size, std::size_t precision,
                  FloatForm form) {
  if (size == 4) return append_float(out, float_in<float>(bytes), form);
  if (size == 8) return append_float(out, float_in<double>(bytes), form);
  const long double value = extended_in(bytes);
  if (precision == 4) return append_float(out, static_cast<float>(value), form);
  if (precision == 8) return append_float(out, static_cast<double>(value), form);
  append_float(out, value, form);
}

bool is_finite_float(const std::byte* bytes, std::size_t size, std::size_t precision) {
  if (size == 4) return std::isfinite(float_in<float>(bytes));
  if (size == 8) return std::isfinite(float_in<double>(bytes));
  const long double value = extended_in(bytes);
  if (precision == 4) return std::isfinite(static_cast<float>(value));
  return std::isfinite(static_cast<double>(value));
}

bool append_name(std::string& out, const proto::NameTable& names, std::uint64_t value,
                 std::size_t size) {
  for (const auto& [name, named] : names) {
    if (low_bytes(static_cast<std::uint64_t>(named), size) != low_bytes(value, size)) continue;
    out += name;
    return true;
  }
  return false;
}

} // namespace sonictrace
