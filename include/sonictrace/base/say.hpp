#pragma once

#include <unistd.h>

#include <string_view>

namespace sonictrace {

/// Writes `text` to stdout or stderr, as far as it can be written: a message that nobody can read
/// (a full disk, a closed pipe, no stderr at all) is no reason to end. A signal ends the wait for a
/// reader who has stalled.
inline void say(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

} // namespace sonictrace
