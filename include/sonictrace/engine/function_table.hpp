#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sonictrace/proto/call_plan.hpp"
#include "sonictrace/proto/prototype_library.hpp"
#include "sonictrace/stream/definition.hpp"

namespace sonictrace {

/// A function as the engines know it.
struct TracedFunction {
  FunctionDefinition definition;
  bool announced = false; ///< the sink has its definition
  /// Where calls were last seen to go, to notice another binding.
  std::uint64_t last_target = 0;
};

/// How a FunctionTable compiles its plans.
struct PlanChoice {
  std::uint32_t string_limit = 32; ///< -s
  std::uint32_t array_limit = 4;   ///< -A
  bool captures = true;            ///< off where calls are only counted: no plan copies anything
};

/// All functions of a session; ids count up from 0. The same function, called by the same module,
/// has one id in all processes.
class FunctionTable {
public:
  FunctionTable(proto::PrototypeLibrary prototypes, const PlanChoice& choice)
      : prototypes_(std::move(prototypes)), choice_(choice) {}

  /// `definition.id` and `.plan` are filled in. `implemented_by` is the soname of that module,
  /// empty where it is not known. `own`: see PrototypeLibrary::find.
  FunctionId intern(FunctionDefinition definition, const std::string& implemented_by,
                    const proto::PrototypeLibrary::Account& own = {});
  struct Rebound {
    FunctionId now = 0; ///< whose calls they are from now on: another one if its plan is another
    bool is_misread = false; ///< what the old plan captures means nothing
  };
  /// The calls of a function turned out to go to another module.
  Rebound rebind(FunctionId id, ModuleId implemented_by, const std::string& soname,
                 const proto::PrototypeLibrary::Account& own = {});
  TracedFunction& at(FunctionId id) { return functions_[id]; }
  std::size_t size() const { return functions_.size(); }

private:
  using Key = std::tuple<std::string, ModuleId, ModuleId, bool, bool>;
  using PlanKey = std::pair<const proto::Prototype*, proto::CallingConvention>;

  std::shared_ptr<const proto::CallPlan> plan_for(const FunctionDefinition& definition,
                                                  const std::string& implemented_by,
                                                  const proto::PrototypeLibrary::Account& own);

  proto::PrototypeLibrary prototypes_;
  PlanChoice choice_;
  std::vector<TracedFunction> functions_;
  std::map<Key, FunctionId> ids_;
  std::map<PlanKey, std::shared_ptr<const proto::CallPlan>> plans_;
};

} // namespace sonictrace
