#pragma once

#include <vector>

#include "sonictrace/report/profile.hpp"

namespace sonictrace::report {

struct FunctionPair {
  const FunctionProfile* before;
  const FunctionProfile* after;
};

/// The functions of two profiles, which must live as long.
struct PairedFunctions {
  std::vector<FunctionPair> both;
  std::vector<const FunctionProfile*> only_before, only_after;
};

/// By name and module; what is left, by name alone where each side has one such: a library has
/// another name in the new version, or only one side's logs say modules.
PairedFunctions pair_functions(const Profile& before, const Profile& after);

} // namespace sonictrace::report
