#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sonictrace/base/json_string.hpp"
#include "sonictrace/decode/render.hpp"
#include "sonictrace/proto/call_plan.hpp"

namespace sonictrace {

// Values as JSON (RFC 8259): docs/LOG-FORMAT.md says how each of them is written.

/// `[1,"text","0x7f.."]`: the arguments, as append_arguments has them.
void json_arguments(std::string& out, const proto::CallPlan& plan, std::span<const std::byte> entry,
                    std::optional<std::span<const std::byte>> leave, const ValueStyle& style);

/// The result; `null` where it is void or hidden.
void json_result(std::string& out, const proto::CallPlan& plan, std::span<const std::byte> leave,
                 const ValueStyle& style);

/// Is there a result to show?
bool has_result(const proto::CallPlan& plan);

} // namespace sonictrace
