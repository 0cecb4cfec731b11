#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sonictrace::report {

/// `850ns`, `2.01ms`, `20.3ms`, `200.6ms`, `1.50s`, `2h05m`: three digits, for people.
std::string format_duration(std::uint64_t ns);

/// Seconds with so many decimals, rounded half up: `1.8710`.
std::string format_seconds(std::uint64_t ns, unsigned decimals);

/// `13,220,000`.
std::string format_count(std::uint64_t count);

/// `10us`, `1ms`, `0.5s`, `2m`, `1h`, `100ns`, `0`; in nanoseconds. Nothing where it is none.
std::optional<std::uint64_t> parse_duration_ns(std::string_view text);

/// Bytes: `1000000`, `64K`, `256M`, `2G`, by powers of 1024. Nothing where it is none.
std::optional<std::uint64_t> parse_size(std::string_view text);

} // namespace sonictrace::report
