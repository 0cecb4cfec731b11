#include "engine/inline/rehearsal.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "engine/inline/thunk_template.hpp"

namespace sonictrace {
namespace {

using wire::ArenaLayout;

/// Address space of our own, given back at the end.
class Reservation {
public:
  explicit Reservation(std::size_t size)
      : size_(size),
        at_(::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  Reservation(const Reservation&) = delete;
  ~Reservation() {
    if (is_there()) ::munmap(at_, size_);
  }
  bool is_there() const { return at_ != MAP_FAILED; }
  std::byte* at(std::size_t offset = 0) const { return static_cast<std::byte*>(at_) + offset; }
  std::uint64_t address(std::size_t offset = 0) const {
    return reinterpret_cast<std::uint64_t>(at(offset));
  }
  bool protect(std::size_t offset, std::size_t size, int protection) const {
    constexpr std::size_t kPage = 4096;
    return ::mprotect(at(offset), (size + kPage - 1) & ~(kPage - 1), protection) == 0;
  }
  bool open(std::size_t offset, std::size_t size) const {
    return protect(offset, size, PROT_READ | PROT_WRITE);
  }

private:
  std::size_t size_;
  void* at_;
};

[[gnu::noinline]] long empty_function(long a, long b, long c, long d) {
  asm volatile("" : "+r"(a) : "r"(b), "r"(c), "r"(d));
  return a;
}
using Function = long (*)(long, long, long, long);

constexpr int kRounds = 30;
constexpr int kCalls = 400; ///< of a round; their records fit into the ring

std::uint64_t time_of_round(Function function, const TickClock& clock) {
  const std::uint64_t begin = clock.now();
  for (long i = 0; i < kCalls; ++i)
    function(i, 1, 2, 3);
  return clock.now() - begin;
}

/// All that the agent needs, in this process.
class Stage {
public:
  Stage(const AgentImage& image, const TickClock& clock, wire::RecordForm form)
      : image_(image), agent_(wire::kAgentTextRoom + wire::AgentPrivate::kEnd),
        arena_(ArenaLayout::kEndWithCounts), region_(2 * wire::kGroupStride), stub_(4096) {
    ready_ = agent_.is_there() && arena_.is_there() && region_.is_there() && stub_.is_there() &&
             put_agent() && put_thunks() && put_arena() && put_stub();
    if (ready_) put_control(clock, form);
  }
  bool is_ready() const { return ready_; }

  /// A call of this is a traced one of empty_function.
  Function traced() const {
    return reinterpret_cast<Function>(stub_.address(offsetof(Page, stub)));
  }
  /// Forgets the records of a round, and returns the least duration in them.
  std::uint64_t take_round() {
    auto& ring = *reinterpret_cast<wire::RingHeader*>(arena_.at(ArenaLayout::kRingHeaders));
    std::uint64_t least = ~std::uint64_t{0};
    for (std::uint64_t position = 0; position < ring.head;) {
      const auto& record =
          *reinterpret_cast<const wire::RingRecord*>(arena_.at(ArenaLayout::kRings + position));
      const auto kind = static_cast<wire::RingKind>(record.commit >> 32 & 0xff);
      if (kind == wire::RingKind::Call || kind == wire::RingKind::Return)
        least = std::min(least, record.ticks);
      position += (record.commit >> 40) * wire::kRingAlignment;
    }
    ring.head = 0;
    auto& count = *reinterpret_cast<wire::CallCount*>(arena_.at(ArenaLayout::kCounts));
    if (count.calls != 0) least = count.least_ticks - 1;
    return least;
  }

private:
  struct Page {
    std::uint64_t routine, target;
    std::uint64_t padding[6];
    wire::SiteStub stub;
  };

  bool put_agent() {
    if (!agent_.open(0, wire::kAgentTextRoom) ||
        !agent_.open(wire::kAgentTextRoom, wire::AgentPrivate::kEnd))
      return false;
    std::memcpy(agent_.at(), image_.bytes().data(), image_.bytes().size());
    return agent_.protect(0, wire::kAgentTextRoom, PROT_READ | PROT_EXEC);
  }

  std::uint64_t group() const {
    return (region_.address() + wire::kGroupStride - 1) & ~std::uint64_t{wire::kGroupStride - 1};
  }

  bool put_thunks() {
    const std::size_t offset = group() - region_.address();
    if (!region_.open(offset, wire::kGroupCode + wire::kGroupEntries)) return false;
    // Only the first few thunks are ever used.
    constexpr std::size_t kEnough = 4096;
    const auto thunks =
        make_thunk_template(TraceeAddress(agent_.address(image_.header().thunk_exit)), kEnough);
    std::memcpy(region_.at(offset), thunks.data(), kEnough);
    return region_.protect(offset, wire::kGroupCode, PROT_READ | PROT_EXEC);
  }

  bool put_arena() {
    return arena_.open(0, ArenaLayout::kRingHeaders + 4096) &&
           arena_.open(ArenaLayout::kOpenCalls, std::size_t{4} * wire::kGroupStride) &&
           arena_.open(ArenaLayout::kRings, wire::kRingStride) &&
           arena_.open(ArenaLayout::kCounts, wire::kCountsStride);
  }

  bool put_stub() {
    if (!stub_.open(0, 4096)) return false;
    auto& page = *reinterpret_cast<Page*>(stub_.at());
    page.routine = agent_.address(image_.header().enter);
    page.target = reinterpret_cast<std::uint64_t>(&empty_function);
    // The bytes of wire::SiteStub.
    constexpr std::array<std::uint8_t, 19> kCode = {0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x53, 0x4c,
                                                    0x8d, 0x1d, 0x13, 0,    0,    0,    0xff,
                                                    0x25, 0,    0,    0,    0};
    std::memcpy(page.stub.code, kCode.data(), kCode.size());
    const auto distance =
        static_cast<std::int32_t>(static_cast<std::int64_t>(offsetof(Page, routine)) -
                                  static_cast<std::int64_t>(offsetof(Page, stub) + kCode.size()));
    std::memcpy(page.stub.code + kCode.size() - 4, &distance, sizeof distance);
    page.stub.site.slot = stub_.address(offsetof(Page, target));
    page.stub.site.flags = wire::kSiteEntryWords | wire::kSiteResultWords;
    page.stub.site.entry_words = 4;
    page.stub.site.result_words = 1;
    return stub_.protect(0, 4096, PROT_READ | PROT_EXEC);
  }

  void put_control(const TickClock& clock, wire::RecordForm form) {
    std::byte* const data = agent_.at(wire::kAgentTextRoom);
    auto& control = *reinterpret_cast<wire::AgentControl*>(data);
    control.arena = arena_.address();
    control.region = group();
    control.region_end = group() + wire::kGroupStride;
    control.form = form;
    control.max_rings = 1;
    control.heartbeat_ticks = clock.ticks_of(2'000'000'000);
    control.ns_per_tick_32 = clock.ns_per_tick_32();
    control.group_is_mapped[0] = 1;
    reinterpret_cast<wire::AgentSwitch*>(data + wire::AgentPrivate::kSwitchAt)->is_on = 1;
  }

  const AgentImage& image_;
  Reservation agent_, arena_, region_, stub_;
  bool ready_ = false;
};

} // namespace

Result<InlineCosts> rehearse(const AgentImage& image, const TickClock& clock,
                             wire::RecordForm form) {
  Stage stage(image, clock, form);
  if (!stage.is_ready())
    return Error::from_errno("can't find out what recording costs: no memory for the agent");
  std::uint64_t native = ~std::uint64_t{0}, traced = native, inside = native;
  volatile Function direct = &empty_function;
  for (int round = 0; round < kRounds; ++round) {
    native = std::min(native, time_of_round(direct, clock));
    traced = std::min(traced, time_of_round(stage.traced(), clock));
    inside = std::min(inside, stage.take_round());
  }
  InlineCosts costs;
  costs.call_ticks = traced > native ? (traced - native) / kCalls : 0;
  const std::uint64_t own_time = native / kCalls;
  costs.inside_ticks = inside > own_time ? inside - own_time : 0;
  costs.inside_ticks = std::min(costs.inside_ticks, costs.call_ticks);
  return costs;
}

} // namespace sonictrace
