#include "sonictrace/probe/module_list.hpp"

#include <algorithm>

namespace sonictrace {

void ModuleList::add(ProbeModule module) {
  if (module.batch == 0) global_.clear();
  modules_.push_back(std::make_unique<ProbeModule>(std::move(module)));
}

void ModuleList::remove(std::uint32_t id) {
  std::erase_if(modules_, [id](const auto& module) { return module->id == id; });
  global_.clear();
}

const ProbeModule* ModuleList::find(std::uint32_t id) const {
  const auto found = std::find_if(modules_.begin(), modules_.end(),
                                  [id](const auto& module) { return module->id == id; });
  return found == modules_.end() ? nullptr : found->get();
}

FoundSymbol ModuleList::search(std::string_view name, std::string_view version,
                               unsigned name_space, const ProbeModule* only_batch_of,
                               bool from_start) const {
  const auto hash = elf::Image::hash_of_name(name);
  for (const auto& module : modules_) {
    if (module->name_space != name_space) continue;
    if (from_start ? module->batch != 0 : module->batch == 0) continue;
    if (only_batch_of != nullptr && module->batch != only_batch_of->batch) continue;
    if (const auto* symbol = module->parsed->image().find_export(name, version, hash))
      return {module.get(), symbol};
  }
  return {};
}

FoundSymbol ModuleList::resolve(const ProbeModule& caller, std::string_view name,
                                std::string_view version) const {
  std::string key(name);
  key += '@';
  key += version;
  key += '#';
  key += std::to_string(caller.name_space);
  auto known = global_.find(key);
  if (known == global_.end())
    known = global_.emplace(std::move(key), search(name, version, caller.name_space, nullptr, true))
                .first;
  if (known->second.module != nullptr) return known->second;
  if (caller.batch != 0) {
    const auto found = search(name, version, caller.name_space, &caller, false);
    if (found.module != nullptr) return found;
  }
  return search(name, version, caller.name_space, nullptr, false);
}

} // namespace sonictrace
