#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace sonictrace {

/// A whole number in C notation (`10`, `0x10`, `010`), blanks in front allowed, as strtol(3) reads
/// it. Too big a one is the biggest there is. Null when `text` is anything else.
std::optional<std::int64_t> parse_integer(const std::string& text);

/// `10us`, `1ms`, `0.5s`, `2m`, `1h`, `100ns`; also `0`. Null when `text` is anything else.
std::optional<std::chrono::nanoseconds> parse_duration(const std::string& text);

/// `100`, `64K`, `1M`, `2G`, `1T`: powers of 1024, in bytes. Null when `text` is anything else.
std::optional<std::uint64_t> parse_size(const std::string& text);

} // namespace sonictrace
