#include "elf/byte_scan.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace sonictrace::elf {
namespace {

constexpr ElfAddress kCode(0x1000);
constexpr ElfAddress kSlot(0x3000);

/// Code of `size` bytes with an instruction at `at`, whose displacement refers to kSlot.
std::vector<std::byte> code_with(std::size_t size, std::size_t at,
                                 std::initializer_list<int> opcode) {
  std::vector<std::byte> code(size, std::byte{0x90});
  for (const int byte : opcode)
    code[at++] = static_cast<std::byte>(byte);
  const auto next = kCode + static_cast<std::int64_t>(at) + 4;
  const auto displacement = static_cast<std::int32_t>(kSlot - next);
  std::memcpy(&code[at], &displacement, sizeof displacement);
  return code;
}

TEST(FindSlotUses, finds_one_at_any_place_of_code_of_any_size) {
  const std::vector<ImportSlot> imports(1, ImportSlot{kSlot, "f", "", {}, {}, {}});
  const SlotMap slots(imports);
  for (std::size_t size = 7; size < 80; ++size)
    for (std::size_t at = 0; at + 7 <= size; ++at) {
      const auto call = find_slot_uses(code_with(size, at, {0xff, 0x15}), kCode, slots);
      ASSERT_EQ(call.size(), 1U) << size << ", " << at;
      EXPECT_EQ(call[0].opcode_at, kCode + static_cast<std::int64_t>(at));
      EXPECT_EQ(call[0].kind, UseKind::Call);

      const auto jump = find_slot_uses(code_with(size, at, {0xff, 0x25}), kCode, slots);
      ASSERT_EQ(jump.size(), 1U) << size << ", " << at;
      EXPECT_EQ(jump[0].kind, UseKind::Jump);

      const auto load = find_slot_uses(code_with(size, at, {0x4c, 0x8b, 0x35}), kCode, slots);
      ASSERT_EQ(load.size(), 1U) << size << ", " << at;
      EXPECT_EQ(load[0].opcode_at, kCode + static_cast<std::int64_t>(at + 1));
      EXPECT_EQ(load[0].kind, UseKind::Load);
    }
}

TEST(FindSlotUses, leaves_alone_what_refers_to_no_slot_or_is_another_instruction) {
  const std::vector<ImportSlot> imports(1, ImportSlot{kSlot, "f", "", {}, {}, {}});
  const std::vector<ImportSlot> others(1, ImportSlot{kSlot + 8, "f", "", {}, {}, {}});

  EXPECT_TRUE(find_slot_uses(code_with(40, 3, {0xff, 0x15}), kCode, SlotMap(others)).empty());
  EXPECT_TRUE(find_slot_uses(code_with(40, 3, {0xff, 0x35}), kCode, SlotMap(imports)).empty());
  EXPECT_TRUE(find_slot_uses(code_with(40, 3, {0x8b, 0x05}), kCode, SlotMap(imports)).empty());
  EXPECT_TRUE(
      find_slot_uses(code_with(40, 3, {0x48, 0x8d, 0x05}), kCode, SlotMap(imports)).empty());
  EXPECT_TRUE(find_slot_uses({}, kCode, SlotMap(imports)).empty());
}

} // namespace
} // namespace sonictrace::elf
