#include "sonictrace/report/stages.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sonictrace/base/unique_fd.hpp"

namespace sonictrace::report {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

/// `"a", "b"`, with or without the brackets of TOML; false where it is nothing of that.
bool read_strings(std::string_view text, std::vector<std::string>& strings) {
  text = trimmed(text);
  if (text.starts_with('[') && text.ends_with(']')) text = trimmed(text.substr(1, text.size() - 2));
  while (!text.empty()) {
    if (text[0] != '"') return false;
    const auto end = text.find('"', 1);
    if (end == std::string_view::npos) return false;
    strings.emplace_back(text.substr(1, end - 1));
    text = trimmed(text.substr(end + 1));
    if (text.starts_with('#')) return true;
    if (text.empty()) return true;
    if (text[0] != ',') return false;
    text = trimmed(text.substr(1));
  }
  return true;
}

} // namespace

Result<Stages> Stages::parse(std::string_view text, const std::string& name) {
  Stages stages;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto newline = text.find('\n');
    const auto line = trimmed(text.substr(0, newline));
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    if (line.empty() || line[0] == '#') continue;
    const auto wrong = [&](std::string_view what) {
      return Error::saying(fmt::format("{}:{}: {}", name, number, what));
    };
    if (line[0] == '[') {
      const auto stage = trimmed(line.substr(1, line.size() - 2));
      if (!line.ends_with(']') || stage.empty())
        return wrong("no stage: it looks like [image encoding]");
      stages.stages_.push_back({std::string(stage), {}, {}});
      continue;
    }
    const auto equals = line.find('=');
    const auto key = trimmed(line.substr(0, equals));
    std::vector<std::string> patterns;
    if (equals == std::string_view::npos || (key != "func" && key != "lib") ||
        !read_strings(line.substr(equals + 1), patterns))
      return wrong("neither [stage] nor func = \"glob\", \"glob\" nor lib = \"glob\"");
    if (stages.stages_.empty()) return wrong("before the first [stage]");
    for (const auto& pattern : patterns) {
      auto glob = Glob::compile(pattern);
      if (!glob) return wrong(fmt::format("glob '{}': {}", pattern, glob.error().message()));
      auto& stage = stages.stages_.back();
      (key == "func" ? stage.functions : stage.libraries).push_back(std::move(*glob));
    }
  }
  if (stages.stages_.empty()) return Error::saying(name + ": no [stage] in it");
  return stages;
}

Result<Stages> Stages::read(const std::string& path) {
  auto file = UniqueFd::open(path.c_str(), O_RDONLY);
  if (!file) return Error::saying("can't read stages " + file.error().message());
  std::string text;
  char block[4096];
  for (;;) {
    const auto n = ::read(file->get(), block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error::from_errno("can't read stages " + path);
    if (n == 0) break;
    text.append(block, static_cast<std::size_t>(n));
    if (text.size() > 1'000'000) return Error::saying(path + ": too long for a file of stages");
  }
  return parse(text, path);
}

std::string_view Stages::stage_of(const log::Function& function) const {
  const auto matches = [](const std::vector<Glob>& globs, std::string_view text) {
    return std::any_of(globs.begin(), globs.end(),
                       [text](const Glob& glob) { return glob.matches(text); });
  };
  for (const auto& stage : stages_)
    if (matches(stage.functions, function.name)) return stage.name;
  if (!function.module.empty())
    for (const auto& stage : stages_)
      if (matches(stage.libraries, function.module)) return stage.name;
  return "other";
}

std::vector<std::string> Stages::names() const {
  std::vector<std::string> names;
  for (const auto& stage : stages_)
    names.push_back(stage.name);
  return names;
}

} // namespace sonictrace::report
