#include "sonictrace/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonictrace/base/utf8.hpp"
#include "sonictrace/report/quantity.hpp"

namespace sonictrace::report {
namespace {

struct ForPeople {
  std::string operator()(std::monostate) const { return "-"; }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(std::uint64_t value) const { return fmt::format("{}", value); }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(Nanoseconds time) const { return format_duration(time.value); }
  std::string operator()(Seconds time) const { return format_seconds(time.ns, 4); }
  std::string operator()(Percent part) const { return fmt::format("{:.1f}", part.value); }
  std::string operator()(double value) const { return fmt::format("{:.4g}", value); }
};

/// JSON; CSV where strings are not quoted.
struct ForPrograms {
  bool json;
  std::string operator()(std::monostate) const { return json ? "null" : ""; }
  std::string operator()(const std::string& text) const {
    return json ? json_string(text) : csv_field(text);
  }
  std::string operator()(std::uint64_t value) const { return fmt::format("{}", value); }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(Nanoseconds time) const { return fmt::format("{}", time.value); }
  std::string operator()(Seconds time) const { return fmt::format("{}", time.ns); }
  std::string operator()(Percent part) const { return (*this)(std::round(part.value * 1e4) / 1e4); }
  std::string operator()(double value) const {
    if (!std::isfinite(value)) return json ? "null" : "";
    return fmt::format("{}", value);
  }
};

/// A line break would end the row, a control character move the reader's cursor.
std::string without_controls(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

} // namespace

std::string shown(const Cell& cell) { return without_controls(std::visit(ForPeople{}, cell)); }

namespace {

std::string render_text(const Table& table) {
  std::vector<std::vector<std::string>> lines(1);
  for (const auto& column : table.columns)
    lines[0].push_back(column.title);
  for (const auto& row : table.rows) {
    auto& line = lines.emplace_back();
    for (const auto& cell : row)
      line.push_back(shown(cell));
  }
  std::vector<std::size_t> widths(table.columns.size());
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], line[i].size());
  std::string text;
  for (const auto& line : lines) {
    std::string one;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (i > 0) one += "  ";
      if (table.columns[i].is_left)
        one += fmt::format("{:<{}}", line[i], widths[i]);
      else
        one += fmt::format("{:>{}}", line[i], widths[i]);
    }
    one.erase(one.find_last_not_of(' ') + 1);
    text += one + "\n";
  }
  return text;
}

std::string render_markdown(const Table& table) {
  const auto field = [](std::string text) {
    for (std::size_t i = 0; (i = text.find('|', i)) != std::string::npos; i += 2)
      text.insert(i, 1, '\\');
    return text;
  };
  std::string text = "|";
  for (const auto& column : table.columns)
    text += " " + field(column.title) + " |";
  text += "\n|";
  for (const auto& column : table.columns)
    text += column.is_left ? "---|" : "---:|";
  text += "\n";
  for (const auto& row : table.rows) {
    text += "|";
    for (const auto& cell : row)
      text += " " + field(shown(cell)) + " |";
    text += "\n";
  }
  return text;
}

std::string render_csv(const Table& table) {
  std::string text;
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    text += (i > 0 ? "," : "") + csv_field(table.columns[i].key);
  text += "\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      text += (i > 0 ? "," : "") + std::visit(ForPrograms{false}, row[i]);
    text += "\n";
  }
  return text;
}

std::string json_object(const Table& table, const std::vector<Cell>& row) {
  std::string text = "{";
  for (std::size_t i = 0; i < row.size(); ++i)
    text += (i > 0 ? "," : "") + json_string(table.columns[i].key) + ":" +
            std::visit(ForPrograms{true}, row[i]);
  return text + "}";
}

std::string render_json(const Table& table, bool lines) {
  std::string text = lines ? "" : "[";
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (!lines) text += i > 0 ? ",\n " : "\n ";
    text += json_object(table, table.rows[i]);
    if (lines) text += "\n";
  }
  return lines ? text : text + "\n]\n";
}

} // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::optional<TableFormat> parse_table_format(std::string_view name) {
  if (name == "text") return TableFormat::Text;
  if (name == "csv") return TableFormat::Csv;
  if (name == "json") return TableFormat::Json;
  if (name == "jsonl") return TableFormat::JsonLines;
  if (name == "md") return TableFormat::Markdown;
  return std::nullopt;
}

std::string render(const Table& table, TableFormat format) {
  switch (format) {
    case TableFormat::Text: return render_text(table);
    case TableFormat::Csv: return render_csv(table);
    case TableFormat::Json: return render_json(table, false);
    case TableFormat::JsonLines: return render_json(table, true);
    case TableFormat::Markdown: return render_markdown(table);
  }
  return {};
}

} // namespace sonictrace::report
