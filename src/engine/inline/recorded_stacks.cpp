#include "engine/inline/recorded_stacks.hpp"

#include <sys/user.h>

#include <utility>

#include "engine/inline/shared_memory.hpp"
#include "sonictrace/elf/image.hpp"

namespace sonictrace {
namespace {

/// See FrameIdPool: others make some, too.
FrameIdPool ids() { return FrameIdPool(1, 4); }

Registers registers_of(const wire::RingStack& stack) {
  user_regs_struct raw = {};
  raw.rbx = stack.rbx;
  raw.rbp = stack.rbp;
  raw.r12 = stack.r12;
  raw.r13 = stack.r13;
  raw.r14 = stack.r14;
  raw.r15 = stack.r15;
  return Registers(raw);
}

} // namespace

RecordedStacks::RecordedStacks(std::size_t limit, FrameSink sink)
    : backtracer_([](const UniqueFd& file,
                     const std::string& name) { return elf::Image::open(file, name); },
                  limit, std::move(sink), ids()) {}

void RecordedStacks::add(const Arena& arena, ProcessCode code) {
  known_.clear();
  backtracer_.set_own_code(code.space, code.own);
  backtracer_.learn(code.space, std::move(code.mapped));
  processes_.insert_or_assign(&arena, Process{std::move(code.space), std::move(code.own)});
}

void RecordedStacks::learn(const Arena& arena, std::vector<TraceeAddress> gadgets,
                           std::vector<MappedCode> mapped) {
  const auto found = processes_.find(&arena);
  if (found == processes_.end()) return;
  known_.clear();
  Process& process = found->second;
  process.own.gadgets = std::move(gadgets);
  backtracer_.set_own_code(process.space, process.own);
  backtracer_.learn(process.space, std::move(mapped));
}

void RecordedStacks::forget(const Arena& arena, AddressRange range) {
  known_.clear();
  const auto found = processes_.find(&arena);
  if (found != processes_.end()) backtracer_.forget(*found->second.space, range);
}

void RecordedStacks::remove(const Arena& arena) {
  known_.clear();
  processes_.erase(&arena);
}

std::span<const std::uint32_t> RecordedStacks::frames_of(const Arena& arena,
                                                         TraceeAddress return_address,
                                                         std::span<const std::byte> bytes) {
  const auto found = processes_.find(&arena);
  if (found == processes_.end() || bytes.size() < sizeof(wire::RingStack)) return {};
  copy_.resize(bytes.size() / sizeof(std::uint64_t));
  copy_shared(copy_.data(), bytes.data(), copy_.size() * sizeof(std::uint64_t));
  CopiedStack stack(copy_);
  const StackKey key{&arena, return_address.value(), stack.head().slot};
  if (const auto* known = known_.find(key, stack)) return *known;

  const auto& space = found->second.space;
  const std::uint64_t questions = backtracer_.questions(space);
  const auto frames = backtracer_.frames_of_copied_call(
      space, registers_of(stack.head()), return_address, TraceeAddress(stack.head().slot), stack);
  if (backtracer_.questions(space) == questions) known_.keep(key, stack, frames);
  return frames;
}

} // namespace sonictrace
