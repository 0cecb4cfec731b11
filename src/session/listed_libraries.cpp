#include "session/listed_libraries.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "sonictrace/base/unique_fd.hpp"

namespace sonictrace {

std::vector<std::string> parse_library_list(const std::string& text) {
  std::vector<std::string> paths;
  std::string_view rest = text;
  while (!rest.empty()) {
    auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    constexpr std::string_view kArrow = " => ";
    if (const auto arrow = line.find(kArrow); arrow != std::string_view::npos)
      line.remove_prefix(arrow + kArrow.size());
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t")));
    // A name that holds a blank and a parenthesis of its own ends at the last one.
    const auto address = line.rfind(" (0x");
    if (address == std::string_view::npos || line.front() != '/') continue;
    paths.emplace_back(line.substr(0, address));
  }
  return paths;
}

Result<std::vector<std::string>> list_libraries(const std::string& linker,
                                                const std::string& program) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return Error::from_errno("pipe");
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return Error::from_errno("fork");
  if (child == 0) {
    ::dup2(writer.get(), STDOUT_FILENO);
    ::execl(linker.c_str(), linker.c_str(), "--list", program.c_str(), nullptr);
    ::_exit(127);
  }
  writer = UniqueFd();
  std::string text;
  std::array<char, 4096> chunk;
  for (;;) {
    const auto n = ::read(reader.get(), chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(chunk.data(), static_cast<std::size_t>(n));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0)
    return Error::saying(
        fmt::format("{} --list {} failed; can the program be run?", linker, program));
  return parse_library_list(text);
}

} // namespace sonictrace
