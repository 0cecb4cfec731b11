#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "sonictrace/decode/quote.hpp"
#include "sonictrace/proto/prototype.hpp"

namespace sonictrace {

struct ValueStyle {
  std::uint32_t string_limit = 32; ///< -s
  /// Strings and nulls as ltrace shows them: see docs/LOG-FORMAT.md.
  bool ltrace = false;
  bool whole_paths = true; ///< file names are not cut at the limit
};

/// `1, "text", 0x7f..`: the arguments that a plan compiled from `prototype` captured at the entry.
/// `captured` may be anything: a field that is missing or of a wrong size shows as `?`.
void append_arguments(std::string& out, const proto::Prototype& prototype,
                      std::span<const std::byte> captured, const ValueStyle& style);

/// The result, as captured at the return: `<void>`, `-1`, `"text"`.
void append_result(std::string& out, const proto::Prototype& prototype,
                   std::span<const std::byte> captured, const ValueStyle& style);

} // namespace sonictrace
