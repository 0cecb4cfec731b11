#include "session/module_book.hpp"

namespace sonictrace {

ModuleId ModuleBook::id_of(const ProbeModule& module) {
  const auto [known, is_new] = ids_.emplace(module.path, static_cast<ModuleId>(ids_.size()));
  if (is_new) recorder_.define(ModuleDefinition{known->second, module.soname, module.path});
  return known->second;
}

} // namespace sonictrace
