#include "engine/backtracer.hpp"

namespace sonictrace {
namespace {

/// In a stripped file the nearest symbol may be another function's: one that says where it ends is
/// believed.
const elf::Symbol* function_at(const elf::Image& image, ElfAddress address) {
  const auto* function = image.function_at(address);
  if (function == nullptr || function->size == 0) return function;
  return address.value() - function->value.value() < function->size ? function : nullptr;
}

} // namespace

CodeMap::OpenImage opener(ImageCache& images) {
  return [&images](const UniqueFd& file,
                   const std::string& name) -> Result<std::shared_ptr<const elf::Image>> {
    auto parsed = images.get(file, name);
    if (!parsed) return std::move(parsed).error();
    return std::shared_ptr<const elf::Image>(*parsed, &(*parsed)->image());
  };
}

namespace {

/// The caller's frame as it is around its call instruction. All other registers are the caller's
/// still, or those that a callee may change anyway.
Registers around_call(const Registers& registers, TraceeAddress return_address,
                      TraceeAddress slot) {
  Registers inside = registers;
  inside.set_pc(return_address + -1);
  inside.set_sp(slot + 8);
  return inside;
}

} // namespace

Backtracer::Backtracer(CodeMap::OpenImage open, std::size_t limit, FrameSink sink, FrameIdPool ids)
    : limit_(limit), sink_(std::move(sink)), unwinder_(std::move(open)), pool_(std::move(ids)) {}

std::span<const std::uint32_t>
Backtracer::frames_of_call(const std::shared_ptr<AddressSpace>& space, const Registers& registers,
                           TraceeAddress return_address, TraceeAddress slot) {
  return list(space, around_call(registers, return_address, slot), return_address, nullptr);
}

std::span<const std::uint32_t>
Backtracer::frames_of_copied_call(const std::shared_ptr<AddressSpace>& space,
                                  const Registers& registers, TraceeAddress return_address,
                                  TraceeAddress slot, StackReader& stack) {
  return list(space, around_call(registers, return_address, slot), return_address, &stack);
}

std::span<const std::uint32_t>
Backtracer::frames_of_syscall(const std::shared_ptr<AddressSpace>& space,
                              const Registers& registers) {
  Registers inside = registers;
  inside.set_pc(registers.pc() + -1);
  return list(space, inside, registers.pc(), nullptr);
}

std::span<const std::uint32_t> Backtracer::list(const std::shared_ptr<AddressSpace>& space,
                                                const Registers& inside, TraceeAddress first,
                                                StackReader* stack) {
  found_.clear();
  if (limit_ == 0 || !unwinder_.place_of(space, first).is_code) return found_;
  auto known = ids_.find(space);
  if (known == ids_.end()) {
    std::erase_if(ids_, [](const auto& entry) { return entry.first.expired(); });
    known = ids_.emplace(space, std::make_shared<FrameIds>(pool_)).first;
  }
  found_.push_back(id_of(space, known->second, {first, false}));
  const auto callers = stack != nullptr ? unwinder_.callers(space, inside, limit_ - 1, *stack)
                                        : unwinder_.callers(space, inside, limit_ - 1);
  for (const UnwoundFrame& frame : callers)
    found_.push_back(id_of(space, known->second, frame));
  return found_;
}

std::uint32_t Backtracer::id_of(const std::shared_ptr<AddressSpace>& space,
                                std::shared_ptr<FrameIds>& ids, const UnwoundFrame& frame) {
  if (const auto known = ids->find(frame)) return *known;
  if (ids.use_count() > 1) ids = std::make_shared<FrameIds>(*ids);
  const std::uint32_t id = ids->add(frame);
  define(space, id, frame);
  return id;
}

void Backtracer::define(const std::shared_ptr<AddressSpace>& space, std::uint32_t id,
                        const UnwoundFrame& frame) {
  FrameDefinition definition;
  definition.id = id;
  definition.address = frame.address.value();
  if (const auto* module = unwinder_.place_of(space, frame.address).module) {
    definition.soname = module->soname;
    const ElfAddress at = module->bias.to_elf(frame.address);
    const auto* function = function_at(*module->image, module->bias.to_elf(frame.inside()));
    if (function != nullptr) definition.function = function->name;
    // Without a function the address as the file states it, which is what addr2line(1) takes.
    definition.offset = at.value() - (function != nullptr ? function->value.value() : 0);
  }
  sink_(definition);
}

void Backtracer::forget(const AddressSpace& space, AddressRange range) {
  unwinder_.forget(space, range);
  for (auto& [of, ids] : ids_) {
    if (of.lock().get() != &space || !ids->has_any_in(range)) continue;
    if (ids.use_count() > 1) ids = std::make_shared<FrameIds>(*ids);
    ids->forget(range);
  }
}

void Backtracer::copy(const std::shared_ptr<AddressSpace>& parent,
                      const std::shared_ptr<AddressSpace>& child) {
  std::erase_if(ids_, [](const auto& entry) { return entry.first.expired(); });
  const auto known = ids_.find(parent);
  if (known != ids_.end()) ids_.insert_or_assign(child, known->second);
}

} // namespace sonictrace
