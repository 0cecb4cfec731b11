#include "engine/inline/left_patches.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <ostream>
#include <string>

namespace sonictrace {
namespace {

constexpr TraceeAddress kCode(0x10000);
constexpr std::uint64_t kCells = 0x20000, kEntries = 0x30000, kElsewhere = 0x40000;

const PatchTargets& targets() {
  static const PatchTargets made = {
      {*AddressRange::make(TraceeAddress(kCells), TraceeAddress(kCells + 0x1000))},
      {*AddressRange::make(TraceeAddress(kEntries), TraceeAddress(kEntries + 0x1000))}};
  return made;
}

/// The displacement behind `offset` + 4 bytes that leads to `to`.
std::string to(std::uint64_t target, std::size_t offset) {
  const auto distance = static_cast<std::int32_t>(target - (kCode.value() + offset + 4));
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &distance, 4);
  return bytes;
}

struct Case {
  const char* name;
  std::string file, memory;
  std::string expected;
};
void PrintTo(const Case& tested, std::ostream* out) { *out << tested.name; }

const std::string kNops(6, '\x90');
const std::string kRetWithPadding("\xc3\x66\x0f\x1f\x44\x00", 6);

const Case kCases[] = {
    {"nothing_is_changed", kNops, kNops, kNops},
    {"a_plt_entry", "\xff\x25" + to(kElsewhere, 2) + kNops, "\xff\x25" + to(kCells + 8, 2) + kNops,
     "\xff\x25" + to(kElsewhere, 2) + kNops},
    {"a_call_without_plt", kNops + "\xff\x15" + to(kElsewhere, 8),
     kNops + "\xff\x15" + to(kCells + 16, 8), kNops + "\xff\x15" + to(kElsewhere, 8)},
    {"the_rendezvous", kRetWithPadding + kNops, "\xff\x25" + to(kCells, 2) + kNops,
     kRetWithPadding + kNops},
    {"a_jump_to_what_is_no_cell_of_ours", "\xff\x25" + to(kElsewhere, 2),
     "\xff\x25" + to(kElsewhere + 8, 2), "\xff\x25" + to(kElsewhere + 8, 2)},
    {"another_debuggers_breakpoint", kNops, "\xcc" + kNops.substr(1), "\xcc" + kNops.substr(1)},
    {"an_entry_with_a_long_jump", kNops + kNops,
     "\xe9" + to(kEntries + 256, 1) + "\xcc\x90" + kNops.substr(1), kNops + kNops},
    // eb 04 jumps over four bytes, to the long jump in the padding.
    {"an_entry_with_a_short_jump", std::string(11, '\x90'),
     std::string("\xeb\x04", 2) + "\xcc\x90\x90\x90" + "\xe9" + to(kEntries, 7),
     std::string(11, '\x90')},
    {"a_long_jump_to_elsewhere", kNops, "\xe9" + to(kElsewhere, 1) + "\x90",
     "\xe9" + to(kElsewhere, 1) + "\x90"},
};

class UndonePatches : public testing::TestWithParam<Case> {};

TEST_P(UndonePatches, give_code_its_own_bytes_again) {
  const Case& tested = GetParam();
  ASSERT_EQ(tested.file.size(), tested.memory.size());
  std::string code = tested.memory;

  const bool any = undo_patches(std::as_writable_bytes(std::span(code)),
                                std::as_bytes(std::span(tested.file)), kCode, targets());

  EXPECT_EQ(code, tested.expected);
  EXPECT_EQ(any, tested.expected != tested.memory);
}

INSTANTIATE_TEST_SUITE_P(LeftPatches, UndonePatches, testing::ValuesIn(kCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

} // namespace
} // namespace sonictrace
