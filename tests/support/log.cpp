#include "support/log.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <regex>

namespace sonictrace::test {
namespace {

/// Where the parenthesis of the arguments is: the first that belongs to no `<...>` of a template
/// and no `operator()`.
std::size_t find_arguments(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("operator")) {
      i += 8;
      if (text.substr(i).starts_with("()"))
        i += 2;
      else
        while (i < text.size() &&
               std::string_view("<>=+-*/!&|^~,").find(text[i]) != std::string_view::npos)
          ++i;
      if (i >= text.size()) break;
    }
    if (text[i] == '-' && text.substr(i).starts_with("->"))
      ++i;
    else if (text[i] == '<')
      ++depth;
    else if (text[i] == '>')
      --depth;
    else if (text[i] == '(' && depth == 0)
      return i;
  }
  return std::string_view::npos;
}

/// Splits at the commas outside of quotes and brackets.
std::vector<std::string> split_arguments(std::string_view text) {
  std::vector<std::string> arguments;
  std::string one;
  int depth = 0;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      one += c;
      if (c == '\\' && i + 1 < text.size())
        one += text[++i];
      else if (c == quote)
        quote = 0;
      continue;
    }
    if (c == '"' || c == '\'') quote = c;
    if (c == '{' || c == '[' || c == '(') ++depth;
    if (c == '}' || c == ']' || c == ')') --depth;
    if (c == ',' && depth == 0) {
      arguments.push_back(one);
      one.clear();
      if (i + 1 < text.size() && text[i + 1] == ' ') ++i;
    } else {
      one += c;
    }
  }
  if (!one.empty() || !arguments.empty()) arguments.push_back(one);
  return arguments;
}

struct Prefix {
  std::string thread, time;
  std::string_view text;
};

Prefix take_prefix(std::string_view line) {
  static const std::regex regex(R"(^(?:\[pid (\d+)\] |(\d+) )?)"
                                R"(\s*(?:(\d\d:\d\d:\d\d(?:\.\d+)?|\d+\.\d{6,9})(?:/(\d+))? )?)"
                                R"((?:\[0x[0-9a-f]+\] )?\s*)");
  std::match_results<std::string_view::const_iterator> match;
  std::regex_search(line.begin(), line.end(), match, regex);
  Prefix prefix;
  for (const std::size_t group : {1U, 2U, 4U})
    if (match[group].matched) prefix.thread = match[group].str();
  prefix.time = match[3].str();
  prefix.text = line.substr(static_cast<std::size_t>(match[0].length()));
  return prefix;
}

/// What stands behind the last `)`: `= VALUE`, and with -T a time. False where there is no such.
bool take_end(std::string_view& text, LoggedCall& call) {
  static const std::regex spent(R"( <(\d+\.\d{6,9})>$)");
  std::match_results<std::string_view::const_iterator> match;
  if (std::regex_search(text.begin(), text.end(), match, spent)) {
    call.spent = match[1].str();
    text.remove_suffix(static_cast<std::size_t>(match[0].length()));
  }
  static const std::regex equals(R"(\) *= )");
  std::size_t at = std::string_view::npos, size = 0;
  for (std::regex_iterator<std::string_view::const_iterator> i(text.begin(), text.end(), equals),
       end;
       i != end; ++i) {
    at = static_cast<std::size_t>(i->position());
    size = static_cast<std::size_t>(i->length());
  }
  if (at == std::string_view::npos) return false;
  call.result = std::string(text.substr(at + size));
  call.end = call.result == "<unwound>" ? LoggedCall::End::Unwound : LoggedCall::End::Returned;
  text = text.substr(0, at);
  return true;
}

bool take_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

} // namespace

std::vector<LoggedCall> Log::of(std::string_view name) const {
  std::vector<LoggedCall> some;
  std::copy_if(calls.begin(), calls.end(), std::back_inserter(some),
               [&](const LoggedCall& call) { return call.name == name; });
  return some;
}

bool Log::has_event(const std::string& pattern) const {
  const std::regex regex(pattern);
  return std::any_of(events.begin(), events.end(),
                     [&](const auto& event) { return std::regex_match(event, regex); });
}

Log parse_log(std::string_view text) {
  Log log;
  std::map<std::string, std::vector<std::size_t>> open; // of each thread
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    const Prefix prefix = take_prefix(line);
    std::string_view rest = prefix.text;
    if (rest.starts_with("--- ") || rest.starts_with("+++ ") ||
        rest.starts_with("unexpected breakpoint")) {
      log.events.emplace_back(rest);
      continue;
    }
    if (rest.starts_with("<... ")) {
      const std::size_t name_end = rest.find(" resumed> ");
      std::string_view name = rest.substr(5, name_end == std::string_view::npos ? 0 : name_end - 5);
      name = name.substr(0, name.find('@'));
      auto& stack = open[prefix.thread];
      const auto found = std::find_if(stack.rbegin(), stack.rend(), [&](std::size_t index) {
        return log.calls[index].name == name;
      });
      if (name.empty() || found == stack.rend()) {
        log.strange.emplace_back(line);
        continue;
      }
      LoggedCall& call = log.calls[*found];
      std::string_view tail = rest.substr(name_end + 10);
      if (!take_end(tail, call)) log.strange.emplace_back(line);
      for (auto& argument : split_arguments(tail))
        if (!argument.empty()) call.arguments.push_back(argument);
      stack.erase(std::next(found).base());
      continue;
    }
    LoggedCall call;
    call.thread = prefix.thread;
    call.time = prefix.time;
    const std::size_t parenthesis = find_arguments(rest);
    if (parenthesis == std::string_view::npos) {
      log.strange.emplace_back(line);
      continue;
    }
    std::string name(rest.substr(0, parenthesis));
    if (const auto arrow = name.find("->");
        arrow != std::string::npos && !name.starts_with("operator")) {
      call.caller = name.substr(0, arrow);
      name.erase(0, arrow + 2);
    }
    if (const auto at = name.find('@'); at != std::string::npos) {
      call.module = name.substr(at + 1);
      name.erase(at);
    }
    call.name = name;
    rest.remove_prefix(parenthesis + 1);
    bool stays_open = false;
    if (take_suffix(rest, " <unfinished ...>"))
      stays_open = true;
    else if (take_suffix(rest, " <no return ...>"))
      stays_open = true, call.end = LoggedCall::End::NoReturn;
    else if (!take_end(rest, call)) {
      log.strange.emplace_back(line);
      continue;
    }
    call.arguments = split_arguments(rest);
    log.calls.push_back(call);
    if (stays_open) open[call.thread].push_back(log.calls.size() - 1);
  }
  return log;
}

std::string to_expectation(const LoggedCall& call, std::size_t arguments) {
  std::string text = call.name + "(";
  for (std::size_t i = 0; i < std::min(arguments, call.arguments.size()); ++i)
    text += (i == 0 ? "" : ", ") + call.arguments[i];
  return text + ") = " + call.result;
}

} // namespace sonictrace::test
