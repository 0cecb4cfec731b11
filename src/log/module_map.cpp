#include "sonictrace/log/module_map.hpp"

#include <fmt/format.h>

#include <vector>

#include "sonictrace/log/line.hpp"
#include "sonictrace/log/log_input.hpp"

namespace sonictrace::log {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 20;

/// Whether the line is none of a map.
bool add_line(std::string_view text, ModuleMap& map) {
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (text.empty() || text[0] == '#') return true;
  const auto line = parse_line(text);
  if (line.kind == LineKind::ModuleOf) {
    const auto known = split_module(text, line);
    map.add(known.function, known.module);
    return true;
  }
  if (line.kind != LineKind::Bad) return true; // another one of a log
  const auto blank = text.find_first_of(" \t");
  if (blank == std::string_view::npos || blank == 0) return false;
  const auto function = text.find_first_not_of(" \t", blank);
  if (function == std::string_view::npos) return false;
  map.add(text.substr(function, text.find_last_not_of(" \t") + 1 - function),
          text.substr(0, blank));
  return true;
}

} // namespace

Result<ModuleMap> ModuleMap::read(const std::string& path) {
  auto input = LogInput::open(path);
  if (!input) return input.error();
  ModuleMap map;
  std::vector<char> buffer(std::size_t{1} << 18);
  std::string rest; // the beginning of a line
  std::size_t number = 0;
  const auto wrong = [&] {
    return Error::saying(fmt::format("{}:{}: neither MODULE FUNCTION nor a line of a log, in which "
                                     "+++ FUNCTION is in MODULE +++ "
                                     "counts",
                                     input->name(), number));
  };
  for (;;) {
    auto got = input->read(buffer);
    if (!got) return got.error();
    if (*got == 0) break;
    std::string_view text(buffer.data(), *got);
    for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
      ++number;
      rest += text.substr(0, end);
      if (!add_line(rest, map)) return wrong();
      rest.clear();
      text.remove_prefix(end + 1);
    }
    if (rest.size() < kLongestLine) rest += text;
  }
  ++number;
  if (!add_line(rest, map)) return wrong();
  return map;
}

} // namespace sonictrace::log
