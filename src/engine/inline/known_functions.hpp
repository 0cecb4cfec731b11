#pragma once

#include <memory>
#include <vector>

#include "engine/inline/words_plan.hpp"
#include "sonictrace/proto/call_plan.hpp"
#include "sonictrace/stream/definition.hpp"

namespace sonictrace {

/// What is needed of a function for the records of its calls.
struct KnownFunction {
  std::shared_ptr<const proto::CallPlan> plan; ///< null: not known
  WordsPlan entry, leave;
};

/// The functions that the sink has the definitions of.
class KnownFunctions {
public:
  void add(const FunctionDefinition& definition) {
    if (definition.id >= known_.size()) known_.resize(std::size_t{definition.id} + 1);
    const auto& plan = *definition.plan;
    known_[definition.id] = {definition.plan,
                             WordsPlan(plan.at_entry, plan.entry_room, plan.readings.get()),
                             WordsPlan(plan.at_return, plan.return_room)};
  }
  /// Null where there is none of this number.
  const KnownFunction* find(std::uint32_t id) const {
    return id < known_.size() && known_[id].plan ? &known_[id] : nullptr;
  }
  std::size_t size() const { return known_.size(); }

private:
  std::vector<KnownFunction> known_;
};

} // namespace sonictrace
