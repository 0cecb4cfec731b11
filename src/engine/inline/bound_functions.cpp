#include "engine/inline/bound_functions.hpp"

#include <algorithm>
#include <atomic>

#include "engine/inline/shared_memory.hpp"

namespace sonictrace {

void BoundFunctions::await(const Arena& arena, FunctionId function) {
  if (function >= wire::kMaxFunctions) return;
  if (function >= awaited_.size()) awaited_.resize(function + 1);
  if (awaited_[function]) return;
  awaited_[function] = true;
  std::atomic_ref(arena.function_flags()[function]) |= wire::kFunctionAwaited;
}

void BoundFunctions::await_all_in(const Arena& arena) {
  taken_ = 0;
  for (std::size_t function = 0; function < awaited_.size(); ++function)
    if (awaited_[function])
      std::atomic_ref(arena.function_flags()[function]) |= wire::kFunctionAwaited;
}

std::vector<BoundFunctions::Bound> BoundFunctions::take(const Arena& arena) {
  std::vector<Bound> taken;
  const std::uint32_t begun =
      std::min<std::uint32_t>(load_shared(arena.control().bound_functions), wire::kMaxFunctions);
  for (; taken_ < begun; ++taken_) {
    const wire::BoundFunction& bound = arena.bound_function(taken_);
    if (load_shared(bound.is_there) == 0) break; // the thread is still at it
    const FunctionId function = load_shared(bound.function);
    if (function >= awaited_.size() || !awaited_[function]) continue;
    awaited_[function] = false;
    taken.push_back({function, TraceeAddress(load_shared(bound.target))});
  }
  return taken;
}

} // namespace sonictrace
