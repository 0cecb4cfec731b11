#include "sonictrace/engine/function_table.hpp"

namespace sonictrace {

FunctionId FunctionTable::intern(FunctionDefinition definition, const std::string& implemented_by,
                                 const proto::PrototypeLibrary::OwnPrototype& own) {
  Key key(definition.mangled, definition.caller, definition.implemented_by, definition.entry,
          definition.syscall);
  const auto [known, is_new] =
      ids_.emplace(std::move(key), static_cast<FunctionId>(functions_.size()));
  if (!is_new) return known->second;
  definition.id = known->second;
  definition.plan = plan_for(definition, implemented_by, own);
  functions_.push_back({std::move(definition)});
  return known->second;
}

std::shared_ptr<const proto::CallPlan>
FunctionTable::plan_for(const FunctionDefinition& definition, const std::string& implemented_by,
                        const proto::PrototypeLibrary::OwnPrototype& own) {
  if (!choice_.captures) return proto::empty_plan();
  const auto convention = definition.syscall ? proto::CallingConvention::Syscall64
                                             : proto::CallingConvention::SystemV64;
  const proto::Prototype* prototype =
      definition.syscall ? prototypes_.find_syscall(definition.mangled)
                         : prototypes_.find(definition.mangled, implemented_by, own);
  auto& plan = plans_[{prototype, convention}];
  if (!plan)
    plan = std::make_shared<const proto::CallPlan>(
        proto::compile(*prototype, {choice_.string_limit, choice_.array_limit, convention}));
  return plan;
}

} // namespace sonictrace
