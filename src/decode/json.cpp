#include "sonictrace/decode/json.hpp"

#include "decode/json_values.hpp"
#include "decode/value_walker.hpp"

namespace sonictrace {

bool has_result(const proto::CallPlan& plan) {
  return plan.result.shown == proto::PlannedValue::Shown::Value;
}

void json_arguments(std::string& out, const proto::CallPlan& plan, std::span<const std::byte> entry,
                    std::optional<std::span<const std::byte>> leave, const ValueStyle& style) {
  out += '[';
  JsonValues values(out, style);
  walk_arguments(plan, entry, leave, ArgumentPart::All, values);
  out += ']';
}

void json_result(std::string& out, const proto::CallPlan& plan, std::span<const std::byte> leave,
                 const ValueStyle& style) {
  if (!has_result(plan)) {
    out += "null";
    return;
  }
  JsonValues values(out, style);
  walk_result(plan, leave, values);
}

} // namespace sonictrace
