#pragma once

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "support/temp_dir.hpp"

namespace sonictrace::test {

/// What a compiler made of a source text, or what it said instead.
struct Compiled {
  TempDir directory;
  std::string path;     ///< of the result
  std::string messages; ///< of the compiler
  bool succeeded = false;
};

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::vector<std::byte> read_bytes(const std::string& path) {
  const std::string text = read_text(path);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline bool has_tool(const std::string& name) {
  return std::system(("command -v '" + name + "' >/dev/null 2>&1").c_str()) == 0;
}

inline std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

/// Runs `command` in a shell, in which {dir}, {src} and {out} stand for a temporary directory, the
/// file in it with `source` (of the given extension), and the file to make.
inline Compiled compile(std::string_view source, std::string command,
                        std::string_view extension = ".c") {
  Compiled result;
  const std::string input = result.directory / ("source" + std::string(extension));
  const std::string log = result.directory / "messages";
  result.path = result.directory / "result";
  std::ofstream(input, std::ios::binary) << source;

  command = replaced(std::move(command), "{src}", input);
  command = replaced(std::move(command), "{out}", result.path);
  command = replaced(std::move(command), "{dir}", result.directory / "");
  const int status = std::system(("( " + command + " ) >" + log + " 2>&1").c_str());
  result.messages = read_text(log);
  result.succeeded = status == 0 && std::filesystem::exists(result.path);
  return result;
}

} // namespace sonictrace::test
