#include "elf/function_walk.hpp"

namespace sonictrace::elf {

FunctionWalk::FunctionWalk(const CodeReader& reader, const FunctionRange& range,
                           std::span<const std::byte> code)
    : reader_(reader), code_(code), begin_(range.begin), sizes_(code.size()),
      search_budget_(64 * std::uint64_t{code.size()} + (1 << 20)) {}

void FunctionWalk::follow(ElfAddress root) {
  to_do_.push_back(root);
  while (!to_do_.empty()) {
    const ElfAddress at = to_do_.back();
    to_do_.pop_back();
    follow_path(at);
  }
}

void FunctionWalk::follow_path(ElfAddress at) {
  while (contains(at) && sizes_[offset_of(at)] == 0) {
    const auto instruction = reader_.read(code_.subspan(offset_of(at)), at);
    if (!instruction) return;
    sizes_[offset_of(at)] = instruction->size;
    switch (instruction->flow) {
      case Flow::Next:
      case Flow::Call:
      case Flow::IndirectCall: break;
      case Flow::Branch:
        if (instruction->target) to_do_.push_back(*instruction->target);
        break;
      case Flow::Jump:
        if (instruction->target) to_do_.push_back(*instruction->target);
        return;
      case Flow::IndirectJump:
        // Through a constant slot it is a tail call, else it may be a jump table.
        has_indirect_jump_ |= !instruction->slot;
        return;
      case Flow::Stop: return;
    }
    at = at + instruction->size;
  }
}

std::optional<ElfAddress> FunctionWalk::start_of(const SlotUse& use) const {
  constexpr int kMostPrefixes = 4;
  for (int prefixes = kMostPrefixes; prefixes >= 0; --prefixes) {
    const ElfAddress start = use.opcode_at + -prefixes;
    if (contains(start) && start + sizes_[offset_of(start)] == use.end()) return start;
  }
  return std::nullopt;
}

void FunctionWalk::follow_hidden_blocks(ElfAddress address) {
  for (;;) {
    const ElfAddress block = reached_up_to(address);
    if (address < block) return;
    follow(block);
    if (reached_up_to(address) == block) return;
  }
}

ElfAddress FunctionWalk::reached_up_to(ElfAddress address) {
  for (ElfAddress at = address; begin_ < at && search_budget_ > 0; --search_budget_) {
    at = at + -1;
    if (contains(at) && sizes_[offset_of(at)] != 0) return at + sizes_[offset_of(at)];
  }
  return begin_;
}

} // namespace sonictrace::elf
