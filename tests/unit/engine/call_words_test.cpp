#include "engine/breakpoint/call_words.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace sonictrace {
namespace {

/// Two pages of our own memory, of which only the first can be read.
class EdgeOfMemory {
public:
  EdgeOfMemory()
      : page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))),
        start_(static_cast<std::byte*>(::mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    ::munmap(start_ + page_, page_);
  }
  ~EdgeOfMemory() { ::munmap(start_, page_); }
  EdgeOfMemory(const EdgeOfMemory&) = delete;
  EdgeOfMemory& operator=(const EdgeOfMemory&) = delete;

  std::byte* end() const { return start_ + page_; }

private:
  std::size_t page_;
  std::byte* start_;
};

std::uint64_t address_of(const std::byte* at) { return reinterpret_cast<std::uint64_t>(at); }

TEST(Capture_memory, reads_up_to_the_end_of_a_mapping_and_says_how_far) {
  const EdgeOfMemory edge;
  std::memcpy(edge.end() - 4, "abcd", 4);
  const auto tracee = TraceeMemory::open(::getpid());
  ASSERT_TRUE(tracee);
  CaptureMemory memory(*tracee);
  std::array<std::byte, 8> into{};
  EXPECT_EQ(memory.read(address_of(edge.end() - 4), into.data(), 4), 4u);
  EXPECT_EQ(std::memcmp(into.data(), "abcd", 4), 0);
  EXPECT_EQ(memory.read(address_of(edge.end() - 4), into.data(), 8), 4u);
  EXPECT_EQ(memory.read(address_of(edge.end()), into.data(), 1), 0u);
  EXPECT_EQ(memory.read(8, into.data(), 1), 0u);
  EXPECT_EQ(memory.read(~std::uint64_t{0} - 3, into.data(), 8), 0u);
}

TEST(Capture_memory, serves_a_later_read_of_a_place_that_could_not_be_read_before) {
  const EdgeOfMemory edge;
  const auto tracee = TraceeMemory::open(::getpid());
  ASSERT_TRUE(tracee);
  CaptureMemory memory(*tracee);
  std::byte into{};
  EXPECT_EQ(memory.read(address_of(edge.end() + 16), &into, 1), 0u);
  *(edge.end() - 1) = std::byte{7};
  EXPECT_EQ(memory.read(address_of(edge.end() - 1), &into, 1), 1u);
  EXPECT_EQ(into, std::byte{7});
}

TEST(Entry_words, keep_what_the_plan_looks_at_again) {
  std::array<std::uint64_t, 3> stack{11, 12, 13};
  EntryWords entry;
  entry.words[0] = 1;
  entry.words[13] = 2;
  entry.stack = TraceeAddress(reinterpret_cast<std::uint64_t>(stack.data()));
  const auto tracee = TraceeMemory::open(::getpid());
  ASSERT_TRUE(tracee);
  CaptureMemory memory(*tracee);

  proto::CallPlan plan;
  EXPECT_EQ(entry.keep(plan, memory), nullptr);
  plan.keeps_words = true;
  plan.kept_stack_words = 2;
  const auto kept = entry.keep(plan, memory);
  ASSERT_NE(kept, nullptr);
  ASSERT_EQ(kept->size(), wire::kEntryWords + 2);
  EXPECT_EQ((*kept)[0], 1u);
  EXPECT_EQ((*kept)[13], 2u);
  EXPECT_EQ((*kept)[15], 12u);

  const std::array<std::uint64_t, ReturnWords::kResults> results{100, 101, 102, 103, 104, 105};
  const ReturnWords words(results, kept.get(), entry.stack);
  const auto view = words.view();
  EXPECT_EQ(view.words[0], 100u);
  EXPECT_EQ(view.words[wire::kKeptWordsAt / 8], 1u);
  EXPECT_EQ(view.size, wire::kKeptWordsAt + 16 * 8);
  EXPECT_EQ(view.stack_at, wire::kKeptWordsAt + wire::kStackWordsAt);
}

} // namespace
} // namespace sonictrace
