#pragma once

#include <cstdint>
#include <string_view>

namespace sonictrace::log {

/// What `+++ sonictrace: 16 calls, ..., 0 lost calls, ..., 41.8 us own cost a call +++` says.
struct ClosingLine {
  std::uint64_t lost = 0;
  std::uint64_t own_cost_ns = 0;

  bool operator==(const ClosingLine&) const = default;
};

ClosingLine read_closing_line(std::string_view text);

} // namespace sonictrace::log
