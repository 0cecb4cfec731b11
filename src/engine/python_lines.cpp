#include "engine/python_lines.hpp"

#include <optional>

namespace sonictrace {
namespace {

/// Lines are what a program says: kept within what a line can be.
std::uint32_t checked(std::int64_t line) {
  constexpr std::int64_t kLastLine = 0x7fff'ffff;
  return line > 0 && line <= kLastLine ? static_cast<std::uint32_t>(line) : 0;
}

class Table {
public:
  explicit Table(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool is_at_end() const { return at_ >= bytes_.size(); }
  std::optional<std::uint8_t> next() {
    if (is_at_end()) return std::nullopt;
    return std::to_integer<std::uint8_t>(bytes_[at_++]);
  }
  std::optional<std::int8_t> next_signed() {
    const auto byte = next();
    return byte ? std::optional(static_cast<std::int8_t>(*byte)) : std::nullopt;
  }
  /// Six bits in each byte, the lowest first; one more follows where the seventh is set.
  std::optional<std::uint64_t> next_number() {
    constexpr unsigned kMostBits = 60;
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < kMostBits; shift += 6) {
      const auto byte = next();
      if (!byte) return std::nullopt;
      number |= std::uint64_t{*byte & 0x3fU} << shift;
      if ((*byte & 0x40) == 0) return number;
    }
    return std::nullopt;
  }
  /// The sign is the lowest bit.
  std::optional<std::int64_t> next_signed_number() {
    const auto number = next_number();
    if (!number) return std::nullopt;
    const auto half = static_cast<std::int64_t>(*number >> 1);
    return (*number & 1) != 0 ? -half : half;
  }
  /// To where the next entry begins: a byte with its highest bit set.
  void skip_rest_of_entry() {
    while (!is_at_end() && (std::to_integer<unsigned>(bytes_[at_]) & 0x80) == 0)
      ++at_;
  }

private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

/// Pairs: so many bytes of code, then so many lines further.
std::uint32_t line_by_increments(Table table, std::int64_t line, std::int64_t offset) {
  std::int64_t at = 0;
  while (const auto code = table.next()) {
    at += *code;
    if (at > offset) break;
    const auto lines = table.next_signed();
    if (!lines) break;
    line += *lines;
  }
  return checked(line);
}

/// Pairs: so many lines further are the next so many bytes of code; -128: they have none.
std::uint32_t line_by_ranges(Table table, std::int64_t line, std::int64_t offset) {
  constexpr std::int8_t kNone = -128;
  std::int64_t end = 0;
  while (const auto code = table.next()) {
    const auto lines = table.next_signed();
    if (!lines) break;
    end += *code;
    if (*lines != kNone) line += *lines;
    if (offset < end) return *lines == kNone ? 0 : checked(line);
  }
  return 0;
}

/// Entries of one byte and what it says: 1, four bits of kind, three of length in code units less
/// one. How the line changes depends on the kind; columns are of no interest.
std::uint32_t line_by_locations(Table table, std::int64_t line, std::int64_t offset) {
  constexpr unsigned kOneLine = 10, kNoColumns = 13, kLong = 14, kNone = 15;
  std::int64_t end = 0;
  while (const auto first = table.next()) {
    if ((*first & 0x80) == 0) return 0;
    const unsigned kind = *first >> 3 & 15U;
    end += ((*first & 7) + 1) * std::int64_t{2};
    if (kind == kNoColumns || kind == kLong) {
      const auto lines = table.next_signed_number();
      if (!lines) return 0;
      line += *lines;
    } else if (kind >= kOneLine && kind < kNoColumns) {
      line += kind - kOneLine;
    }
    if (offset < end) return kind == kNone ? 0 : checked(line);
    table.skip_rest_of_entry();
  }
  return 0;
}

} // namespace

std::uint32_t python_line(wire::PythonLines kind, std::span<const std::byte> table,
                          std::uint32_t first_line, std::int64_t offset) {
  if (offset < 0) return checked(first_line);
  switch (kind) {
    case wire::PythonLines::Increments: return line_by_increments(Table(table), first_line, offset);
    case wire::PythonLines::Ranges: return line_by_ranges(Table(table), first_line, offset);
    case wire::PythonLines::Locations: return line_by_locations(Table(table), first_line, offset);
  }
  return 0;
}

} // namespace sonictrace
