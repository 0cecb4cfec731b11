#include "counted.hpp"

#include <cstdlib>

namespace sonictrace::test {
namespace {

/// The name that a line of a text log begins a call with; empty where it begins none.
std::string_view called(std::string_view line) {
  // Process, time and thread come first; none of them has a letter or an underscore.
  std::size_t begin = 0;
  if (line.starts_with("[pid ")) begin = line.find(']') + 1;
  while (begin < line.size() &&
         (std::isdigit(static_cast<unsigned char>(line[begin])) || line[begin] == ' ' ||
          line[begin] == ':' || line[begin] == '.' || line[begin] == '/'))
    ++begin;
  line.remove_prefix(std::min(begin, line.size()));
  if (line.empty() || line[0] == '+' || line[0] == '-' || line[0] == '<') return {};
  line = line.substr(0, line.find('('));
  return line.substr(0, line.find('@'));
}

template <class Take>
void for_each_line(std::string_view text, Take take) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

} // namespace

OwnAccount own_account(const std::string& out) {
  static const std::regex calls(R"((child )?calls (\S+) (\d+))"), rest(R"((slack|open) (\d+))");
  OwnAccount account;
  for (const auto& line : lines_of(out)) {
    std::smatch match;
    if (std::regex_match(line, match, calls))
      (match[1].matched ? account.of_children : account.of_first)[match[2]] += std::stol(match[3]);
    else if (std::regex_match(line, match, rest))
      (match[1] == "slack" ? account.slack : account.open) += std::stol(match[2]);
    else
      account.other += line + "\n";
  }
  return account;
}

Counts calls_in_log(std::string_view text) {
  std::map<std::string_view, long> counts;
  for_each_line(text, [&](std::string_view line) {
    const std::string_view name = called(line);
    if (!name.empty()) ++counts[name];
  });
  return {counts.begin(), counts.end()};
}

Counts calls_in_table(std::string_view text) {
  static const std::regex row(R"(\s*[\d.]+\s+[\d.]+\s+[\d.]+\s+(\d+) (\S.*))");
  Counts counts;
  for (const auto& line : lines_of(std::string(text))) {
    std::smatch match;
    if (std::regex_match(line, match, row)) counts[match[2]] += std::stol(match[1]);
  }
  return counts;
}

void expect_counts(const Counts& actual, const Counts& expected, long slack, long open) {
  EXPECT_FALSE(expected.empty()) << "the program has counted nothing";
  for (const auto& [name, count] : expected) {
    const auto found = actual.find(name);
    const long seen = found == actual.end() ? 0 : found->second;
    EXPECT_GE(seen, count - open) << "calls of " << name << " are missing";
    EXPECT_LE(seen, count + slack) << "too many calls of " << name;
  }
}

Counts operator+(Counts a, const Counts& b) {
  for (const auto& [name, count] : b)
    a[name] += count;
  return a;
}

long setting(const char* name, long otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr ? std::atol(value) : otherwise;
}

} // namespace sonictrace::test
