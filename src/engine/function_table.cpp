#include "sonictrace/engine/function_table.hpp"

namespace sonictrace {

FunctionId FunctionTable::intern(FunctionDefinition definition) {
  Key key(definition.mangled, definition.caller, definition.implemented_by, definition.entry);
  const auto [known, is_new] = ids_.emplace(std::move(key), static_cast<FunctionId>(functions_.size()));
  if (!is_new) return known->second;
  definition.id = known->second;
  definition.prototype = prototypes_.find(definition.mangled);
  auto& plan = plans_[definition.prototype.get()];
  if (!plan)
    plan = std::make_shared<proto::CapturePlan>(proto::compile(*definition.prototype, string_limit_));
  functions_.push_back({std::move(definition), plan});
  return known->second;
}

} // namespace sonictrace
