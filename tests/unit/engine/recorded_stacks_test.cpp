#include "engine/inline/recorded_stacks.hpp"

#include <execinfo.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "engine/inline/record_maker.hpp"
#include "sonictrace/stream/record_reader.hpp"
#include "support/ring_producer.hpp"

namespace sonictrace {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr bool kHasOtherFrames = true;
#else
constexpr bool kHasOtherFrames = false;
#endif

/// As the agent copies: what lies between objects of the stack, too, which ASan watches. The kernel
/// reads, as it is not watched.
void read_process(std::uint64_t* to, const std::uint64_t* from, std::size_t words) {
  const iovec into = {to, words * sizeof *to};
  const iovec out = {const_cast<std::uint64_t*>(from), words * sizeof *from};
  ASSERT_EQ(::process_vm_readv(::getpid(), &into, 1, &out, 1, 0),
            static_cast<ssize_t>(into.iov_len));
}

/// A stack as the agent records it, and what backtrace(3) said of it then.
struct Recorded {
  std::uint64_t where = 0;
  std::vector<std::uint64_t> words; ///< a wire::RingStack and what is behind it
  std::vector<std::uint64_t> addresses;
};

/// Where this thread's stack ends. What lies above main() differs, with the environment too.
std::uint64_t end_of_stack() {
  pthread_attr_t attributes;
  void* begin = nullptr;
  std::size_t size = 0;
  EXPECT_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
  EXPECT_EQ(pthread_attr_getstack(&attributes, &begin, &size), 0);
  pthread_attr_destroy(&attributes);
  return reinterpret_cast<std::uint64_t>(begin) + size;
}

/// As if this function had called at the place where getcontext returned to. Of the stack
/// `most_words` are recorded, or all.
__attribute__((noinline)) void record(Recorded& into, std::size_t most_words) {
  ucontext_t here;
  getcontext(&here);
  void* addresses[64];
  const int count = backtrace(addresses, 64);
  into.addresses.clear();
  for (int i = 1; i < count; ++i) // the first one is here
    into.addresses.push_back(reinterpret_cast<std::uint64_t>(addresses[i]));
  const auto& raw = here.uc_mcontext.gregs;
  const auto word = [&](int number) { return static_cast<std::uint64_t>(raw[number]); };
  into.where = word(REG_RIP);
  const std::size_t stack_words =
      std::min<std::size_t>(most_words, (end_of_stack() - word(REG_RSP)) / 8);
  const wire::RingStack head = {word(REG_RSP) - 8, word(REG_RBX), word(REG_RBP), word(REG_R12),
                                word(REG_R13),     word(REG_R14), word(REG_R15), 0,
                                stack_words};
  into.words.resize(sizeof head / 8 + stack_words);
  std::memcpy(into.words.data(), &head, sizeof head);
  const auto* const stack = reinterpret_cast<const std::uint64_t*>(word(REG_RSP));
  read_process(into.words.data() + sizeof head / 8, stack, stack_words);
}

__attribute__((noinline)) void outer(int depth, const std::function<void()>& body) {
  volatile char room[200] = {};
  depth == 0 ? body() : outer(depth - 1, body);
  room[0] = room[1]; // no tail call
}

constexpr std::size_t kMuch = 1024, kLittle = 512; ///< words

class RecordedStacksTest : public testing::Test {
protected:
  void SetUp() override {
    arena = make_arena();
    ASSERT_TRUE(arena);
    auto opened = AddressSpace::open(::getpid());
    ASSERT_TRUE(opened);
    space = *opened;
    const auto open = [](const UniqueFd& file, const std::string& name) {
      return elf::Image::open(file, name);
    };
    const auto nowhere = *AddressRange::make(TraceeAddress(0), TraceeAddress(0));
    stacks.add(*arena,
               {space, OwnCode{nowhere, {}, 0, nowhere, {}}, CodeMap::survey(*space, open, {})});
  }
  std::vector<std::uint64_t> addresses(std::span<const std::uint32_t> ids) const {
    std::vector<std::uint64_t> all;
    for (const auto id : ids)
      all.push_back(frames.at(id).address);
    return all;
  }
  std::vector<std::uint64_t> frames_of(const Recorded& recorded) {
    return addresses(stacks.frames_of(*arena, TraceeAddress(recorded.where),
                                      std::as_bytes(std::span(recorded.words))));
  }

  std::shared_ptr<Arena> arena;
  std::shared_ptr<AddressSpace> space;
  std::map<std::uint32_t, FrameDefinition> frames;
  RecordedStacks stacks{64, [this](const FrameDefinition& frame) { frames[frame.id] = frame; }};
};

TEST_F(RecordedStacksTest, are_walked_when_the_frames_are_gone) {
  if (kHasOtherFrames) GTEST_SKIP() << "ASan's backtrace() has a frame of its own";
  Recorded recorded;
  outer(3, [&] { record(recorded, kMuch); });

  const auto found = frames_of(recorded);

  ASSERT_GT(found.size(), 6u);
  EXPECT_EQ(found.front(), recorded.where);
  EXPECT_TRUE(std::equal(found.begin() + 1, found.end(), recorded.addresses.begin()));
}

TEST_F(RecordedStacksTest, that_were_walked_before_have_the_same_frames_unless_something_differs) {
  Recorded recorded;
  outer(3, [&] { record(recorded, kMuch); });
  const auto first = frames_of(recorded);

  EXPECT_EQ(frames_of(recorded), first);

  // The return address of a frame in the middle, which is there once; `record` has a list of them
  // on its stack, below the frames.
  const auto once = std::find_if(first.begin() + 2, first.end(), [&](std::uint64_t address) {
    return std::count(first.begin(), first.end(), address) == 1;
  });
  ASSERT_NE(once, first.end());
  const std::uint64_t address = *once;
  const auto word = std::find(recorded.words.rbegin(), recorded.words.rend(), address);
  ASSERT_NE(word, recorded.words.rend());
  *word = 8;
  const auto changed = frames_of(recorded);
  EXPECT_EQ(changed, std::vector<std::uint64_t>(first.begin(), once));
  *word = address;
  EXPECT_EQ(frames_of(recorded), first);
}

TEST_F(RecordedStacksTest, end_where_the_copy_ends) {
  if (kHasOtherFrames) GTEST_SKIP() << "frames are larger with ASan, and the copy too small";
  Recorded recorded, cut;
  outer(20, [&] {
    record(recorded, kMuch);
    record(cut, kLittle);
  });

  const auto found = frames_of(cut);

  EXPECT_GT(found.size(), 4u);
  EXPECT_LT(found.size(), 20u);
  EXPECT_LT(found.size(), frames_of(recorded).size());
  EXPECT_TRUE(std::equal(found.begin() + 1, found.end(), cut.addresses.begin()));
}

TEST_F(RecordedStacksTest, of_damaged_memory_are_short) {
  Recorded recorded;
  outer(3, [&] { record(recorded, kMuch); });
  for (std::size_t i = sizeof(wire::RingStack) / 8; i < recorded.words.size(); ++i)
    recorded.words[i] = i * 0x0101'0101'0101'0101;

  EXPECT_EQ(frames_of(recorded), std::vector<std::uint64_t>{recorded.where});
  EXPECT_TRUE(stacks.frames_of(*arena, TraceeAddress(recorded.where), {}).empty());
}

TEST_F(RecordedStacksTest, stand_behind_an_enter_and_before_a_whole_call) {
  Recorded recorded;
  outer(3, [&] { record(recorded, kMuch); });
  KnownFunctions functions;
  FunctionDefinition function;
  function.plan = std::make_shared<proto::CallPlan>();
  functions.add(function);
  const TickClock clock([] { return TickClock::Reading{1, 1, 1, 0}; }, false);
  RecordMaker maker(functions, clock);
  maker.use(stacks);
  std::vector<std::uint64_t> memory(sizeof(wire::RingRecord) / 8 + recorded.words.size());
  auto& record = *reinterpret_cast<wire::RingRecord*>(memory.data());
  record.where = recorded.where;
  record.stack_size = static_cast<std::uint32_t>(recorded.words.size() * 8);
  std::copy(recorded.words.begin(), recorded.words.end(),
            memory.begin() + sizeof(wire::RingRecord) / 8);
  const std::size_t payload = recorded.words.size() * 8;
  const RecordSource source{7, {1, 0}, arena.get()};

  BatchWriter out;
  ASSERT_TRUE(maker.write(record, wire::RingKind::Enter, payload, source, 1, out));
  ASSERT_TRUE(maker.write(record, wire::RingKind::Call, payload, source, 1, out));
  EXPECT_FALSE(maker.write(record, wire::RingKind::Enter, payload - 8, source, 1, out));

  std::vector<wire::RecordHeader> headers;
  RecordReader reader(out.batch());
  while (const auto view = reader.next())
    headers.push_back(view->header);
  ASSERT_EQ(headers.size(), 4u);
  EXPECT_EQ(headers[0].kind, wire::RecordKind::Enter);
  EXPECT_EQ(headers[1].kind, wire::RecordKind::Frames);
  EXPECT_EQ(headers[1].call, headers[0].call);
  EXPECT_GT(headers[1].detail, 6u);
  EXPECT_EQ(headers[2].kind, wire::RecordKind::Frames);
  EXPECT_EQ(headers[2].flags, wire::kFramesOfNext);
  EXPECT_EQ(headers[3].kind, wire::RecordKind::Call);
}

TEST_F(RecordedStacksTest, of_code_that_is_unmapped_have_other_ids_afterwards) {
  Recorded recorded;
  outer(3, [&] { record(recorded, kMuch); });
  const auto before = stacks.frames_of(*arena, TraceeAddress(recorded.where),
                                       std::as_bytes(std::span(recorded.words)));
  const std::vector<std::uint32_t> ids(before.begin(), before.end());
  const auto module = space->mapping_at(TraceeAddress(recorded.where));
  ASSERT_TRUE(module);

  stacks.forget(*arena, module->range);
  const auto after = stacks.frames_of(*arena, TraceeAddress(recorded.where),
                                      std::as_bytes(std::span(recorded.words)));

  ASSERT_EQ(after.size(), ids.size());
  EXPECT_NE(after.front(), ids.front());
}

} // namespace
} // namespace sonictrace
