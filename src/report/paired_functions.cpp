#include "report/paired_functions.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace sonictrace::report {
namespace {

using Named = std::map<std::tuple<std::string, bool>, std::vector<const FunctionProfile*>>;

} // namespace

PairedFunctions pair_functions(const Profile& before, const Profile& after) {
  PairedFunctions pairs;
  std::map<std::tuple<std::string, bool, std::string>, const FunctionProfile*> old_ones;
  for (const auto& one : before.functions())
    old_ones[{one.name, one.is_syscall, one.module}] = &one;
  Named left_new;
  for (const auto& one : after.functions()) {
    const auto found = old_ones.find({one.name, one.is_syscall, one.module});
    if (found == old_ones.end()) {
      left_new[{one.name, one.is_syscall}].push_back(&one);
      continue;
    }
    pairs.both.push_back({found->second, &one});
    old_ones.erase(found);
  }
  Named left_old;
  for (const auto& [key, one] : old_ones)
    left_old[{one->name, one->is_syscall}].push_back(one);
  for (auto& [name, ones] : left_new) {
    const auto found = left_old.find(name);
    if (found != left_old.end() && ones.size() == 1 && found->second.size() == 1) {
      pairs.both.push_back({found->second[0], ones[0]});
      left_old.erase(found);
      continue;
    }
    pairs.only_after.insert(pairs.only_after.end(), ones.begin(), ones.end());
  }
  for (const auto& [name, ones] : left_old)
    pairs.only_before.insert(pairs.only_before.end(), ones.begin(), ones.end());
  return pairs;
}

} // namespace sonictrace::report
