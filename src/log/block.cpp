#include "log/block.hpp"

#include <cstring>

namespace sonictrace::log {
namespace {

/// `... <0.000012>`: of a line that nothing else is known of.
bool ends_in_time(std::string_view text) {
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  if (!text.ends_with('>')) return false;
  const auto mark = text.rfind('<');
  const auto inner = text.substr(mark == std::string_view::npos ? text.size() : mark);
  return inner.size() > 4 && inner.find('.') != std::string_view::npos &&
         inner.find_first_not_of("0123456789.", 1) == inner.size() - 1;
}

} // namespace

void BlockScanner::scan(Block& block) {
  block.records.clear();
  block.first_bad.clear();
  block.firsts.clear();
  block.lines = block.blank = block.bad = block.bad_timed = 0;

  const char* const begin = block.bytes.data();
  const char* const end = begin + block.size;
  for (const char* p = begin; p != end;) {
    const auto* newline =
        static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
    if (newline == nullptr) newline = end;
    const std::string_view text(p, static_cast<std::size_t>(newline - p));
    Record& record = block.records.emplace_back();
    parse_line(text, Block::kSlack, record.line);
    record.begin = static_cast<std::uint32_t>(p - begin);
    record.size = static_cast<std::uint32_t>(text.size());
    record.number = block.lines++;
    p = newline == end ? end : newline + 1;
    if (record.line.kind <= LineKind::Resumed) {
      const auto known = names_.size();
      record.function = names_.number(record.line.name(text), Block::kSlack);
      if (names_.size() != known)
        block.firsts.push_back(static_cast<std::uint32_t>(block.records.size() - 1));
    } else if (record.line.kind == LineKind::Blank) {
      ++block.blank;
      block.records.pop_back();
    } else if (record.line.kind == LineKind::Bad) {
      ++block.bad;
      if (ends_in_time(text)) ++block.bad_timed;
      if (block.first_bad.size() < Block::kSkippedKept) block.first_bad.push_back(record);
      block.records.pop_back();
    }
  }
}

} // namespace sonictrace::log
