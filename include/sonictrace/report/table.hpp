#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sonictrace/base/json_string.hpp"

namespace sonictrace::report {

/// How a table is written.
enum class TableFormat : std::uint8_t {
  Text,      ///< for people: aligned columns
  Csv,       ///< RFC 4180, with a line of names
  Json,      ///< one array of objects
  JsonLines, ///< one object a line
  Markdown,
};

/// Nothing where the name is none of text, csv, json, jsonl, md.
std::optional<TableFormat> parse_table_format(std::string_view name);

/// A value that is written as `2.01ms` for people, and in nanoseconds for programs.
struct Nanoseconds {
  std::uint64_t value = 0;
  bool operator==(const Nanoseconds&) const = default;
};
/// A time that is written as `1.8710` for people, and in nanoseconds for programs.
struct Seconds {
  std::uint64_t ns = 0;
  bool operator==(const Seconds&) const = default;
};
/// Written as `27.1` for people, and with four decimals for programs.
struct Percent {
  double value = 0;
  bool operator==(const Percent&) const = default;
};

using Cell = std::variant<std::monostate, std::string, std::uint64_t, std::int64_t, Nanoseconds,
                          Seconds, Percent, double>;

struct Column {
  std::string key;      ///< for programs: `self_ns`
  std::string title;    ///< for people: `self_s`
  bool is_left = false; ///< aligned to the left

  bool operator==(const Column&) const = default;
};

/// Columns and rows of values, for people and for programs alike.
struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

/// Ends in a newline, unless there is nothing to write. What is in cells may be any bytes.
std::string render(const Table& table, TableFormat format);

/// What people see of a cell, without control characters.
std::string shown(const Cell& cell);
/// A field of CSV, quoted where it has to be (RFC 4180).
std::string csv_field(std::string_view text);

} // namespace sonictrace::report
