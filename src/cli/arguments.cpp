#include "cli/arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string_view>

namespace sonictrace {

namespace {

enum class Takes { Nothing, Value, OptionalValue };

Takes takes(const CLI::Option& option) {
  if (option.get_items_expected_max() > 0) return Takes::Value;
  return option.get_type_name().empty() ? Takes::Nothing : Takes::OptionalValue;
}

const CLI::Option* find_short(const CLI::App& app, char letter) {
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_snames())
      if (name.size() == 1 && name[0] == letter) return option;
  return nullptr;
}

/// One cut of an argument list; the members are where it has got to.
class Splitter {
public:
  Splitter(const CLI::App& app, std::span<const char* const> arguments)
      : app_(app), rest_(arguments) {}

  Arguments split() {
    while (!rest_.empty() && result_.fault == Arguments::Fault::None && !ended_) {
      const std::string_view argument = rest_.front();
      if (argument.size() < 2 || argument[0] != '-') break;
      rest_ = rest_.subspan(1);
      if (argument == "--") break;
      if (argument[1] == '-')
        take_long(argument.substr(2));
      else
        take_short(argument.substr(1));
    }
    result_.command.assign(rest_.begin(), rest_.end());
    return std::move(result_);
  }

private:
  void fail(Arguments::Fault fault, std::string option) {
    result_.fault = fault;
    result_.faulty = std::move(option);
  }

  void take(const std::string& name) {
    result_.options.push_back(name);
    ended_ = name == "-h" || name == "--help" || name == "-V" || name == "--version";
  }

  void take_next_as_value(const std::string& name) {
    if (rest_.empty()) return fail(Arguments::Fault::ValueMissing, name);
    result_.options.insert(result_.options.end(), {name, rest_.front()});
    rest_ = rest_.subspan(1);
  }

  /// `letters`: glued ones, and maybe the value of the last.
  void take_short(std::string_view letters) {
    for (std::size_t i = 0; i < letters.size() && !ended_; ++i) {
      const std::string name = {'-', letters[i]};
      const CLI::Option* option = find_short(app_, letters[i]);
      if (option == nullptr) return fail(Arguments::Fault::UnknownOption, name);
      if (takes(*option) != Takes::Value) {
        take(name);
        continue;
      }
      if (i + 1 == letters.size()) return take_next_as_value(name);
      result_.options.insert(result_.options.end(), {name, std::string(letters.substr(i + 1))});
      return;
    }
  }

  /// By its name or the beginning of it; null after a fault.
  std::pair<const CLI::Option*, std::string> find_long(std::string_view typed) {
    const CLI::Option* found = nullptr;
    std::vector<std::string> names;
    for (const CLI::Option* option : app_.get_options()) {
      for (const std::string& name : option->get_lnames()) {
        if (name == typed) return {option, "--" + name};
        if (name.substr(0, typed.size()) != typed) continue;
        names.push_back("--" + name);
        found = option;
      }
    }
    if (names.size() == 1) return {found, names.front()};
    fail(names.empty() ? Arguments::Fault::UnknownOption : Arguments::Fault::AmbiguousOption,
         "--" + std::string(typed));
    result_.possibilities = std::move(names);
    return {nullptr, {}};
  }

  void take_long(std::string_view text) {
    const std::size_t equals = text.find('=');
    const std::string_view typed = text.substr(0, equals);
    const auto [option, name] = find_long(typed);
    if (option == nullptr) return;

    const bool has_value = equals != std::string_view::npos;
    const std::string value(has_value ? text.substr(equals + 1) : "");
    switch (takes(*option)) {
      case Takes::Nothing:
        if (has_value) return fail(Arguments::Fault::ValueNotAllowed, name);
        return take(name);
      case Takes::OptionalValue: return take(has_value ? name + "=" + value : name);
      case Takes::Value:
        if (!has_value) return take_next_as_value(name);
        result_.options.insert(result_.options.end(), {name, value});
        return;
    }
  }

  const CLI::App& app_;
  std::span<const char* const> rest_;
  Arguments result_;
  bool ended_ = false;
};

constexpr std::size_t kWidth = 80;
constexpr std::size_t kTextColumn = 26;

std::string label(const CLI::Option& option) {
  std::string text;
  for (const std::string& name : option.get_snames())
    text += (text.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames())
    text += (text.empty() ? "--" : ", --") + name;
  const std::string value = option.get_type_name();
  if (takes(option) == Takes::OptionalValue) return text + "[=" + value + "]";
  if (takes(option) == Takes::Nothing) return text;
  return text + (option.get_lnames().empty() ? " " : "=") + value;
}

/// `words` in lines of kWidth columns, each behind kTextColumn blanks but the first.
std::string wrapped(std::string_view words) {
  std::string text;
  std::size_t column = kTextColumn;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(std::min(words.size(), word.size() + 1));
    if (column > kTextColumn && column + 1 + word.size() > kWidth) {
      text += "\n" + std::string(kTextColumn, ' ');
      column = kTextColumn;
    } else if (column > kTextColumn) {
      text += ' ';
      ++column;
    }
    text += word;
    column += word.size();
  }
  return text;
}

} // namespace

Arguments Arguments::split(const CLI::App& app, std::span<const char* const> arguments) {
  return Splitter(app, arguments).split();
}

std::string options_text(const CLI::App& app) {
  std::string text;
  std::string group;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group() != group) {
      group = option->get_group();
      text += fmt::format("\n{}:\n", group);
    }
    const std::string names = "  " + label(*option);
    const bool fits = names.size() < kTextColumn;
    text += fmt::format("{:<{}}{}{}\n", names, fits ? kTextColumn : 0,
                        fits ? "" : "\n" + std::string(kTextColumn, ' '),
                        wrapped(option->get_description()));
  }
  return text;
}

} // namespace sonictrace
