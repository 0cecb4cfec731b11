#include "sonictrace/probe/module_list.hpp"

#include <algorithm>

namespace sonictrace {

void ModuleList::add(ProbeModule module) {
  if (module.batch == 0) global_.clear();
  modules_.push_back(std::make_unique<ProbeModule>(std::move(module)));
  candidates_.clear();
}

void ModuleList::remove(std::uint32_t id) {
  forget_searches();
  std::erase_if(modules_, [id](const auto& module) { return module->id == id; });
}

const ProbeModule* ModuleList::find(std::uint32_t id) const {
  const auto found = std::find_if(modules_.begin(), modules_.end(),
                                  [id](const auto& module) { return module->id == id; });
  return found == modules_.end() ? nullptr : found->get();
}

FoundSymbol ModuleList::search(const Wanted& wanted, const ProbeModule* only_batch_of,
                               bool from_start) const {
  if (candidates_.empty())
    for (const auto& module : modules_)
      candidates_.push_back({{}, module.get(), module->batch, module->name_space});
  for (Candidate& candidate : candidates_) {
    if (candidate.name_space != wanted.name_space) continue;
    if (from_start ? candidate.batch != 0 : candidate.batch == 0) continue;
    if (only_batch_of != nullptr && candidate.batch != only_batch_of->batch) continue;
    const elf::Image& image = candidate.module->parsed->image();
    if (!candidate.filter.is_known()) candidate.filter = image.export_filter();
    if (!candidate.filter.may_hold(wanted.hash)) continue;
    if (const auto* symbol = image.find_export(wanted.name, wanted.version, wanted.hash))
      return {candidate.module, symbol};
  }
  return {};
}

FoundSymbol ModuleList::resolve(const ProbeModule& caller, std::string_view name,
                                std::string_view version) const {
  const Wanted wanted{name, version, elf::Image::hash_of_name(name), caller.name_space};
  auto known = global_.find(wanted);
  if (known == global_.end()) known = global_.emplace(wanted, search(wanted, nullptr, true)).first;
  if (known->second.module != nullptr) return known->second;
  if (caller.batch != 0) {
    const auto found = search(wanted, &caller, false);
    if (found.module != nullptr) return found;
  }
  return search(wanted, nullptr, false);
}

} // namespace sonictrace
