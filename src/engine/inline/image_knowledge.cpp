#include "engine/inline/image_knowledge.hpp"

#include <algorithm>

#include "engine/inline/functions_apart.hpp"
#include "sonictrace/base/check.hpp"

namespace sonictrace {

ImageKnowledge::Known& ImageKnowledge::known(const Image& image) {
  auto& known = images_[image.get()];
  if (!known) known = std::make_unique<Known>(image);
  return *known;
}

std::span<const std::byte> ImageKnowledge::code(const Image& image, ElfAddress entry) {
  return known(image).survey.code(entry);
}

void ImageKnowledge::survey(const Image& image, std::span<const ElfAddress> entries) {
  Known& of = known(image);
  std::vector<ElfAddress> fresh;
  for (const ElfAddress entry : entries)
    if (!of.ways.contains(entry)) fresh.push_back(entry);
  std::sort(fresh.begin(), fresh.end());
  fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
  if (fresh.empty()) return;
  auto ways = of.survey.ways(fresh);
  for (std::size_t i = 0; i < ways.size(); ++i)
    of.ways.emplace(fresh[i], std::move(ways[i]));
}

const elf::EntryWay& ImageKnowledge::way(const Image& image, ElfAddress entry) const {
  const auto of = images_.find(image.get());
  SONICTRACE_CHECK(of != images_.end(), "an image is surveyed before its entries are patched");
  const auto found = of->second->ways.find(entry);
  SONICTRACE_CHECK(found != of->second->ways.end(), "an entry is surveyed before it is patched");
  return found->second;
}

std::optional<ElfAddress> ImageKnowledge::gadget(const Image& image) {
  Known& of = known(image);
  if (!of.gadget) of.gadget = elf::find_return_gadget(*image);
  return *of.gadget;
}

std::vector<CallSitePatch> ImageKnowledge::hooks(const ProbeModule& module, bool linker_is_musl) {
  auto& known_hooks = known(module.parsed->shared_image()).hooks;
  if (!known_hooks) {
    ProbeModule unmoved = module;
    unmoved.bias = LoadBias();
    known_hooks = hidden_hooks(unmoved, linker_is_musl);
  }
  auto hooks = *known_hooks;
  for (CallSitePatch& hook : hooks) {
    hook.at = module.bias.to_tracee(ElfAddress(hook.at.value()));
    hook.slot = module.bias.to_tracee(ElfAddress(hook.slot.value()));
  }
  return hooks;
}

} // namespace sonictrace
