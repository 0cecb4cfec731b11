#pragma once

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sonictrace/base/say.hpp"

namespace sonictrace {

/// What the tracer itself does, on stderr, for those who look for its faults (-D). A value: it is
/// handed to whom it may concern, and costs a test of a bit where nobody asked.
class DebugLog {
public:
  /// Bits of the mask.
  enum Topic : unsigned {
    Stops = 01,
    Probes = 02,  ///< put in
    Modules = 04, ///< seen, gone
    Processes = 010, ///< and threads: begun, ended
  };

  DebugLog() = default;
  explicit DebugLog(unsigned mask) : mask_(mask) {}

  /// The mask as it is typed, in octal; nothing where it is no octal number.
  static std::optional<DebugLog> parse(std::string_view octal) {
    unsigned mask = 0;
    const auto* const end = octal.data() + octal.size();
    const auto [rest, error] = std::from_chars(octal.data(), end, mask, 8);
    if (error != std::errc{} || rest != end) return std::nullopt;
    return DebugLog(mask);
  }

  /// What -Dh prints.
  static std::string help() {
    return "-D MASK: an octal number, the sum of what is to be told on stderr:\n"
           "   1  stops of tracees\n"
           "   2  probes put in\n"
           "   4  modules seen and gone\n"
           "  10  processes and threads begun and ended\n"
           "  77  all of these\n";
  }

  bool wants(Topic topic) const { return (mask_ & topic) != 0; }

  /// One line.
  template <class... Arguments>
  void say(Topic topic, fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    if (!wants(topic)) return;
    sonictrace::say(STDERR_FILENO,
                    "sonictrace: debug: " +
                        fmt::format(format, std::forward<Arguments>(arguments)...) + "\n");
  }

  bool operator==(const DebugLog&) const = default;

private:
  unsigned mask_ = 0;
};

} // namespace sonictrace
