#include "elf/function_walk.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sonictrace::elf {
namespace {

std::vector<std::byte> code_of(std::initializer_list<int> bytes) {
  std::vector<std::byte> code;
  for (const int byte : bytes)
    code.push_back(static_cast<std::byte>(byte));
  return code;
}

FunctionRange range_of(ElfAddress begin, const std::vector<std::byte>& code) {
  return {begin, begin + static_cast<std::int64_t>(code.size()), false};
}

TEST(FunctionWalk, leaves_alone_a_jump_to_before_address_zero) {
  const CodeReader reader(Machine::X86_64, std::nullopt);
  const ElfAddress begin(0x10);
  const auto code = code_of({0xe9, 0x00, 0xff, 0xff, 0xff}); // jmp -0x100 from the next one
  FunctionWalk walk(reader, range_of(begin, code), code);

  walk.follow(begin);

  EXPECT_FALSE(walk.has_indirect_jump());
}

TEST(FunctionWalk, does_not_take_up_decoding_where_it_has_looked_for_an_instruction_in_vain) {
  const CodeReader reader(Machine::X86_64, std::nullopt);
  const ElfAddress begin(0x1000);
  const auto code = code_of({0xff, 0xe0,                         // jmp *%rax
                             0x06,                               // nothing in 64-bit code
                             0xff, 0x15, 0x00, 0x00, 0x00, 0x00, // data, or a call
                             0xff, 0x15, 0x00, 0x00, 0x00, 0x00, // the same
                             0xc3});
  FunctionWalk walk(reader, range_of(begin, code), code);
  const SlotUse first{begin + 3, 0, UseKind::Call};
  const SlotUse second{begin + 9, 0, UseKind::Call};

  walk.follow(begin);
  walk.follow_hidden_blocks(first.opcode_at);
  walk.follow_hidden_blocks(second.opcode_at);

  EXPECT_TRUE(walk.has_indirect_jump());
  EXPECT_EQ(walk.start_of(first), std::nullopt);
  EXPECT_EQ(walk.start_of(second), std::nullopt);
}

TEST(FunctionWalk, finds_blocks_behind_an_indirect_jump) {
  const CodeReader reader(Machine::X86_64, std::nullopt);
  const ElfAddress begin(0x1000);
  const auto code = code_of({0xff, 0xe0,                         // jmp *%rax
                             0x90, 0xc3,                         // a block
                             0xff, 0x15, 0x00, 0x00, 0x00, 0x00, // another: call *0(%rip)
                             0xc3});
  FunctionWalk walk(reader, range_of(begin, code), code);
  const SlotUse use{begin + 4, 0, UseKind::Call};

  walk.follow(begin);
  EXPECT_EQ(walk.start_of(use), std::nullopt);
  walk.follow_hidden_blocks(use.opcode_at);

  EXPECT_EQ(walk.start_of(use), use.opcode_at);
}

} // namespace
} // namespace sonictrace::elf
