#pragma once

// Freestanding: the contract between the tracer and the agent, its code in the traced process.
// docs/AGENT.md draws the memory.

#include <cstddef>
#include <cstdint>

#include "sonictrace/wire/capture.hpp"
#include "sonictrace/wire/histogram.hpp"
#include "sonictrace/wire/python.hpp"
#include "sonictrace/wire/ring.hpp"

namespace sonictrace::wire {

constexpr std::uint32_t kAgentVersion = 6;

// ---- the agent's image: [ text | private data ], one reservation --------------------------------

/// The text (code, constants, unwind tables; read and execute) has room for this much.
constexpr std::size_t kAgentTextRoom = std::size_t{1} << 17;

struct AgentBlock;

/// The table of threads: %fs:0 -> block. Open addressing; wiped in a fork child (MADV_WIPEONFORK),
/// so that nothing is recorded there.
struct ThreadSlot {
  std::uint64_t key;   ///< %fs:0; 0: free; kTombstone: freed
  std::uint64_t block; ///< address of an AgentBlock
};
constexpr std::uint64_t kTombstone = 1;
/// A slot with this bit in its key is of a thread that has not called yet: `block` is its tid. Put
/// there by the tracer, so that the thread need not ask the kernel.
constexpr std::uint64_t kAnnounced = 4;
constexpr std::size_t kThreadSlots = std::size_t{1} << 16;
constexpr std::size_t thread_slot_of(std::uint64_t key) { return (key >> 12) & (kThreadSlots - 1); }
/// How far behind its own place a key may be.
constexpr std::size_t kThreadProbes = 256;

/// Rings, blocks: threads at one time.
constexpr std::size_t kMaxRings = std::size_t{1} << 15;

// ---- return thunks ------------------------------------------------------------------------------
//
// A group is 8 MB, aligned so: 2 MB of code (64 Ki thunks of 32 bytes, a mapping of the thunk
// template), 4 MB of entries (64 bytes each, private), 2 MB of nothing. Thunk k belongs to entry k.
// Threads take pools of 1024 of them. All groups lie in one reserved region.

constexpr std::size_t kThunkSize = 32;
constexpr std::size_t kThunkReturnsAt = 6; ///< behind the thunk's call instruction
constexpr std::size_t kEntriesOfPool = 1024;
constexpr std::size_t kPoolsOfGroup = 64;
constexpr std::size_t kEntriesOfGroup = kEntriesOfPool * kPoolsOfGroup;
constexpr std::size_t kGroupCode = kEntriesOfGroup * kThunkSize;
constexpr std::size_t kGroupEntries = kEntriesOfGroup * 64;
constexpr std::size_t kGroupStride = std::size_t{8} << 20;
static_assert(kGroupCode + kGroupEntries <= kGroupStride);
constexpr std::size_t kMaxGroups = 512;
constexpr std::size_t kMaxPools = kMaxGroups * kPoolsOfGroup;
constexpr std::uint32_t kNoPool = ~std::uint32_t{0};

struct Site;

enum class EntryState : std::uint32_t {
  Free = 0,
  Open = 1,
  Tail = 2,      ///< reached by a jump: it ends with the entry of the same slot before it
  Told = 3,      ///< its end was told (unwound), but nobody knows for certain that it can't return
  Returned = 4,  ///< on another thread than it began on, whose list it is still in
  Returning = 5, ///< the same, and that thread is still at it
};

/// One open call; private to the process, for a fork child returns through its copy.
struct AgentEntry {
  std::uint64_t return_address;
  std::uint64_t slot;   ///< where the return address lies
  std::uint64_t target; ///< what the thunk calls
  const Site* site;
  AgentEntry* previous; ///< opened before it in this thread; of a free one: the next free one
  std::uint64_t begin;  ///< ticks
  std::uint64_t own;    ///< the block's `own` when it began
  EntryState state;
  std::uint16_t depth;
  std::uint16_t flags; ///< kEntryEnterWritten
};
static_assert(sizeof(AgentEntry) == 64);
constexpr std::uint16_t kEntryEnterWritten = 1; ///< an Enter record was written for it

// ---- sites
// -----------------------------------------------------------------------------------------

// What is known of one patched slot or entry point: read-only for the process.
/// The plan looks at words only, and at whether some of them lead somewhere (`probed_words`): they
/// are recorded as they are.
constexpr std::uint32_t kSiteEntryWords = 1;
constexpr std::uint32_t kSiteResultWords = 2;    ///< the same of the return
constexpr std::uint32_t kSiteVectors = 4;        ///< xmm0-7 hold arguments
constexpr std::uint32_t kSiteVectorsByAl = 8;    ///< ... if al says so
constexpr std::uint32_t kSiteResultVectors = 16; ///< xmm0, xmm1 hold results
constexpr std::uint32_t kSiteX87 = 32;           ///< st0 holds the result
constexpr std::uint32_t kSiteKeepsWords = 64; ///< the return's plan looks at the words of the entry
constexpr std::uint32_t kSiteNoReturn = 128;  ///< returns twice: its return address is left alone
constexpr std::uint32_t kSiteLooksAtCaller = 256; ///< looks at its return address: see `gadget`
constexpr std::uint32_t kSiteSilent = 512;        ///< nothing is recorded of it
constexpr std::uint32_t kSiteCatches = 1024;      ///< __cxa_begin_catch: frames below it were left
constexpr std::uint32_t kSiteJumps = 2048;        ///< longjmp(jmp_buf, ...)
/// Only calls that return into [only_from, only_to) (hoisted calls, seen at the callee's entry).
constexpr std::uint32_t kSiteFiltered = 4096;
/// The stack arguments that the return's plan looks at.
constexpr std::uint32_t kSiteMuslJumps = 8192; ///< of kSiteJumps: the jump buffer is musl's
/// prctl(2), syscall(2): it may forbid system calls from then on (seccomp(2)).
constexpr std::uint32_t kSiteForbids = 16384;

struct Site {
  std::uint64_t slot; ///< address of a word that holds where the call goes
  std::uint32_t function;
  std::uint32_t flags;
  std::uint64_t entry_ops; ///< address of CaptureOps; see entry_count
  std::uint64_t return_ops;
  std::uint16_t entry_count, return_count; ///< ops
  std::uint8_t entry_words;                ///< kSiteEntryWords: how many of the six
  std::uint8_t kept_stack_words;           ///< kSiteKeepsWords
  std::uint8_t result_words; ///< kSiteResultWords: how many of rax, rdx (vectors by their flag)
  /// Of which of those words it is recorded whether a byte where they lead to can be read. Bits
  /// 0-5: rdi rsi rdx rcx r8 r9; bits 6, 7: rax, rdx of the result. See RingRecord::readable_words.
  std::uint8_t probed_words;
  std::uint32_t entry_room, return_room; ///< bytes that the ops write at most
  std::uint64_t gadget;                  ///< kSiteLooksAtCaller: a `ret` in the calling module
  std::uint64_t only_from, only_to;
  /// Of dl_iterate_phdr: which of the thunks' unwind tables this caller understands, in bytes from
  /// the first one.
  std::uint64_t unwind_table;
};
static_assert(sizeof(Site) == 80);
constexpr std::uint32_t kProbedOfEntry = 0x3f; ///< of Site::probed_words
constexpr unsigned kProbedResultsAt = 6;       ///< the bit of rax

/// A stub and its site: what a cell points to. The stub's bytes:
///   f3 0f 1e fa           endbr64
///   41 53                 push %r11
///   4c 8d 1d 13 00 00 00  lea  site(%rip),%r11     # 32 bytes from the stub's begin
///   ff 25 rel32           jmp  *routine(%rip)      # a word of the area with the agent's address
struct SiteStub {
  std::uint8_t code[32];
  Site site;
  /// Of the moved begin of a function: the word that is the site's slot, and the function's
  /// address, where this is the stub that has its code behind it.
  std::uint8_t reserved[16];
};
static_assert(sizeof(SiteStub) == 128 && offsetof(SiteStub, site) == 32);

// ---- the arena, shared
// -------------------------------------------------------------------------------

constexpr std::size_t kMaxFunctions = std::size_t{1} << 20;
/// Of a function, set by the tracer: its short calls are counted in the process (thinning).
constexpr std::uint8_t kFunctionThinned = 1;
/// Where its calls go is to be told once, at the end of one: a BoundFunction.
constexpr std::uint8_t kFunctionAwaited = 2;

/// What the slot of a function holds after a call through it: no guess as to who implements it.
struct BoundFunction {
  std::uint64_t target;
  std::uint32_t function;
  std::uint32_t is_there; ///< stored last
};
static_assert(sizeof(BoundFunction) == 16);

struct PoolInfo {
  std::uint32_t next; ///< of the ring's chain
  std::uint32_t used; ///< entries that were ever taken since the ring was
};

/// An open call as the tracer can see it, also after the process is gone. Entry k has the one
/// at the same distance, times four, from the region's begin.
struct OpenCall {
  std::uint32_t state; ///< stored last: 0: not open; kOpenWhole, kOpenTold
  std::uint32_t function;
  std::uint64_t begin; ///< ticks
  std::uint64_t where; ///< return address
  std::uint32_t call;
  std::uint16_t depth;
  std::uint8_t flags;       ///< kRingEntryWords
  std::uint8_t kept_words;  ///< words in front of `data`'s fields, for the return
  std::uint32_t entry_size; ///< bytes behind the kept words
  std::uint32_t ring;
  std::uint8_t readable_words; ///< as in a RingRecord
  std::uint8_t reserved[7];
  std::uint8_t data[208];
};
static_assert(sizeof(OpenCall) == 256);
constexpr std::uint32_t kOpenWhole = 1; ///< to be told by one Call record at its end
constexpr std::uint32_t kOpenTold =
    2; ///< an Enter record has told of it (set by the tracer as well)

/// Of one function in one thread, for -c and thinning.
struct CallCount {
  std::uint64_t calls;
  std::uint64_t sum_ticks;
  std::uint64_t least_ticks; ///< + 1, so that 0 is none
  std::uint64_t most_ticks;
  std::uint32_t histogram; ///< + 1; 0: none yet
  std::uint32_t reserved[7];
};
static_assert(sizeof(CallCount) == 64);
constexpr std::size_t kHistogramBuckets = 2048;
constexpr std::size_t kHistogramsOfRing = 8192;
struct CallHistogram {
  std::uint32_t buckets[kHistogramBuckets]; ///< of durations in ns
};
constexpr std::size_t kCountsStride =
    kMaxFunctions * sizeof(CallCount) + kHistogramsOfRing * sizeof(CallHistogram);
/// Counting takes so much address space for each ring that there are fewer of them.
constexpr std::size_t kMaxCountingRings = std::size_t{1} << 13;

/// Where the parts of the arena begin, in bytes.
struct ArenaLayout {
  static constexpr std::uint64_t kControl = 0;
  static constexpr std::uint64_t kFunctionFlags = std::uint64_t{1} << 16;
  static constexpr std::uint64_t kPools = kFunctionFlags + kMaxFunctions;
  static constexpr std::uint64_t kRingHeaders = kPools + kMaxPools * sizeof(PoolInfo);
  static constexpr std::uint64_t kBoundFunctions = std::uint64_t{1} << 24;
  static constexpr std::uint64_t kOpenCalls = std::uint64_t{1} << 26;
  static constexpr std::uint64_t kRings = kOpenCalls + kMaxGroups * kGroupStride * 4;
  static constexpr std::uint64_t kCounts = kRings + kMaxRings * kRingStride;
  static constexpr std::uint64_t kEnd = kCounts; ///< without counting
  static constexpr std::uint64_t kEndWithCounts = kCounts + kMaxCountingRings * kCountsStride;
};
static_assert(ArenaLayout::kRingHeaders + kMaxRings * sizeof(RingHeader) <=
                  ArenaLayout::kBoundFunctions &&
              ArenaLayout::kBoundFunctions + kMaxFunctions * sizeof(BoundFunction) <=
                  ArenaLayout::kOpenCalls);

/// What the tracer asks of a thread that waits in the dynamic linker's rendezvous.
enum class LinkerCommand : std::uint32_t {
  None = 0,
  GoOn = 1, ///< the new modules are dealt with
  Map = 2,  ///< mmap(2) `arguments`: address, size, protection, flags; -> `result`
};

/// The first page of the arena.
struct SharedControl {
  std::uint32_t version;
  std::uint32_t is_over;    ///< set by the tracer: record nothing any more
  std::uint64_t heartbeat;  ///< counted up by the tracer, ten times a second at least
  std::uint32_t rings_used; ///< no ring from this number on was ever in use
  std::uint32_t pools_used; ///< the same; pools are never given back but to their ring
  std::uint64_t lost;       ///< calls of threads that got no ring
  // The dynamic linker's rendezvous. One thread at a time (the linker's own lock).
  std::uint32_t linker_asks;    ///< counted up by the agent: the list of modules has changed
  std::uint32_t linker_command; ///< LinkerCommand; futex(2)
  std::uint32_t linker_answers; ///< the last linker_asks that the tracer has dealt with
  std::uint32_t linker_done;    ///< counted up by the agent behind each Map
  std::uint64_t linker_arguments[4];
  std::int64_t linker_result;
  /// Of the thread that waits, as the linker has called: rip (where it returns to), rsp (as it is
  /// then), rbx, rbp, r12, r13, r14, r15. For a backtrace.
  std::uint64_t linker_registers[8];
  std::uint32_t bound_functions; ///< BoundFunctions that were begun
  /// The heartbeat's low half + 1 when a thread gave up waiting: none waits until it changes.
  std::uint32_t linker_gave_up;
};
static_assert(offsetof(SharedControl, linker_registers) == 88);

// ---- private data
// --------------------------------------------------------------------------------------

enum class RecordForm : std::uint32_t {
  Whole = 0, ///< a Call record at each call's end
  Split = 1, ///< an Enter and a Return or Unwound record
  Count = 2, ///< no records: CallCounts
};

/// What the tracer tells the agent at its injection. Stays in a fork child.
struct AgentControl {
  std::uint64_t arena;  ///< address of the arena in this process
  std::uint64_t region; ///< of the thunks: its begin
  std::uint64_t region_end;
  std::uint64_t
      thunk_template;         ///< a mapping of the kGroupCode bytes; to be duplicated by mremap(2)
  std::uint64_t thunk_unwind; ///< address of the .eh_frame_hdr of the region; its program headers
                              ///< lie 512 bytes behind it
  std::uint64_t linker_state; ///< address of r_debug; 0: not known
  std::uint64_t
      call_ticks; ///< what a recorded call costs, besides what it adds to its own duration
  std::uint64_t inside_ticks;   ///< what it adds to its own duration
  std::uint64_t ns_per_tick_32; ///< times 2^32
  RecordForm form;
  std::uint32_t wants_histograms;
  std::uint64_t min_ticks;  ///< shorter calls are not recorded (--min-time); 0: all are
  std::uint32_t max_depth;  ///< 0: no limit
  std::uint64_t thin_ticks; ///< what is short, of a function with kFunctionThinned
  std::uint64_t
      heartbeat_ticks; ///< two seconds: a tracer that shows no sign of life that long is gone
  /// 2 to its power ticks are a millisecond at most: so long what was found out of a page is
  /// believed.
  std::uint32_t page_time_shift;
  std::uint32_t reserved;
  std::uint64_t max_rings;
  /// A seccomp filter is there, or about to be: the agent makes no system calls any more.
  std::uint32_t makes_no_calls;
  /// Of each call's stack so much is recorded, a RingStack included, a multiple of 8 (-w); 0:
  /// nothing. Then the form is Split, and sites lead to `enter_with_stack`.
  std::uint32_t stack_size;
  /// Pools below it are none of this session's: calls of an earlier one may be open in them.
  std::uint32_t first_pool;
  /// With --python: where the interpreter's structures lie. Its `runtime` is stored last, when the
  /// module is there; until then, and without --python, it is 0.
  PythonLayout python;
  /// 1: it is. Kept by the agent; the first ones are from the start.
  std::uint8_t group_is_mapped[kMaxGroups];
};

/// AgentControl::page_time_shift
constexpr std::uint32_t page_time_shift(std::uint64_t heartbeat_ticks) {
  std::uint32_t shift = 0;
  while (std::uint64_t{4000} << shift <= heartbeat_ticks && shift < 32)
    ++shift;
  return shift;
}

/// Wiped in a fork child.
struct AgentSwitch {
  std::uint32_t is_on;
  /// Of a fork child that is followed: the number + 1 of the block whose open calls its first
  /// thread has inherited; its key is that thread's. Set by the tracer.
  std::uint32_t inherits;
};

constexpr std::size_t kPageCache = 64;
constexpr unsigned kPageTimeAt = 36; ///< the bit of a cached page's time; above a page's number

/// Of one thread.
struct AgentBlock {
  std::uint64_t owner; ///< %fs:0
  RingHeader* ring;
  std::uint8_t* data;  ///< of the ring
  std::uint64_t limit; ///< as far as `head` may go, as was seen last
  std::uint64_t free;  ///< the entry that was given back last, and how often one was left; see
                       ///< agent/open_calls.hpp
  AgentEntry* top;     ///< the call that was opened last
  std::uint64_t own;   ///< ticks that were spent on recording so far
  std::uint32_t depth;
  std::uint32_t is_muted; ///< nothing is recorded: kMutedByTracer, kMutedTracerGone
  std::uint32_t call;     ///< counter
  std::uint32_t index;    ///< of ring and block
  std::uint64_t left_at;  ///< ticks: when a jump or an exception was last seen to leave frames
  std::uint64_t stale_heartbeat;
  AgentEntry* told_first; ///< entries in state Told, the oldest first
  AgentEntry* told_last;
  std::uint32_t told;
  std::uint32_t pool; ///< that entries are being taken from
  std::uint32_t pool_used;
  std::uint32_t
      inherited_from;   ///< + 1: entries of that block's are those of the process before the fork
  std::uint64_t counts; ///< address of this ring's CallCounts; 0: not counting
  std::uint64_t histograms;
  std::uint32_t histograms_used;
  std::uint32_t reserved;
  /// Which millisecond (as control's page_time_shift has it) it was when the clock was looked at
  /// last for this; in the bits from kPageTimeAt up to 62.
  std::uint64_t page_time;
  /// Numbers of pages that were readable, and their page_time: others are not believed.
  std::uint64_t pages[kPageCache];
  PythonHint python;
  std::uint64_t python_looked; ///< `page_time` when it was last looked for the thread's state
  std::uint64_t python_known;  ///< marks what of the ring's PythonSeen is this thread's
  std::uint64_t spare[9];
};
static_assert(sizeof(AgentBlock) == 768);
constexpr std::uint32_t kMutedByTracer = 1;
constexpr std::uint32_t kMutedTracerGone = 2;
/// The thread may not read its clock any more: seccomp's strict mode, PR_SET_TSC (prctl(2)).
constexpr std::uint32_t kMutedNoClock = 3;

/// A code object of which the ring's reader was told: in the place that its key gives. Another one
/// takes the place, and is told of again when its turn comes.
struct PythonSeen {
  std::uint64_t key;
  std::uint64_t known; ///< the block's `python_known` then
};
constexpr std::size_t kPythonSeen = 512; ///< of each ring

/// What the tracer has mapped besides the agent: cells, stubs, moved entries, plans. Kept by the
/// tracer, for the next one that comes; the agent has no use for it.
struct AreaRecord {
  std::uint64_t begin;
  std::uint64_t size; ///< bytes
  std::uint32_t kind;
  std::uint32_t reserved;
};
constexpr std::size_t kMaxAreas = 340; // with the words before, two pages
struct AreaList {
  std::uint32_t count;
  std::uint32_t is_patched; ///< patches may lead to them; else the session has ended in good order
  std::uint32_t pools_ever; ///< as many pools were used by any session before this one
  std::uint32_t reserved;
  AreaRecord areas[kMaxAreas];
};
static_assert(sizeof(AreaList) <= 8192);

/// The private data, behind the text.
struct AgentPrivate {
  static constexpr std::size_t kControlAt = 0;
  static constexpr std::size_t kSwitchAt = 4096; ///< wiped from here ...
  static constexpr std::size_t kThreadsAt = 8192;
  static constexpr std::size_t kWipedEnd =
      kThreadsAt + kThreadSlots * sizeof(ThreadSlot); ///< ... to here
  /// A block that is muted for good: what the tracer enters for threads that are not traced.
  static constexpr std::size_t kMuteBlockAt = kWipedEnd;
  static constexpr std::size_t kAreasAt = kMuteBlockAt + 4096; ///< AreaList
  static constexpr std::size_t kBlocksAt = kAreasAt + 8192;
  static constexpr std::size_t kPythonAt = kBlocksAt + kMaxRings * sizeof(AgentBlock);
  static constexpr std::size_t kEnd = kPythonAt + kMaxRings * kPythonSeen * sizeof(PythonSeen);
};
static_assert(sizeof(AgentControl) <= AgentPrivate::kSwitchAt);

/// Leads the text: where things are, in bytes from its begin.
struct AgentHeader {
  char magic[8]; ///< "sonicagt"
  std::uint32_t version;
  std::uint32_t text_size;
  std::uint32_t enter;          ///< routine of ordinary sites
  std::uint32_t find_object;    ///< routine of _dl_find_object's sites
  std::uint32_t iterate_phdr;   ///< of dl_iterate_phdr's
  std::uint32_t backtrace;      ///< of backtrace(3)'s
  std::uint32_t linker_changed; ///< where `_dl_debug_state` jumps to; returns to its caller
  std::uint32_t thunk_exit;     ///< where return thunks jump to, r11 = the entry
  std::uint32_t copy_begin, copy_end, copy_fault; ///< a fault in [begin, end) goes on at `fault`
  std::uint32_t eh_frame_hdr;                     ///< the unwind tables of the text
  std::uint32_t syscall;         ///< where the tracer has threads call: kCallingCode of process/
  std::uint32_t program_headers; ///< Elf64_Phdrs for dl_iterate_phdr
  std::uint32_t program_header_count;
  std::uint32_t enter_with_stack; ///< the same as `enter`, where AgentControl::stack_size is set
  std::uint32_t reserved[2];
};

} // namespace sonictrace::wire
