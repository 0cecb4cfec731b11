#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sonictrace/log/function_table.hpp"

namespace sonictrace::report {

/// What a call mostly does, by the name of its function.
enum class CallClass : std::uint8_t {
  Cpu,  ///< all that is not known to be one of the others
  Wait, ///< for a time, another thread, or an event
  Io,   ///< reads, writes, opens, closes
  Mem,  ///< takes memory and gives it back
};

CallClass class_of(const log::Function& function);
std::string_view to_string(CallClass one);
std::optional<CallClass> parse_call_class(std::string_view text);

} // namespace sonictrace::report
