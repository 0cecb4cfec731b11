#include "engine/inline/code_pages.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace sonictrace {
namespace {

constexpr std::size_t kPage = 4096;

TEST(CodePages, writes_places_of_each_turn_and_those_on_two_pages_and_nothing_else) {
  void* const mapped =
      ::mmap(nullptr, 4 * kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  const TraceeAddress begin(reinterpret_cast<std::uint64_t>(mapped));
  const auto memory = TraceeMemory::open(::getpid());
  ASSERT_TRUE(memory);
  using Turn = CodePages::Turn;
  struct Change {
    std::int64_t at;
    std::int64_t size;
    Turn turn;
  };
  constexpr Change kChanges[] = {
      {100, 6, Turn::Second},           {kPage - 3, 6, Turn::Second},
      {kPage + 900, 5, Turn::First},    {2 * kPage - 2, 5, Turn::First},
      {3 * kPage - 1, 2, Turn::Second}, {4 * kPage - 8, 8, Turn::Second}};
  std::vector<AddressRange> places;
  for (const Change& change : kChanges)
    places.push_back(*AddressRange::make(begin + change.at, begin + (change.at + change.size)));
  std::vector<std::byte> expected(4 * kPage);
  CodePages pages(*memory, places);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto bytes = pages.at(places[i]);
    ASSERT_EQ(bytes.size(), places[i].size());
    std::fill(bytes.begin(), bytes.end(), static_cast<std::byte>(i + 1));
    std::fill_n(expected.begin() + kChanges[i].at, kChanges[i].size, static_cast<std::byte>(i + 1));
    pages.mark(places[i], kChanges[i].turn);
  }

  EXPECT_TRUE(pages.write().empty());

  EXPECT_EQ(std::memcmp(mapped, expected.data(), expected.size()), 0);
  ::munmap(mapped, 4 * kPage);
}

} // namespace
} // namespace sonictrace
