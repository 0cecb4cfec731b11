#pragma once

#include <cstdint>
#include <vector>

#include "engine/inline/arena.hpp"
#include "sonictrace/base/address.hpp"
#include "sonictrace/stream/definition.hpp"

namespace sonictrace {

/// Has the agent of one process tell where the calls of functions go, which nobody knows for
/// certain before the dynamic linker has bound them.
class BoundFunctions {
public:
  struct Bound {
    FunctionId function = 0;
    TraceeAddress target;
  };

  /// The function's slot is patched now.
  void await(const Arena& arena, FunctionId function);
  /// For a fork child, whose arena is new.
  void await_all_in(const Arena& arena);
  /// What the agent has told since this was asked last: of functions that were awaited only, as the
  /// process can write there.
  std::vector<Bound> take(const Arena& arena);

private:
  std::vector<bool> awaited_; ///< by FunctionId
  std::uint32_t taken_ = 0;
};

} // namespace sonictrace
