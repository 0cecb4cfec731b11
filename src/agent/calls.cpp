// What happens at a call and at its return.

#include "agent/calls.hpp"
#include "agent/call_stack.hpp"
#include "agent/counting.hpp"
#include "agent/open_calls.hpp"
#include "agent/probed_words.hpp"
#include "agent/python_place.hpp"
#include "agent/ring_writer.hpp"
#include "agent/threads.hpp"

namespace sonictrace::agent {

namespace {

// ---- the end of a call -----------------------------------------------------------------------

struct Ending {
  const ExitFrame* frame; ///< null: it was left
  std::uint64_t time;
  std::uint64_t ticks;
  std::uint8_t flags; ///< kRingTail
};

/// Bytes that the result takes in a record at most.
std::size_t result_room(const Site& site, const Ending& ending) {
  if (ending.frame == nullptr) return 0;
  if ((site.flags & kSiteResultWords) != 0) return word_bytes_of_return(site);
  return rounded(site.return_room);
}

/// Fills what the return gives, and returns how many bytes. Tells `record` which of its words lead
/// somewhere.
std::size_t put_result(AgentBlock& block, const AgentEntry& entry, const OpenCall& open,
                       const Ending& ending, RingRecord& record, std::byte* out, std::size_t room) {
  const Site& site = *entry.site;
  if (ending.frame == nullptr) return 0;
  forget_old_pages(block, ending.time);
  if ((site.flags & kSiteResultWords) != 0) {
    if (const std::uint32_t probed = site.probed_words >> kProbedResultsAt; probed != 0) {
      const std::uint32_t readable = ask_for(block, ending.frame->results, probed);
      record.readable_words |= static_cast<std::uint8_t>(readable << kProbedResultsAt);
    }
    copy_words(out, ending.frame->results, word_bytes_of_return(site));
    return word_bytes_of_return(site);
  }
  const auto* const kept = reinterpret_cast<const std::uint64_t*>(open.data);
  const std::size_t kept_words = (site.flags & kSiteKeepsWords) != 0 ? open.kept_words : 0;
  return capture_return(block, *ending.frame, site, kept, kept_words, entry.slot + 8, out, room)
      .size;
}

void put_head(RingRecord& record, const AgentEntry& entry, const OpenCall& open,
              const Ending& ending) {
  record.time = ending.time;
  record.begin = entry.begin;
  record.ticks = ending.ticks;
  record.where = open.where;
  record.function = entry.site->function;
  record.call = open.call;
  record.depth = entry.depth;
  record.readable_words = open.readable_words;
  record.stack_size = 0;
}

std::uint8_t result_flag(const Site& site) {
  return (site.flags & kSiteResultWords) != 0 ? kRingResultWords : std::uint8_t{0};
}

/// An Enter has told of its beginning.
[[gnu::noinline]] void write_return(AgentBlock& block, const AgentEntry& entry,
                                    const OpenCall& open, const Ending& ending) {
  const std::size_t room = most_payload(result_room(*entry.site, ending));
  Place place = take_place(block, sizeof(RingRecord) + room);
  if (place.record == nullptr) return;
  put_head(*place.record, entry, open, ending);
  const std::size_t used =
      put_result(block, entry, open, ending, *place.record, place.payload(), room);
  place.record->flags = static_cast<std::uint8_t>(result_flag(*entry.site) | ending.flags |
                                                  (open.flags & kRingInherited));
  place.record->entry_size = 0;
  place.record->result_size = static_cast<std::uint32_t>(used);
  shrink(block, place, sizeof(RingRecord) + rounded(used));
  commit(place, ending.frame != nullptr ? RingKind::Return : RingKind::Unwound);
}

/// The record that tells all of a call.
void write_call(AgentBlock& block, const AgentEntry& entry, const OpenCall& open,
                const Ending& ending) {
  const bool as_words = (open.flags & kRingEntryWords) != 0;
  const std::size_t kept = as_words ? 0 : open.kept_words * std::size_t{8};
  std::size_t entry_size = open.entry_size;
  if (kept + entry_size > sizeof open.data) entry_size = 0;
  const std::size_t behind_entry = rounded(entry_size);
  const std::size_t room = most_payload(result_room(*entry.site, ending));
  Place place = take_place(block, sizeof(RingRecord) + behind_entry + room);
  if (place.record == nullptr) return;
  put_head(*place.record, entry, open, ending);
  copy_words(place.payload(), reinterpret_cast<const std::uint64_t*>(open.data + kept),
             behind_entry);
  const std::size_t used =
      put_result(block, entry, open, ending, *place.record, place.payload() + behind_entry, room);
  place.record->flags =
      static_cast<std::uint8_t>((as_words ? kRingEntryWords : 0) | result_flag(*entry.site) |
                                ending.flags | (ending.frame == nullptr ? kRingUnwound : 0));
  place.record->entry_size = static_cast<std::uint32_t>(entry_size);
  place.record->result_size = static_cast<std::uint32_t>(used);
  shrink(block, place, sizeof(RingRecord) + behind_entry + rounded(used));
  commit(place, RingKind::Call);
}

/// Once a function: a call through its slot is over, which is bound by now.
[[gnu::noinline]] void tell_target(const Site& site, std::uint8_t& flags) {
  // Of a call that was seen at its callee's entry, the slot is one of ours.
  if ((site.flags & kSiteFiltered) != 0) return;
  constexpr auto kOthers = static_cast<std::uint8_t>(~kFunctionAwaited);
  if ((__atomic_fetch_and(&flags, kOthers, __ATOMIC_ACQ_REL) & kFunctionAwaited) == 0) return;
  const std::uint32_t number = __atomic_fetch_add(&shared().bound_functions, 1, __ATOMIC_ACQ_REL);
  if (number >= kMaxFunctions) return;
  BoundFunction& bound = in_arena<BoundFunction>(ArenaLayout::kBoundFunctions)[number];
  bound.target = target_of(site);
  bound.function = site.function;
  store(bound.is_there, std::uint32_t{1});
}

void tell_end(AgentBlock& block, AgentEntry& entry, const ExitFrame* frame, std::uint64_t time,
              std::uint8_t flags = 0) {
  std::uint8_t& of_function = function_flags()[entry.site->function % kMaxFunctions];
  if ((of_function & kFunctionAwaited) != 0) [[unlikely]]
    tell_target(*entry.site, of_function);
  const Ending ending = {frame, time, duration_of(block, entry, time), flags};
  const bool is_short = ending.ticks < control().min_ticks; // never so in the split form
  if (control().form == RecordForm::Count) {
    if (is_short)
      ++block.ring->short_calls;
    else
      count_call(block, entry.site->function, ending.ticks);
    return;
  }
  OpenCall& open = open_call_of(entry);
  const std::uint32_t state = open.state;
  if (state == kOpenTold)
    write_return(block, entry, open, ending);
  else if (state == kOpenWhole && is_short)
    ++block.ring->short_calls;
  else if (state == kOpenWhole && control().form == RecordForm::Whole &&
           is_to_be_counted(block, *entry.site, ending.ticks))
    count_call(block, entry.site->function, ending.ticks);
  else if (state == kOpenWhole)
    write_call(block, entry, open, ending);
  store(open.state, std::uint32_t{0});
}

// ---- calls that were left ----------------------------------------------------------------------

/// Nothing can return to the entry any more, as its place on the stack holds something else, or
/// is gone. (Unless somebody has copied the stack away: see take_told.)
bool is_overwritten(AgentBlock& block, const AgentEntry& entry) {
  std::uint64_t word = 0;
  if (!SafeMemory(block).read_word(entry.slot, word)) return true;
  return entry.state == EntryState::Tail ? !is_thunk(word) : word != return_of(entry);
}

/// An open entry may end on one thread while another one, whose list it is in, finds it left: it
/// ends once, as whoever comes first says.
bool claim(AgentEntry& entry, EntryState state) {
  EntryState expected = EntryState::Open;
  return __atomic_compare_exchange(&entry.state, &expected, &state, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE);
}

void set_state(AgentEntry& entry, EntryState state) {
  __atomic_store(&entry.state, &state, __ATOMIC_RELEASE);
}

/// Of an entry that is in no list any more.
[[gnu::noinline]] void end_left(AgentBlock& block, AgentEntry& entry, std::uint64_t time) {
  const bool is_tail = entry.state == EntryState::Tail;
  if (!is_tail && !claim(entry, EntryState::Told)) return put_among_told(block, entry);
  // It ended when its frame was left, not now that we hear of it.
  if (block.left_at > entry.begin && block.left_at < time) time = block.left_at;
  tell_end(block, entry, nullptr, time);
  if (entry.depth != 0 && block.depth >= entry.depth) block.depth = entry.depth - 1U;
  if (is_tail) return give_back(block, entry);
  put_among_told(block, entry);
}

/// The newest entry is in no list any more: its call was left, or has returned on another thread.
/// Nothing happens where a signal handler has dropped it meanwhile.
void drop_newest(AgentBlock& block, AgentEntry& newest, std::uint64_t time) {
  if (!exchange_on_this_thread(block.top, &newest, newest.previous)) return;
  if (newest.state == EntryState::Returned)
    give_back(block, newest);
  else
    end_left(block, newest, time);
}

/// Of the newest entries, those which a frame at `slot` proves to be gone.
[[gnu::noinline]] void settle_left(AgentBlock& block, std::uint64_t slot) {
  const std::uint64_t time = now();
  while (AgentEntry* const newest = block.top) {
    if (newest->state != EntryState::Returned &&
        (newest->slot > slot || !is_overwritten(block, *newest)))
      return;
    drop_newest(block, *newest, time);
  }
}

/// A jump or an exception has left all frames below `sp`. Those of another stack are not among
/// them: the newest entries, as long as they are below.
[[gnu::noinline]] void leave_below(AgentBlock& block, std::uint64_t sp) {
  constexpr std::uint64_t kLargestStack = std::uint64_t{64} << 20;
  const std::uint64_t time = now();
  block.left_at = time;
  while (AgentEntry* const newest = block.top) {
    if (newest->state != EntryState::Returned &&
        (newest->slot >= sp || sp - newest->slot > kLargestStack))
      return;
    drop_newest(block, *newest, time);
  }
}

/// `entry` returns, and is not the newest one. False where it is not among the thread's at all: it
/// has begun on another thread.
[[gnu::noinline]] bool take_out(AgentBlock& block, AgentEntry& entry, const ExitFrame& frame,
                                std::uint64_t time) {
  AgentEntry** link = &block.top;
  while (AgentEntry* const newer = *link) {
    AgentEntry* const next = newer->previous;
    const auto unlink = [&] { return exchange_on_this_thread(*link, newer, next); };
    if (newer == &entry) {
      if (unlink()) return true;
      link = &block.top; // a signal handler has changed the list: from its begin once more
    } else if (newer->state == EntryState::Returned) {
      if (unlink())
        give_back(block, *newer);
      else
        link = &block.top;
    } else if (newer->state == EntryState::Tail && newer->slot == entry.slot) {
      // It was jumped to at the end of what was called, and has returned in its stead.
      if (!unlink()) {
        link = &block.top;
        continue;
      }
      tell_end(block, *newer, &frame, time, kRingTail);
      give_back(block, *newer);
    } else if (newer->slot < entry.slot && is_overwritten(block, *newer)) {
      if (unlink())
        end_left(block, *newer, time);
      else
        link = &block.top;
    } else {
      link = &newer->previous; // on another stack, or not known to be gone
    }
  }
  return false;
}

// ---- the beginning of a call -----------------------------------------------------------------

/// The words that the return's plan looks at once more. Returns how many.
std::size_t keep_words(AgentBlock& block, const EntryFrame& frame, const Site& site,
                       OpenCall& open) {
  auto* const kept = reinterpret_cast<std::uint64_t*>(open.data);
  for (std::size_t i = 0; i < kEntryWords; ++i)
    kept[i] = frame.words[i];
  // What there is no room for is read at the return; few callees change their arguments.
  constexpr std::size_t kRoom = sizeof open.data / 8 - kEntryWords;
  const std::size_t wanted = site.kept_stack_words < kRoom ? site.kept_stack_words : kRoom;
  if (wanted == 0) return kEntryWords;
  const std::size_t got =
      SafeMemory(block).read(slot_of(frame) + 8, reinterpret_cast<std::byte*>(kept + kEntryWords),
                             wanted * std::size_t{8});
  return kEntryWords + got / 8;
}

/// Fills an Enter's, or a call's whose return nobody sees.
[[gnu::noinline]] void write_beginning(AgentBlock& block, const EntryFrame& frame, const Site& site,
                                       RingKind kind, std::uint8_t flags, std::uint32_t call,
                                       std::uint16_t depth) {
  const bool as_words = (site.flags & kSiteEntryWords) != 0;
  RingPython python;
  const std::size_t python_room = find_python_place(block, python) ? sizeof python : 0;
  const std::size_t stack_room = control().stack_size;
  const std::size_t besides = python_room + stack_room;
  const std::size_t room =
      most_payload(as_words ? word_bytes_of_entry(site) : rounded(site.entry_room), besides);
  Place place = take_place(block, sizeof(RingRecord) + room + besides);
  if (place.record == nullptr) return;
  std::size_t used = room;
  std::uint32_t readable = 0;
  if (as_words) {
    copy_words(place.payload(), frame.words, room);
    readable = ask_for(block, frame.words, site.probed_words & kProbedOfEntry);
  } else {
    used = capture_entry(block, frame, site, place.payload(), room).size;
  }
  std::byte* const behind = place.payload() + rounded(used);
  if (python_room != 0) *reinterpret_cast<RingPython*>(behind) = python;
  std::size_t stack = 0;
  if (stack_room != 0) stack = copy_stack(block, frame, behind + python_room, stack_room);
  RingRecord& record = *place.record;
  record.ticks = 0;
  record.where = original_of(frame.return_address);
  record.function = site.function;
  record.call = call;
  record.depth = depth;
  record.flags = static_cast<std::uint8_t>(flags | (as_words ? kRingEntryWords : 0) |
                                           (python_room != 0 ? kRingPython : 0));
  record.readable_words = static_cast<std::uint8_t>(readable);
  record.stack_size = static_cast<std::uint32_t>(stack);
  record.entry_size = static_cast<std::uint32_t>(used);
  record.result_size = 0;
  shrink(block, place, sizeof(RingRecord) + rounded(used) + python_room + stack);
  record.time = record.begin = now();
  commit(place, kind);
}

/// Of a call that is not followed to its end.
[[gnu::noinline]] void tell_at_once(AgentBlock& block, EntryFrame& frame, const Site& site,
                                    std::uint8_t flags) {
  if (control().form == RecordForm::Count) return count_call(block, site.function, 0);
  forget_old_pages(block, now());
  clear_unused_vectors(frame, site);
  write_beginning(block, frame, site, RingKind::Call, flags, block.call++,
                  static_cast<std::uint16_t>(block.depth + 1));
}

/// Runs the plan: what that takes is measured each time.
[[gnu::noinline]] void begin_by_plan(AgentBlock& block, EntryFrame& frame, const Site& site,
                                     AgentEntry& entry, OpenCall& open) {
  open.flags = 0;
  open.readable_words = 0;
  const std::uint64_t before = now();
  forget_old_pages(block, before);
  clear_unused_vectors(frame, site);
  std::size_t kept = 0;
  if ((site.flags & kSiteKeepsWords) != 0) kept = keep_words(block, frame, site, open);
  open.kept_words = static_cast<std::uint8_t>(kept);
  const std::size_t room = sizeof open.data - kept * 8;
  const Captured captured =
      capture_entry(block, frame, site, reinterpret_cast<std::byte*>(open.data) + kept * 8, room);
  open.entry_size = static_cast<std::uint32_t>(captured.size);
  if (captured.is_cut) {
    open.entry_size = 0;
    write_beginning(block, frame, site, RingKind::Enter, 0, open.call, entry.depth);
    store(open.state, kOpenTold);
  } else {
    store(open.state, kOpenWhole);
  }
  const std::uint64_t begin = now();
  block.own += begin - before;
  entry.own = block.own;
  entry.begin = open.begin = begin;
}

void begin_whole(AgentBlock& block, EntryFrame& frame, const Site& site, AgentEntry& entry,
                 OpenCall& open) {
  if ((site.flags & (kSiteEntryWords | kSiteKeepsWords)) != kSiteEntryWords)
    return begin_by_plan(block, frame, site, entry, open);
  if ((site.flags & kSiteVectors) != 0) clear_unused_vectors(frame, site);
  open.flags = kRingEntryWords;
  open.kept_words = 0;
  open.entry_size = word_bytes_of_entry(site);
  copy_words(reinterpret_cast<std::byte*>(open.data), frame.words, open.entry_size);
  std::uint32_t readable = 0;
  if (const std::uint32_t probed = site.probed_words & kProbedOfEntry; probed != 0) {
    const std::uint64_t before = now();
    forget_old_pages(block, before);
    readable = ask_for(block, frame.words, probed);
    block.own += now() - before;
    entry.own = block.own;
  }
  open.readable_words = static_cast<std::uint8_t>(readable);
  store(open.state, kOpenWhole);
  entry.begin = open.begin = now();
}

[[gnu::noinline]] void begin_split(AgentBlock& block, EntryFrame& frame, const Site& site,
                                   AgentEntry& entry, OpenCall& open) {
  const std::uint64_t before = now();
  forget_old_pages(block, before);
  clear_unused_vectors(frame, site);
  open.flags = 0;
  open.readable_words = 0;
  open.entry_size = 0;
  open.kept_words = 0;
  if ((site.flags & kSiteKeepsWords) != 0)
    open.kept_words = static_cast<std::uint8_t>(keep_words(block, frame, site, open));
  write_beginning(block, frame, site, RingKind::Enter, 0, open.call, entry.depth);
  store(open.state, kOpenTold);
  const std::uint64_t begin = now();
  block.own += begin - before;
  entry.own = block.own;
  entry.begin = open.begin = begin;
}

AgentEntry* open_call(AgentBlock& block, EntryFrame& frame, const Site& site, EntryState state) {
  AgentEntry* const taken = take_entry(block);
  if (taken == nullptr) [[unlikely]] {
    ++block.ring->lost;
    return nullptr;
  }
  AgentEntry& entry = *taken;
  entry.return_address = frame.return_address;
  entry.slot = slot_of(frame);
  entry.target = target_of(site);
  entry.site = &site;
  entry.own = block.own;
  entry.state = state;
  entry.flags = 0;
  entry.depth = static_cast<std::uint16_t>(++block.depth);
  put_on_top(block, entry);
  if (control().form == RecordForm::Count) {
    entry.begin = now();
    return taken;
  }
  OpenCall& open = open_call_of(entry);
  open.function = site.function;
  open.where = state == EntryState::Tail ? original_of(entry.return_address) : entry.return_address;
  open.call = block.call++;
  open.depth = entry.depth;
  open.ring = block.index;
  if (control().form == RecordForm::Whole) [[likely]]
    begin_whole(block, frame, site, entry, open);
  else
    begin_split(block, frame, site, entry, open);
  return taken;
}

Onward enter(AgentBlock& block, EntryFrame& frame, const Site& site) {
  const bool is_tail = is_thunk(frame.return_address);
  // What was left goes now: no signal handler is to find it, and drop it, between the moments in
  // which the new entry is put before it.
  const std::uint64_t slot = slot_of(frame) - (is_tail ? 1 : 0);
  if (block.top != nullptr && block.top->slot <= slot) [[unlikely]]
    settle_left(block, slot);
  if (control().form != RecordForm::Split && is_too_deep(block)) {
    ++block.ring->deep_calls;
    return {target_of(site), kAsItIs};
  }
  if (is_tail) {
    (void)open_call(block, frame, site, EntryState::Tail);
    return {target_of(site), kAsItIs};
  }
  const AgentEntry* const entry = open_call(block, frame, site, EntryState::Open);
  if (entry == nullptr) [[unlikely]]
    return {target_of(site), kAsItIs};
  return {thunk_of(*entry), kThroughThunk};
}

/// The stack pointer that longjmp(3) restores. glibc mangles it (sysdeps/x86_64/jmpbuf-offsets.h,
/// pointer_guard.h: rotated by 17, exclusive-or with the word at %fs:0x30); musl does not.
std::uint64_t target_of_jump(AgentBlock& block, const EntryFrame& frame, const Site& site) {
  constexpr std::uint64_t kStackPointerAt = 6 * 8;
  std::uint64_t word = 0;
  if (!SafeMemory(block).read_word(frame.words[0] + kStackPointerAt, word)) return 0;
  if ((site.flags & kSiteMuslJumps) != 0) return word;
  std::uint64_t guard;
  asm("mov %%fs:0x30, %0" : "=r"(guard));
  constexpr unsigned kRotated = 0x11;
  return (word >> kRotated | word << (64 - kRotated)) ^ guard;
}

/// Whether a filtered site's call comes from where it shall. Where a thunk is on the stack, another
/// filtered site of the function may have put it there, under another name of the same code. Else
/// the call was recorded where it was made, or it is a jump at the end of one that was.
bool passes_filter(const AgentBlock& block, const EntryFrame& frame, const Site& site) {
  std::uint64_t from = frame.return_address;
  for (const AgentEntry* entry = block.top; entry != nullptr && is_thunk(from);
       entry = entry->previous) {
    if (entry->slot != slot_of(frame)) continue; // of a call that was left, or of another stack
    if ((entry->site->flags & kSiteFiltered) == 0 || entry->site->function == site.function)
      return false;
    from = entry->return_address;
  }
  return site.only_from <= from && from < site.only_to;
}

/// prctl(PR_SET_SECCOMP, ...) or syscall(SYS_seccomp, ...). Whether it succeeds is not waited for.
void see_seccomp(const EntryFrame& frame) {
  constexpr std::uint64_t kSetSeccomp = 22, kSeccompCall = 317;
  const std::uint64_t first = frame.words[0];
  if (first == kSetSeccomp || first == kSeccompCall)
    store(control().makes_no_calls, std::uint32_t{1});
}

/// prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT), which takes the time stamp counter away as well
/// (kernel/seccomp.c, seccomp_assign_mode), or prctl(PR_SET_TSC, PR_TSC_SIGSEGV).
bool takes_clock_away(const EntryFrame& frame) {
  constexpr std::uint64_t kSetSeccomp = 22, kStrict = 1, kSetTsc = 26, kFault = 2;
  return (frame.words[0] == kSetSeccomp && frame.words[1] == kStrict) ||
         (frame.words[0] == kSetTsc && frame.words[1] == kFault);
}

/// Functions to be treated apart.
[[gnu::noinline]] Onward enter_apart(AgentBlock& block, EntryFrame& frame, const Site& site) {
  const bool is_silent = (site.flags & kSiteSilent) != 0;
  if ((site.flags & kSiteForbids) != 0) {
    see_seccomp(frame);
    if (takes_clock_away(frame)) {
      if (!is_silent) tell_at_once(block, frame, site, kRingResultUnknown);
      block.is_muted = kMutedNoClock;
      return {target_of(site), kAsItIs};
    }
  }
  if ((site.flags & kSiteFiltered) != 0 && !passes_filter(block, frame, site))
    return {target_of(site), kAsItIs};
  // A call that was left may have been made where it is caught now: its return address lay where
  // this call's lies. One that has jumped here, and is alive, has a thunk's there.
  if ((site.flags & kSiteCatches) != 0)
    leave_below(block, slot_of(frame) + (is_thunk(frame.return_address) ? 0 : 1));
  if ((site.flags & kSiteJumps) != 0) {
    if (!is_silent) tell_at_once(block, frame, site, kRingUnwound);
    const std::uint64_t sp = target_of_jump(block, frame, site);
    if (sp > slot_of(frame)) leave_below(block, sp);
    return {target_of(site), kAsItIs};
  }
  if (is_silent) return {target_of(site), kAsItIs};
  const bool looks_at_caller = (site.flags & kSiteLooksAtCaller) != 0;
  const bool is_tail = is_thunk(frame.return_address);
  if ((site.flags & kSiteNoReturn) != 0 || (looks_at_caller && (site.gadget == 0 || is_tail))) {
    tell_at_once(block, frame, site, kRingResultUnknown);
    return {target_of(site), kAsItIs};
  }
  const Onward onward = enter(block, frame, site);
  if (!looks_at_caller || onward.how != kThroughThunk) return onward;
  frame.return_address = return_of(*block.top);
  return {block.top->target, site.gadget};
}

/// True where it is muted no longer.
[[gnu::noinline]] bool may_speak_again(AgentBlock& block) {
  if (block.is_muted == kMutedNoClock) ++block.ring->lost;
  if (block.is_muted != kMutedTracerGone) return false;
  if (load(shared().heartbeat) == block.stale_heartbeat || load(shared().is_over) != 0) {
    ++block.ring->lost;
    return false;
  }
  block.is_muted = 0;
  return true;
}

} // namespace

Onward enter_any(EntryFrame& frame, const Site& site, AgentBlock& block) {
  if (block.is_muted != 0 && !may_speak_again(block)) return {target_of(site), kAsItIs};
  if ((site.flags & kSitesApart) != 0) return enter_apart(block, frame, site);
  return enter(block, frame, site);
}

void leave_any(const ExitFrame& frame, AgentEntry& entry, AgentBlock* block) {
  if (block != nullptr && block->is_muted == kMutedNoClock) {
    ++block->ring->lost;
    if (block->top == &entry) block->top = entry.previous;
    return;
  }
  const std::uint64_t time = now();
  if (block != nullptr) leave_at(frame, entry, *block, time);
}

void leave_at(const ExitFrame& frame, AgentEntry& entry, AgentBlock& block, std::uint64_t time) {
  if (entry.state == EntryState::Told) {    // it has come back after all
    set_state(entry, EntryState::Returned); // and is taken out of the list when its turn comes
    return;
  }
  if (block.top == &entry) {
    block.top = entry.previous;
    return end_at(frame, entry, block, time);
  }
  if (take_out(block, entry, frame, time)) return end_at(frame, entry, block, time);
  // An earlier session's says nothing; it is used again as its place on the stack is free now.
  if (!is_of_this_session(entry) || !claim(entry, EntryState::Returning)) return;
  if (block.is_muted == 0) tell_end(block, entry, &frame, time);
  set_state(entry, EntryState::Returned); // the thread that it is of will find it
}

void end_at(const ExitFrame& frame, AgentEntry& entry, AgentBlock& block, std::uint64_t time) {
  if (block.is_muted == 0) tell_end(block, entry, &frame, time);
  block.depth = entry.depth - 1U;
  block.own += control().call_ticks;
  give_back(block, entry);
}

} // namespace sonictrace::agent
