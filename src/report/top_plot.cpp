#include "sonictrace/report/top_plot.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/svg.hpp"
#include "sonictrace/base/utf8.hpp"
#include "sonictrace/report/bursts.hpp"
#include "sonictrace/report/quantity.hpp"

namespace sonictrace::report {
namespace {

/// Columns of a terminal, as if every character took one.
std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (; !text.empty(); ++columns)
    text.remove_prefix(std::max<std::size_t>(utf8_length(text), 1));
  return columns;
}

std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

} // namespace

std::string top_plot(const Top& top, std::size_t limit, unsigned columns) {
  auto rows = top.rows();
  const bool is_time = top.has_times() && top.options().sort != TopSort::Calls;
  const auto value = [is_time](const TopRow& row) {
    return is_time ? row.stats.self_ns : row.stats.calls;
  };
  const auto all = is_time ? top.total().self_ns : top.total().calls;
  if (rows.size() > limit) rows.resize(limit);
  std::uint64_t most = 0;
  std::size_t longest = 0;
  std::vector<std::string> names;
  for (const auto& row : rows) {
    most = std::max(most, value(row));
    names.push_back(printable(row.argument.empty() ? row.label : row.label + " " + row.argument));
    longest = std::max(longest, columns_of(names.back()));
  }
  constexpr unsigned kNumbers = 20; ///< columns behind the names and before the bars
  columns = std::max(columns, 50U);
  const std::size_t width = std::min<std::size_t>(longest, (columns - kNumbers) / 2);
  const auto cells = static_cast<unsigned>(columns - kNumbers - width - 2);
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto name = fitting(names[i], static_cast<double>(width) * kGlyphWidth + 0.1);
    const auto shown = name.empty() ? names[i].substr(0, width) : name;
    const double part =
        all == 0 ? 0 : 100 * static_cast<double>(value(rows[i])) / static_cast<double>(all);
    text += shown + std::string(width - std::min(width, columns_of(shown)), ' ');
    text +=
        fmt::format("  {:>9}  {:>5.1f}%  {}\n",
                    is_time ? format_duration(value(rows[i])) : format_count(value(rows[i])), part,
                    bar(static_cast<double>(value(rows[i])), static_cast<double>(most), cells));
  }
  return text;
}

} // namespace sonictrace::report
