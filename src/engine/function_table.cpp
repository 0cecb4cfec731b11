#include "sonictrace/engine/function_table.hpp"

namespace sonictrace {

FunctionId FunctionTable::intern(FunctionDefinition definition, const std::string& implemented_by,
                                 const proto::PrototypeLibrary::Account& own) {
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

FunctionTable::Rebound FunctionTable::rebind(FunctionId id, ModuleId implemented_by,
                                             const std::string& soname,
                                             const proto::PrototypeLibrary::Account& own) {
  FunctionDefinition definition = functions_[id].definition;
  const Key assumed(definition.mangled, definition.caller, definition.implemented_by,
                    definition.entry, definition.syscall);
  const bool was_known = definition.implemented_by != kNoModule;
  definition.implemented_by = implemented_by;
  const auto plan = plan_for(definition, soname, own);
  functions_[id].definition.implemented_by = implemented_by;
  if (plan == definition.plan) return {id, false};
  // Who assumes that module from now on has another function.
  if (const auto known = ids_.find(assumed); known != ids_.end() && known->second == id)
    ids_.erase(known);
  const bool is_misread = was_known && !definition.plan->guessed;
  const FunctionId now = intern(std::move(definition), soname, own);
  return {now, is_misread};
}

std::shared_ptr<const proto::CallPlan>
FunctionTable::plan_for(const FunctionDefinition& definition, const std::string& implemented_by,
                        const proto::PrototypeLibrary::Account& own) {
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
