#include "sonictrace/log/call.hpp"

namespace sonictrace::log {

std::string_view Call::arguments() const {
  return split_arguments.empty() ? split_call(text, parts).arguments : split_arguments;
}

std::string_view Call::result() const { return split_call(text, parts).result; }

bool ArgumentSplitter::next(std::string_view& argument) {
  if (rest_.empty()) return false;
  int depth = 0;
  std::size_t i = 0;
  for (; i < rest_.size(); ++i) {
    const char c = rest_[i];
    if (c == '"' || c == '\'') {
      std::size_t j = i + 1;
      while (j < rest_.size() && rest_[j] != c)
        j += rest_[j] == '\\' ? 2 : 1;
      if (j < rest_.size()) i = j; // else no string
      continue;
    }
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == ',' && depth <= 0) break;
  }
  argument = rest_.substr(0, i);
  rest_.remove_prefix(i < rest_.size() ? i + 1 : i);
  while (!argument.empty() && argument.back() == ' ')
    argument.remove_suffix(1);
  while (!rest_.empty() && rest_.front() == ' ')
    rest_.remove_prefix(1);
  return true;
}

} // namespace sonictrace::log
