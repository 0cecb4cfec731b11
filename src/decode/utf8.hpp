#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sonictrace {

constexpr std::uint32_t kReplacement = 0xfffd; ///< for what is no character

/// How many bytes at the front are UTF-8 (RFC 3629): no surrogates, no longer forms, nothing behind
/// U+10FFFF.
std::size_t utf8_prefix(std::string_view text);

/// Could all of it be the beginning of one character?
bool is_utf8_beginning(std::string_view text);

/// Is it what people write: characters without control codes, but for those that move the cursor?
/// `is_cut`: the last character may be incomplete.
bool is_printable(std::string_view text, bool is_cut);

/// What is no character becomes U+FFFD.
void append_utf8(std::string& out, std::uint32_t character);

} // namespace sonictrace
