// What a traced process may write to the memory that it shares with us: anything, at any time.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "engine/inline/collector_loop.hpp"
#include "engine/inline/open_call_reader.hpp"
#include "sonictrace/stream/record_reader.hpp"

using namespace sonictrace;

namespace {

/// Looks at every byte that it is given.
class LookingSink final : public Sink {
public:
  void define(const Definition&) override {}
  void write(RecordBatch batch) override {
    RecordReader reader(batch);
    RecordView view;
    while (reader.next(view)) {
      const bool is_call = view.header.kind != wire::RecordKind::Counts; // sums have no depth
      if ((is_call && view.header.depth == 0) || view.header.function > 1) std::abort();
      if (view.header.kind == wire::RecordKind::Call) look(call_fields(view).entry);
      look(view.payload);
    }
    if (reader.error() != nullptr) std::abort();
  }
  void tick(std::uint64_t) override {}
  Result<void> finish(const SessionSummary&) override { return {}; }
  std::uint64_t bytes_written() const override { return sum_; }
  bool is_healthy() const override { return true; }

private:
  void look(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes)
      sum_ += static_cast<std::uint64_t>(byte);
  }
  std::uint64_t sum_ = 0;
};

/// Words of the input; zeros behind its end.
class Input {
public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  bool is_empty() const { return size_ == 0; }
  template <class T>
  T take() {
    T value = {};
    const std::size_t n = std::min(size_, sizeof value);
    std::memcpy(&value, data_, n);
    data_ += n;
    size_ -= n;
    return value;
  }
  void take_into(void* to, std::size_t most) {
    const std::size_t n = std::min(size_, most);
    std::memcpy(to, data_, n);
    data_ += n;
    size_ -= n;
  }

private:
  const std::uint8_t* data_;
  std::size_t size_;
};

constexpr std::uint32_t kRings = 3;

/// Puts bytes of the input somewhere into the arena, so that they have a chance to be looked at.
void disturb(const Arena& arena, Input& input) {
  const auto what = input.take<std::uint8_t>();
  const std::uint32_t ring = what / 16 % kRings;
  auto& header = arena.ring(ring);
  const std::size_t size = input.take<std::uint8_t>();
  switch (what % 10) {
    case 0: return input.take_into(&arena.control(), std::min(size, sizeof(wire::SharedControl)));
    case 1: return input.take_into(&header, std::min(size, sizeof header));
    case 2: header.head += input.take<std::uint16_t>() & ~std::uint16_t{7}; return;
    case 3: // a record as it should be, but for its contents
    case 4: {
      const std::uint64_t position = header.head;
      auto* const at = arena.ring_data(ring) + position % wire::kRingSize;
      if (position % 8 != 0) return;
      const std::size_t taken = (sizeof(wire::RingRecord) + size) & ~std::size_t{7};
      input.take_into(at + 8, taken - 8);
      const auto kind = static_cast<wire::RingKind>(1 + what / 64 % 6);
      const std::uint64_t commit = wire::commit_word(position, kind, taken);
      std::memcpy(at, &commit, sizeof commit);
      header.head = position + taken;
      return;
    }
    case 5: { // a place at the head
      const std::uint64_t word = wire::sequence_of(header.head) | input.take<std::uint64_t>() << 32;
      std::memcpy(arena.ring_data(ring) + header.head % wire::kRingSize / 8 * 8, &word,
                  sizeof word);
      header.head += 64;
      return;
    }
    case 6: arena.pool(input.take<std::uint8_t>()) = input.take<wire::PoolInfo>(); return;
    case 7:
      return input.take_into(
          &arena.open_call(input.take<std::uint8_t>(), input.take<std::uint8_t>()), size);
    case 8: {
      if (!arena.is_counting()) return;
      return input.take_into(&arena.counts(ring)[size % 4], sizeof(wire::CallCount));
    }
    default: header.state = size % 4, ++header.incarnation; return;
  }
}

FunctionDefinition function_of(FunctionId id) {
  auto plan = std::make_shared<proto::CallPlan>();
  for (std::uint32_t i = 0; i < 6; ++i) {
    wire::CaptureOp op;
    op.kind = id == 1 && i == 3 ? wire::CaptureKind::Text : wire::CaptureKind::Value;
    op.size = static_cast<std::uint8_t>(id == 1 ? 1U << i % 4 : 8U);
    op.limit = 32;
    op.element_size = 8;
    op.offset = i * 8;
    plan->at_entry.push_back(op);
    if (i < 2) plan->at_return.push_back(op);
  }
  plan->entry_room = plan->return_room = 300;
  FunctionDefinition function;
  function.id = id;
  function.plan = std::move(plan);
  return function;
}

/// As if this program were the traced one: addresses in a stack may be code.
ProcessCode own_code() {
  static const auto space = [] {
    auto opened = AddressSpace::open(::getpid());
    if (!opened) std::abort();
    return *opened;
  }();
  static const auto mapped = CodeMap::survey(
      *space,
      [](const UniqueFd& file, const std::string& name) { return elf::Image::open(file, name); },
      {});
  const auto nowhere = *AddressRange::make(TraceeAddress(0), TraceeAddress(0));
  return {space, OwnCode{nowhere, {}, 0, nowhere, {}}, mapped};
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const bool counting = input.take<std::uint8_t>() % 2 == 1;
  const UniqueFd memory(::memfd_create("arena", MFD_CLOEXEC));
  auto mapped = Arena::map(memory, counting);
  if (!mapped) return 0; // no room for it here
  const std::shared_ptr<Arena> arena = *std::move(mapped);

  LookingSink sink;
  CollectorQueue queue;
  RingNumbers numbers;
  std::uint64_t now = 1'000'000'000;
  CollectorLoop loop(sink, queue, numbers,
                     TickClock(
                         [&] {
                           return TickClock::Reading{now, now, now, 0};
                         },
                         false));
  queue.push({0, CodeAdded{arena, own_code(), 8}});
  queue.push({0, ArenaAdded{arena}});
  queue.push({0, Definition(function_of(0))});
  queue.push({0, Definition(function_of(1))});
  arena->control().rings_used = kRings;
  for (std::uint32_t ring = 0; ring < kRings; ++ring) {
    arena->ring(ring).state = wire::kRingInUse;
    arena->ring(ring).incarnation = 1;
  }
  constexpr int kMostRounds = 30; // each of them may have to search whole rings
  for (int round = 0; round < kMostRounds && !input.is_empty(); ++round) {
    for (int i = input.take<std::uint8_t>() % 16; i >= 0; --i)
      disturb(*arena, input);
    now += 50'000'000;
    loop.pass();
    const std::uint32_t ring = size % kRings;
    QueuedOpenCalls open = {7, {1, 2}, find_open_calls(*arena, ring)};
    for (const auto& found : open.calls)
      mark_as_told(*arena, found);
    queue.push({now, std::move(open)});
    loop.read_counts();
  }
  queue.push({now, ArenaRemoved{arena}});
  loop.pass_everything();
  (void)loop.calls();
  (void)loop.lost();
  return 0;
}
