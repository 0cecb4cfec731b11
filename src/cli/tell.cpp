#include "cli/tell.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstddef>

#include "sonictrace/base/say.hpp"

namespace sonictrace {

std::string printable(std::string_view text) {
  std::string clean;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const auto next = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0u;
    if (byte == 0xc2 && next >= 0x80 && next < 0xa0) { // U+0080..U+009F, controls too
      clean += fmt::format("\\302\\{:03o}", next);
      ++at;
    } else if ((byte < 0x20 && byte != '\n') || byte == 0x7f) {
      clean += fmt::format("\\{:03o}", byte);
    } else {
      clean += text[at];
    }
  }
  return clean;
}

void print(std::string_view text) { say(STDOUT_FILENO, printable(text)); }

void print_error(std::string_view text) { say(STDERR_FILENO, printable(text)); }

void tell(std::string_view line) { print_error(fmt::format("sonictrace: {}\n", line)); }

void occupy_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", O_RDONLY | O_CLOEXEC); // takes this one
}

} // namespace sonictrace
