#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "sonictrace/decode/quote.hpp"
#include "sonictrace/proto/call_plan.hpp"

namespace sonictrace {

struct ValueStyle {
  std::uint32_t string_limit = 32; ///< -s
  /// Strings, floating point and nulls as ltrace shows them: see docs/LOG-FORMAT.md.
  bool ltrace = false;
  bool whole_paths = true; ///< file names are not cut at the limit
};

/// Which arguments of a call to write: a split line has them in two parts.
enum class ArgumentPart {
  All,
  Entry, ///< those in front of the first out parameter
  Rest,  ///< from the first out parameter on, a `, ` in front where Entry has written something
};

/// Is there a Rest?
bool has_rest(const proto::CallPlan& plan);

/// `1, "text", 0x7f..`: the arguments of a call, as the plan's steps captured them at the `entry`
/// and, of out parameters, when the call was to `leave`. Of a call that never did, which has no
/// `leave` or an empty one, out parameters are shown by their pointer.
///
/// What was captured may be any bytes: what is missing or malformed shows as `?`.
void append_arguments(std::string& out, const proto::CallPlan& plan,
                      std::span<const std::byte> entry,
                      std::optional<std::span<const std::byte>> leave, ArgumentPart part,
                      const ValueStyle& style);

/// The result, as captured at the return: `<void>`, `-1`, `"text"`.
void append_result(std::string& out, const proto::CallPlan& plan, std::span<const std::byte> leave,
                   const ValueStyle& style);

} // namespace sonictrace
