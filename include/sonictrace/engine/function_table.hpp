#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "sonictrace/proto/capture_plan.hpp"
#include "sonictrace/proto/prototype_library.hpp"
#include "sonictrace/stream/definition.hpp"

namespace sonictrace {

/// A function as the engines know it.
struct TracedFunction {
  FunctionDefinition definition;
  std::shared_ptr<const proto::CapturePlan> plan;
  bool announced = false; ///< the sink has its definition
  /// Where calls were last seen to go, to notice another binding.
  std::uint64_t last_target = 0;
};

/// All functions of a session; ids count up from 0. The same function, called by the same module,
/// has one id in all processes.
class FunctionTable {
public:
  FunctionTable(proto::PrototypeLibrary prototypes, std::uint32_t string_limit)
      : prototypes_(std::move(prototypes)), string_limit_(string_limit) {}

  /// `definition.id` and `.prototype` are filled in.
  FunctionId intern(FunctionDefinition definition);
  TracedFunction& at(FunctionId id) { return functions_[id]; }
  std::size_t size() const { return functions_.size(); }

private:
  using Key = std::tuple<std::string, ModuleId, ModuleId, bool>;

  proto::PrototypeLibrary prototypes_;
  std::uint32_t string_limit_;
  std::vector<TracedFunction> functions_;
  std::map<Key, FunctionId> ids_;
  std::map<const proto::Prototype*, std::shared_ptr<const proto::CapturePlan>> plans_;
};

} // namespace sonictrace
