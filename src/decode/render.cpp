#include "sonictrace/decode/render.hpp"

#include <algorithm>

#include "decode/text_values.hpp"
#include "decode/value_walker.hpp"

namespace sonictrace {

bool has_rest(const proto::CallPlan& plan) {
  return std::any_of(plan.parameters.begin(), plan.parameters.end(),
                     [](const proto::PlannedValue& parameter) { return parameter.out; });
}

void append_arguments(std::string& out, const proto::CallPlan& plan,
                      std::span<const std::byte> entry,
                      std::optional<std::span<const std::byte>> leave, ArgumentPart part,
                      const ValueStyle& style) {
  TextValues values(out, style);
  walk_arguments(plan, entry, leave, part, values);
}

void append_result(std::string& out, const proto::CallPlan& plan, std::span<const std::byte> leave,
                   const ValueStyle& style) {
  switch (plan.result.shown) {
    case proto::PlannedValue::Shown::Void: out += "<void>"; return;
    case proto::PlannedValue::Shown::Hidden: return;
    case proto::PlannedValue::Shown::Value: break;
  }
  TextValues values(out, style);
  walk_result(plan, leave, values);
}

} // namespace sonictrace
