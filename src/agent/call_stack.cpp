#include "agent/call_stack.hpp"

namespace sonictrace::agent {

extern "C" AGENT_HIDDEN const std::byte agent_thunk_exit[];

namespace {

/// What agent_enter_with_stack_routine has pushed below an EntryFrame.
struct SavedRegisters {
  std::uint64_t rbx, rbp, r12, r13, r14, r15;
};
static_assert(sizeof(SavedRegisters) % 16 == 0);

const SavedRegisters& saved_below(const EntryFrame& frame) {
  return reinterpret_cast<const SavedRegisters*>(&frame)[-1];
}

/// sigaltstack(2): stack_t
struct SignalStack {
  std::uint64_t begin;
  std::int32_t flags;
  std::uint64_t size;
  std::uint64_t end() const { return begin + size; }
};

/// The stack for signal handlers, if `sp` is on it.
bool is_on_signal_stack(std::uint64_t sp, SignalStack& stack) {
  constexpr std::int32_t kOnStack = 1;
  stack = {};
  if (!may_make_calls()) return false;
  system_call(number::kSigaltstack, 0, reinterpret_cast<std::uint64_t>(&stack));
  return (stack.flags & kOnStack) != 0 && sp >= stack.begin && sp < stack.end();
}

/// The stack pointer that the kernel has saved when it went over to the signal stack: that of a
/// ucontext (its uc_stack is that stack, and the registers follow: asm/sigcontext.h); 0: not found.
std::uint64_t interrupted_sp(const std::uint64_t* words, std::size_t count,
                             const SignalStack& stack) {
  constexpr std::size_t kSize = 2, kStackPointer = 3 + 15; // words behind ss_sp
  for (std::size_t i = 0; i + kStackPointer < count; ++i) {
    if (words[i] != stack.begin || words[i + kSize] != stack.size) continue;
    const std::uint64_t sp = words[i + kStackPointer];
    if (sp < stack.begin || sp >= stack.end()) return sp; // else of a signal during another one
  }
  return 0;
}

/// A word that is the address of agent_thunk_exit is where a signal has interrupted a thread that
/// comes out of a thunk: its first instruction puts the return address on the stack, out of the
/// entry in r11. As the kernel saves registers (asm/sigcontext.h), that one lies before rip.
void replace_thunk_exit(std::uint64_t* words, std::size_t index) {
  constexpr std::size_t kR11 = 13; // words before rip
  if (index < kR11 || !is_thunk(words[index - kR11])) return;
  const std::uint64_t entry = words[index - kR11];
  const std::uint64_t distance = entry - control().region;
  const std::uint64_t in_group = distance % kGroupStride;
  if (in_group < kGroupCode || in_group >= kGroupCode + kGroupEntries ||
      entry % sizeof(AgentEntry) != 0 ||
      control().group_is_mapped[distance / kGroupStride % kMaxGroups] == 0)
    return;
  words[index] = reinterpret_cast<const AgentEntry*>(entry)->return_address;
}

/// The page behind a stack's end can't be read, which is not asked for at each call (a fault in the
/// kernel): it is remembered among the pages that can, and forgotten with them.
constexpr std::uint64_t kUnreadable = std::uint64_t{1} << 63;

std::size_t size_before_end(const AgentBlock& block, std::uint64_t from, std::size_t bytes) {
  for (std::uint64_t page = from / kPage + 1; page * kPage < from + bytes; ++page)
    if (block.pages[page % kPageCache] == (page | kUnreadable | block.page_time))
      return page * kPage - from;
  return bytes;
}
void note_end(AgentBlock& block, std::uint64_t end) {
  cached_page(block, end) = end / kPage | kUnreadable | block.page_time;
}

/// Copies words from the stack, `bytes` at most, and returns how many.
std::size_t copy_words_at(AgentBlock& block, std::uint64_t from, std::uint64_t* to,
                          std::size_t bytes) {
  const std::size_t wanted = size_before_end(block, from, bytes & ~std::size_t{7});
  const std::size_t read = SafeMemory(block).read(from, reinterpret_cast<std::byte*>(to), wanted);
  if (read < wanted) note_end(block, from + read);
  const std::size_t got = read / 8;
  // Thunks go to others when their calls have returned: only now is it known what they stand for.
  const std::uint64_t region = control().region, size = control().region_end - region;
  const auto thunk_exit = reinterpret_cast<std::uint64_t>(agent_thunk_exit);
  for (std::size_t i = 0; i < got; ++i) {
    if (to[i] - region < size) [[unlikely]]
      to[i] = original_of(to[i]);
    else if (to[i] == thunk_exit) [[unlikely]]
      replace_thunk_exit(to, i);
  }
  return got;
}

} // namespace

std::size_t copy_stack(AgentBlock& block, const EntryFrame& frame, std::byte* to,
                       std::size_t room) {
  if (room < sizeof(RingStack)) return 0;
  const auto slot = reinterpret_cast<std::uint64_t>(&frame.return_address);
  const SavedRegisters& saved = saved_below(frame);
  auto& head = *reinterpret_cast<RingStack*>(to);
  head = {slot, saved.rbx, saved.rbp, saved.r12, saved.r13, saved.r14, saved.r15, 0, 0};
  auto* const words = reinterpret_cast<std::uint64_t*>(to + sizeof head);
  room -= sizeof head;
  if (room == 0) return sizeof head;
  SignalStack signals;
  const bool in_handler = is_on_signal_stack(slot, signals);
  const std::uint64_t left = in_handler ? signals.end() - slot - 8 : room;
  std::size_t got = copy_words_at(block, slot + 8, words, left < room ? left : room);
  head.words = got;
  if (in_handler) head.interrupted = interrupted_sp(words, got, signals);
  if (head.interrupted != 0)
    got += copy_words_at(block, head.interrupted, words + got, room - got * 8);
  return sizeof head + got * 8;
}

} // namespace sonictrace::agent
