// How most calls go: nothing about them, or their thread, is out of the ordinary. Nothing is called
// on this way, so that hardly a register has to be saved, and each condition is asked for once.
// What is written is what calls.cpp writes.

#include "agent/calls.hpp"
#include "agent/counting.hpp"
#include "agent/layout.h"
#include "agent/open_calls.hpp"
#include "agent/probed_words.hpp"
#include "agent/ring_writer.hpp"

namespace sonictrace::agent {

static_assert(AGENT_VERSION == kAgentVersion && PRIVATE_THREADS == AgentPrivate::kThreadsAt &&
              SITE_SLOT == offsetof(Site, slot) && PRIVATE_SWITCH == AgentPrivate::kSwitchAt &&
              CONTROL_ARENA == offsetof(AgentControl, arena) &&
              SHARED_LINKER_REGISTERS == offsetof(SharedControl, linker_registers) &&
              SITE_FLAGS == offsetof(Site, flags) && SITE_HAS_VECTORS == kSiteVectors &&
              SITE_HAS_RESULT_VECTORS == kSiteResultVectors && SITE_HAS_X87 == kSiteX87 &&
              ENTRY_RETURN_ADDRESS == offsetof(AgentEntry, return_address) &&
              ENTRY_SITE == offsetof(AgentEntry, site) && ENTRY_FRAME_VECTORS == kVectorWordsAt &&
              ENTRY_FRAME_R10 == offsetof(EntryFrame, static_chain) &&
              ENTRY_FRAME_RAX == offsetof(EntryFrame, rax) &&
              ENTRY_FRAME_R11 == offsetof(EntryFrame, r11) &&
              ENTRY_FRAME_TARGET + 8 == kStackWordsAt &&
              ENTRY_FRAME_RETURN == offsetof(EntryFrame, return_address) &&
              EXIT_FRAME_VECTORS == offsetof(ExitFrame, vectors) &&
              EXIT_FRAME_X87 == offsetof(ExitFrame, x87) &&
              EXIT_FRAME_RETURN == offsetof(ExitFrame, return_address));

namespace {

/// Of the flags that say what is recorded, those of a site that has nothing but a few words.
constexpr std::uint32_t kEntryShape = kSiteEntryWords | kSiteKeepsWords | kSiteVectors;
constexpr std::uint32_t kResultShape = kSiteResultWords | kSiteResultVectors;

/// Whole words; most calls have four, and most results one.
template <std::uint32_t kMost>
inline void put_words(std::uint64_t* to, const std::uint64_t* from, std::uint32_t bytes) {
  if (bytes == kMost * 8) [[likely]] {
    for (std::uint32_t at = 0; at < kMost; ++at)
      to[at] = from[at];
    return;
  }
  for (std::uint32_t at = 0; at < bytes / 8; ++at)
    to[at] = from[at];
}
constexpr std::uint32_t kUsualArguments = 4, kUsualResults = 1;

/// Memory that will be written soon, and is far away. No address is a wrong one.
inline void fetch_for_writing(std::uint64_t address) {
  asm volatile("prefetchw %0" : : "m"(*reinterpret_cast<const std::byte*>(address)));
}
constexpr std::uint64_t kCacheLine = 64;
constexpr std::uint64_t kAhead = 8 * kCacheLine;

inline void give_back_newest(AgentBlock& block, AgentEntry& entry) {
  block.depth = entry.depth - 1U;
  block.own += control().call_ticks;
  give_back(block, entry);
}

inline void count(AgentBlock& block, const AgentEntry& entry, std::uint64_t time) {
  const std::uint64_t ticks = duration_of(block, entry, time);
  if (ticks >= control().min_ticks) [[likely]]
    count_call(block, entry.site->function, ticks);
  else
    ++block.ring->short_calls;
}

/// -c
void leave_counted(const ExitFrame& frame, AgentEntry& entry, AgentBlock& block,
                   std::uint64_t time) {
  if (is_target_awaited(*entry.site)) [[unlikely]]
    return leave_at(frame, entry, block, time);
  while (block.top != &entry) {
    AgentEntry* const newest = block.top;
    const bool is_its_tail = newest != nullptr && newest->state == EntryState::Tail &&
                             newest->slot == entry.slot; // see take_out
    if (!is_its_tail) [[unlikely]]
      return leave_at(frame, entry, block, time);
    block.top = newest->previous;
    count(block, *newest, time);
    give_back(block, *newest);
  }
  block.top = entry.previous;
  count(block, entry, time);
  give_back_newest(block, entry);
}

[[gnu::noinline]] void leave_whole(const ExitFrame& frame, AgentEntry& entry, AgentBlock& block,
                                   std::uint64_t time) {
  const Site& site = *entry.site;
  const std::uint64_t ticks = duration_of(block, entry, time);
  OpenCall& open = open_call_of(entry);
  const std::uint32_t entry_size = open.entry_size, result_size = site.result_words * 8U;
  const std::size_t size = sizeof(RingRecord) + entry_size + result_size;
  const std::uint64_t head = block.ring->head;
  const bool is_usual = open.state == kOpenWhole && open.flags == kRingEntryWords &&
                        block.top == &entry && !is_target_awaited(site) &&
                        (site.flags & kResultShape) == kSiteResultWords &&
                        site.probed_words >> kProbedResultsAt == 0 &&
                        entry_size <= kVectorWordsAt && head + size <= block.limit;
  if (!is_usual) [[unlikely]]
    return leave_at(frame, entry, block, time);
  block.top = entry.previous;
  if (ticks < control().min_ticks) [[unlikely]] {
    ++block.ring->short_calls;
  } else if (is_to_be_counted(block, site, ticks)) {
    count_call(block, site.function, ticks);
  } else {
    if (!exchange_on_this_thread(block.ring->head, head, head + size)) [[unlikely]]
      return end_at(frame, entry, block, time);
    auto& record = *reinterpret_cast<RingRecord*>(block.data + head % kRingSize);
    // What was read since the last lap is in the tracer's cache.
    const auto ahead = reinterpret_cast<std::uint64_t>(&record) + kAhead;
    fetch_for_writing(ahead);
    fetch_for_writing(ahead + kCacheLine);
    record.time = time;
    record.begin = entry.begin;
    record.ticks = ticks;
    record.where = open.where;
    record.function = site.function;
    record.call = open.call;
    record.depth = entry.depth;
    record.flags = kRingEntryWords | kRingResultWords;
    record.readable_words = open.readable_words;
    record.entry_size = entry_size;
    record.result_size = result_size;
    record.stack_size = 0;
    auto* const words = reinterpret_cast<std::uint64_t*>(&record + 1);
    put_words<kUsualArguments>(words, reinterpret_cast<const std::uint64_t*>(open.data),
                               entry_size);
    put_words<kUsualResults>(words + entry_size / 8, frame.results, result_size);
    store(record.commit, commit_word(head, RingKind::Call, size));
  }
  store(open.state, std::uint32_t{0});
  give_back_newest(block, entry);
}

/// Pages of which nothing is known are asked for: what that takes is ours. `time`: before that.
[[gnu::noinline]] Onward enter_asking(AgentBlock& block, AgentEntry& entry, OpenCall& open,
                                      std::uint64_t time, ProbedWords found, Onward onward) {
  block.page_time = page_time_of(time);
  found.readable |=
      ask_for(block, reinterpret_cast<const std::uint64_t*>(open.data), found.unknown);
  open.readable_words = static_cast<std::uint8_t>(found.readable);
  store(open.state, kOpenWhole);
  const std::uint64_t begin = now();
  block.own += begin - time;
  entry.own = block.own;
  entry.begin = open.begin = begin;
  return onward;
}

} // namespace

extern "C" AGENT_HIDDEN Onward agent_enter(EntryFrame& frame, const Site& site, AgentBlock& block) {
  const AgentControl& said = control();
  const RecordForm form = said.form;
  const std::uint32_t flags = site.flags;
  const bool is_tail = is_thunk(frame.return_address);
  const AgentEntry* const top = block.top;
  const bool is_usual = ((flags & kSitesApart) | block.is_muted) == 0 &&
                        (form == RecordForm::Count ||
                         (form == RecordForm::Whole && (flags & kEntryShape) == kSiteEntryWords)) &&
                        (top == nullptr || top->slot > slot_of(frame) ||
                         (is_tail && top->slot == slot_of(frame))); // see settle_left
  if (!is_usual) [[unlikely]]
    return enter_any(frame, site, block);
  if (is_too_deep(block)) [[unlikely]] {
    ++block.ring->deep_calls;
    return Onward{target_of(site), kAsItIs};
  }
  AgentEntry* const taken = take_free(block);
  if (taken == nullptr) [[unlikely]]
    return enter_any(frame, site, block);

  AgentEntry& entry = *taken;
  const std::uint64_t target = target_of(site);
  entry.return_address = frame.return_address;
  entry.slot = slot_of(frame);
  entry.target = target;
  entry.site = &site;
  entry.own = block.own;
  entry.state = is_tail ? EntryState::Tail : EntryState::Open;
  const auto depth = static_cast<std::uint16_t>(++block.depth);
  entry.depth = depth;
  entry.flags = 0;
  put_on_top(block, entry);
  const Onward onward = is_tail ? Onward{target, kAsItIs} : Onward{thunk_of(entry), kThroughThunk};
  if (form == RecordForm::Count) {
    fetch_for_writing(block.counts + site.function * sizeof(CallCount));
    entry.begin = now();
    return onward;
  }
  OpenCall& open = open_call_of(entry);
  const std::uint32_t size = site.entry_words * 8U;
  open.function = site.function;
  open.where = is_tail ? original_of(frame.return_address) : frame.return_address;
  open.call = block.call++;
  open.depth = depth;
  open.flags = kRingEntryWords;
  open.kept_words = 0;
  open.entry_size = size;
  open.ring = block.index;
  put_words<kUsualArguments>(reinterpret_cast<std::uint64_t*>(open.data), frame.words, size);
  // The probes that find what they look for come behind the clock, which they need: some ticks.
  const std::uint64_t begin = now();
  ProbedWords found = {0, 0};
  if (const std::uint32_t probed = site.probed_words & kProbedOfEntry; probed != 0) {
    found = probe(block, frame.words, probed, page_time_of(begin));
    if (found.unknown != 0) [[unlikely]]
      return enter_asking(block, entry, open, begin, found, onward);
  }
  open.readable_words = static_cast<std::uint8_t>(found.readable);
  store(open.state, kOpenWhole);
  entry.begin = open.begin = begin;
  return onward;
}

/// `block` is null in a fork child that is not followed, and where there was no room for the
/// thread.
extern "C" AGENT_HIDDEN void agent_leave(const ExitFrame& frame, AgentEntry& entry,
                                         AgentBlock* of_thread) {
  const AgentControl& said = control();
  if (of_thread == nullptr || of_thread->is_muted != 0) [[unlikely]]
    return leave_any(frame, entry, of_thread);
  const std::uint64_t time = now();
  if (said.form == RecordForm::Whole) return leave_whole(frame, entry, *of_thread, time);
  if (said.form == RecordForm::Count) return leave_counted(frame, entry, *of_thread, time);
  leave_at(frame, entry, *of_thread, time);
}

} // namespace sonictrace::agent
