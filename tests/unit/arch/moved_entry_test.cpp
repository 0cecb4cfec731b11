#include "sonictrace/arch/moved_entry.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace sonictrace {
namespace {

using Bytes = std::vector<std::byte>;

/// "e9 00 ..." as bytes.
Bytes bytes_of(std::string_view text) {
  Bytes bytes;
  for (std::size_t at = 0; at + 2 <= text.size(); at += 3)
    bytes.push_back(
        static_cast<std::byte>(std::stoi(std::string(text.substr(at, 2)), nullptr, 16)));
  return bytes;
}

std::string text_of(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    if (!text.empty()) text += ' ';
    text += kDigits[std::to_integer<unsigned>(byte >> 4)];
    text += kDigits[std::to_integer<unsigned>(byte & std::byte{0xf})];
  }
  return text;
}

constexpr TraceeAddress kAt(0x401000);
constexpr TraceeAddress kNear(0x501000); ///< 0x100000 behind
constexpr TraceeAddress kFar(0x7f00'0000'0000);

struct Case {
  const char* name;
  std::string function; ///< at kAt
  TraceeAddress place;
  std::size_t skipped;
  std::size_t replaced;
  std::string code;
};

void PrintTo(const Case& tested, std::ostream* out) { *out << tested.name; }

class MoveEntry : public testing::TestWithParam<Case> {};

TEST_P(MoveEntry, writes_what_does_the_same_elsewhere) {
  const Case& tested = GetParam();

  const auto moved = move_entry(bytes_of(tested.function), kAt, tested.place);

  ASSERT_TRUE(moved) << moved.error().message();
  EXPECT_EQ(moved->skipped, tested.skipped);
  EXPECT_EQ(moved->replaced, tested.replaced);
  EXPECT_EQ(text_of(moved->code), tested.code);
  EXPECT_EQ(moved->calls_by_jump, std::string_view(tested.name).starts_with("call"));
}

INSTANTIATE_TEST_SUITE_P(
    MovedEntry, MoveEntry,
    testing::Values(
        Case{"plain",
             "55 "             // push %rbp
             "48 89 e5 "       // mov %rsp,%rbp
             "48 83 ec 10 c9", // sub $16,%rsp; leave
             kNear, 0, 8,
             "55 48 89 e5 48 83 ec 10 " // the same
             "e9 fb ff ef ff"},         // jmp kAt+8: 0x401008 - 0x50100d
        Case{"keeps_endbr64",
             "f3 0f 1e fa "       // endbr64
             "b8 2a 00 00 00 c3", // mov $42,%eax; ret
             kNear, 4, 5,
             "b8 2a 00 00 00 "  // mov $42,%eax
             "e9 ff ff ef ff"}, // jmp kAt+9: 0x401009 - 0x50100a
        Case{"jumps_back_from_afar",
             "b8 2a 00 00 00 c3", // mov $42,%eax; ret
             kFar, 0, 5,
             "b8 2a 00 00 00 "           // mov $42,%eax
             "ff 25 00 00 00 00 "        // jmp *0(%rip)
             "05 10 40 00 00 00 00 00"}, // kAt+5
        Case{"rip_relative",
             "8b 05 fa 00 00 00 c3", // mov 0xfa(%rip),%eax: 0x401100; ret
             kNear, 0, 6,
             "8b 05 fa 00 f0 ff " // mov (%rip),%eax: 0x401100 - 0x501006
             "e9 fb ff ef ff"},   // jmp kAt+6
        Case{"rip_relative_with_an_immediate",
             "81 3d f6 00 00 00 01 02 03 04 c3", // cmpl $0x04030201,0xf6(%rip): 0x401100; ret
             kNear, 0, 10,
             "81 3d f6 00 f0 ff 01 02 03 04 " // cmpl (%rip): 0x401100 - 0x50100a
             "e9 fb ff ef ff"},               // jmp kAt+10
        Case{"lea_of_itself",
             "48 8d 05 f9 ff ff ff c3", // lea -7(%rip),%rax: kAt; ret
             kNear, 0, 7,
             "48 8d 05 f9 ff ef ff " // lea (%rip),%rax: 0x401000 - 0x501007
             "e9 fb ff ef ff"},
        Case{"jcc_rel8",
             "85 ff "          // test %edi,%edi
             "74 0c "          // je kAt+16
             "31 c0 ff c0 c3", // xor %eax,%eax; inc %eax; ret
             kNear, 0, 6,
             "85 ff "             // test %edi,%edi
             "0f 84 08 00 f0 ff " // je: 0x401010 - 0x501008
             "31 c0 "             // xor %eax,%eax
             "e9 f7 ff ef ff"},   // jmp kAt+6: 0x401006 - 0x50100f
        Case{"jcc_rel32",
             "0f 8f 00 01 00 00 c3", // jg kAt+0x106; ret
             kNear, 0, 6,
             "0f 8f 00 01 f0 ff " // jg: 0x401106 - 0x501006
             "e9 fb ff ef ff"},
        Case{"jcc_from_afar",
             "0f 8f 00 01 00 00 c3", // jg kAt+0x106; ret
             kFar, 0, 6,
             "7f 02 "                   // jg taken
             "eb 0e "                   // jmp not taken
             "ff 25 00 00 00 00 "       // taken: jmp *0(%rip)
             "06 11 40 00 00 00 00 00 " // kAt+0x106
             "ff 25 00 00 00 00 "       // jmp *0(%rip)
             "06 10 40 00 00 00 00 00"},
        Case{"hinted_jcc",
             "3e 74 0d "       // je,pt kAt+16
             "89 f8 89 f8 c3", // mov %edi,%eax, twice
             kNear, 0, 5,
             "0f 84 0a 00 f0 ff " // je: 0x401010 - 0x501006
             "89 f8 "             // mov %edi,%eax
             "e9 f8 ff ef ff"},   // jmp kAt+5: 0x401005 - 0x50100d
        Case{"jrcxz",
             "e3 0e "       // jrcxz kAt+16
             "48 89 f8 c3", // mov %rdi,%rax; ret
             kNear, 0, 5,
             "e3 02 "           // jrcxz taken
             "eb 05 "           // jmp not taken
             "e9 07 00 f0 ff "  // taken: jmp: 0x401010 - 0x501009
             "48 89 f8 "        // mov %rdi,%rax
             "e9 f4 ff ef ff"}, // jmp kAt+5: 0x401005 - 0x501011
        Case{"jecxz",
             "67 e3 0d " // jecxz kAt+16
             "89 f8 c3", // mov %edi,%eax; ret
             kNear, 0, 5,
             "67 e3 02 "        // jecxz taken
             "eb 05 "           // jmp not taken
             "e9 06 00 f0 ff "  // taken: jmp: 0x401010 - 0x50100a
             "89 f8 "           // mov %edi,%eax
             "e9 f4 ff ef ff"}, // jmp kAt+5: 0x401005 - 0x501011
        Case{"tail_jump",
             "e9 fb 00 00 00",               // jmp kAt+0x100
             kNear, 0, 5, "e9 fb 00 f0 ff"}, // jmp: 0x401100 - 0x501005
        Case{"short_tail_jump_and_padding",
             "ff c7 "              // inc %edi
             "eb 0c "              // jmp kAt+16
             "66 0f 1f 44 00 00 ", // nopw 0(%rax,%rax)
             kNear, 0, 5,
             "ff c7 "
             "e9 09 00 f0 ff"}, // jmp: 0x401010 - 0x501007
        Case{"tail_jump_through_a_slot",
             "ff 25 fa 00 00 00",               // jmp *0xfa(%rip): 0x401100
             kNear, 0, 6, "ff 25 fa 00 f0 ff"}, // jmp *(%rip): 0x401100 - 0x501006
        Case{"tail_jump_through_a_table",
             "48 8b 07 "  // mov (%rdi),%rax
             "ff 60 18",  // jmp *0x18(%rax)
             kNear, 0, 6, //
             "48 8b 07 ff 60 18"},
        Case{"return_and_padding",
             "31 c0 "    // xor %eax,%eax
             "c3 "       // ret
             "cc 90 90", // int3; nop; nop
             kNear, 0, 5, "31 c0 c3"},
        Case{"nothing_but_a_return",
             "f3 0f 1e fa "                      // endbr64
             "c3 "                               // ret
             "66 66 2e 0f 1f 84 00 00 00 00 00", // cs nopw 0(%rax,%rax)
             kNear, 4, 5, "c3"},
        Case{"call_that_completes",
             "48 83 ec 08 "    // sub $8,%rsp
             "e8 f7 00 00 00", // call kAt+0x100
             kNear, 0, 9,
             "48 83 ec 08 "              // sub $8,%rsp
             "ff 35 05 00 00 00 "        // push *5(%rip)
             "e9 f1 00 f0 ff "           // jmp: 0x401100 - 0x50100f
             "09 10 40 00 00 00 00 00"}, // kAt+9
        Case{"call_from_afar",
             "e8 fb 00 00 00", // call kAt+0x100
             kFar, 0, 5,
             "ff 35 0e 00 00 00 "        // push *14(%rip)
             "ff 25 00 00 00 00 "        // jmp *0(%rip)
             "00 11 40 00 00 00 00 00 "  // kAt+0x100
             "05 10 40 00 00 00 00 00"}, // kAt+5
        Case{"call_through_a_slot",
             "ff 15 fa 00 00 00", // call *0xfa(%rip): 0x401100
             kNear, 0, 6,
             "ff 35 06 00 00 00 "        // push *6(%rip)
             "ff 25 f4 00 f0 ff "        // jmp *(%rip): 0x401100 - 0x50100c
             "06 10 40 00 00 00 00 00"}, // kAt+6
        Case{"call_of_a_register",
             "48 83 ec 08 " // sub $8,%rsp
             "41 ff d3",    // call *%r11
             kNear, 0, 7,
             "48 83 ec 08 "               // sub $8,%rsp
             "ff 35 03 00 00 00 "         // push *3(%rip)
             "41 ff e3 "                  // jmp *%r11
             "07 10 40 00 00 00 00 00"}), // kAt+7
    [](const auto& tested) { return std::string(tested.param.name); });

struct Refusal {
  const char* name;
  std::string function;
  TraceeAddress place;
  std::string reason;
};

void PrintTo(const Refusal& tested, std::ostream* out) { *out << tested.name; }

class RefuseToMove : public testing::TestWithParam<Refusal> {};

TEST_P(RefuseToMove, says_why) {
  const auto moved = move_entry(bytes_of(GetParam().function), kAt, GetParam().place);

  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().context(), GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(
    MovedEntry, RefuseToMove,
    testing::Values(Refusal{"nothing", "", kNear, "the function is too short for a jump"},
                    Refusal{"nothing_behind_endbr64", "f3 0f 1e fa", kNear,
                            "the function is too short for a jump"},
                    Refusal{"short_return",
                            "31 c0 c3 90", // xor %eax,%eax; ret; nop, and one byte less than needed
                            kNear, "the function is too short for a jump"},
                    Refusal{"code_behind_a_return",
                            "31 c0 c3 31 c0 c3", // xor %eax,%eax; ret; another function
                            kNear, "the function is too short for a jump"},
                    Refusal{"cut_instruction", "48 b8 00 00 00 00", kNear, // movabs $...,%rax
                            "an instruction that cannot be decoded"},
                    Refusal{"no_instruction", "06 90 90 90 90 90",
                            kNear, // push %es, of 32-bit code
                            "an instruction that cannot be decoded"},
                    Refusal{"call_in_the_middle",
                            "ff d0 48 83 c4 08 c3", // call *%rax; add $8,%rsp; ret
                            kNear, "a call that returns into the replaced bytes"},
                    Refusal{"call_through_the_stack",
                            "90 ff 54 24 10 c3", // nop; call *16(%rsp); ret
                            kNear, "a call through memory"},
                    Refusal{"far_call", "48 83 ec 08 ff 1f", kNear, // sub $8,%rsp; lcall *(%rdi)
                            "a far branch"},
                    Refusal{"far_jump", "ff 6f 08 90 90", kNear, "a far branch"}, // ljmp *8(%rdi)
                    Refusal{"far_return", "48 83 ec 08 cb", kNear, "a far return"},
                    Refusal{"loop_on_the_spot",
                            "ff cf 75 fc 31 c0 c3", // dec %edi; jne kAt; xor %eax,%eax; ret
                            kNear, "an instruction that refers to the replaced bytes"},
                    Refusal{"jump_over_an_instruction",
                            "74 01 90 48 89 f8 c3", // je kAt+3; nop; mov %rdi,%rax; ret
                            kNear, "an instruction that refers to the replaced bytes"},
                    Refusal{"reads_itself",
                            "8b 05 fa ff ff ff c3", // mov -6(%rip),%eax: kAt; ret
                            kNear, "an instruction that refers to the replaced bytes"},
                    Refusal{"operand_too_far",
                            "8b 05 fa 00 00 00 c3", // mov 0xfa(%rip),%eax; ret
                            kFar, "a rip-relative operand of a moved instruction"},
                    Refusal{"eip_relative",
                            "67 8b 05 fa 00 00 00 c3", // mov 0xfa(%eip),%eax; ret
                            kNear, "an operand relative to eip"},
                    Refusal{"syscall", "89 f8 0f 05 90 c3", kNear, "a system call"},
                    Refusal{"int3", "89 f8 cc 90 90 c3", kNear, "an interrupt"},
                    Refusal{"ud2", "0f 0b 90 90 90", kNear, "an undefined instruction"},
                    Refusal{"hlt", "f4 90 90 90 90", kNear, "a privileged instruction"},
                    Refusal{"second_endbr64",
                            "90 f3 0f 1e fa 90", // nop; endbr64; nop
                            kNear, "an endbr64 behind its begin"},
                    Refusal{"transaction", "c7 f8 00 00 00 00", kNear, // xbegin
                            "an unknown kind of branch"},
                    Refusal{"short_operand_size",
                            "66 e9 00 01 00 00", // jmpw: 4 bytes on AMD's processors, 6 on Intel's
                            kNear, "a near branch with an operand size prefix"}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(MovedEntry, of_a_short_jump_is_as_little_as_that_takes) {
  struct Short {
    std::string function;
    std::size_t replaced;
    std::string code;
  };
  const std::vector<Short> tested = {
      {"48 89 f8 48 83 fa 40", 3,       // mov %rdi,%rax; cmp $64,%rdx
       "48 89 f8 e9 fb ff ef ff"},      // the same; jmp kAt+3: 0x401003 - 0x501008
      {"55 48 89 e5 48 83 ec 10 c9", 4, // push %rbp; mov %rsp,%rbp; sub $16,%rsp; leave
       "55 48 89 e5 e9 fb ff ef ff"},   // the same; jmp kAt+4: 0x401004 - 0x501009
      {"f3 0f 1e fa 89 f8 c3", 2, "89 f8 e9 ff ff ef ff"}, // endbr64; mov %edi,%eax; ret
      {"c3 90", 2, "c3"},                                  // ret; nop
      {"89 f8 eb fe", 2, "89 f8 e9 fb ff ef ff"},          // mov %edi,%eax; then a loop on the spot
  };
  for (const Short& one : tested) {
    const auto moved = move_entry(bytes_of(one.function), kAt, kNear, EntryJump::Short);
    ASSERT_TRUE(moved) << one.function << ": " << moved.error().message();
    EXPECT_EQ(moved->replaced, one.replaced) << one.function;
    EXPECT_EQ(text_of(moved->code), one.code);
  }
  EXPECT_FALSE(move_entry(bytes_of("c3 31 c0"), kAt, kNear, EntryJump::Short)); // no padding
  // dec %edi; jne kAt+1: into the jump
  EXPECT_TRUE(move_entry(bytes_of("ff cf 75 fd 90"), kAt, kNear, EntryJump::Short));
  EXPECT_FALSE(move_entry(bytes_of("90 75 ff 90"), kAt, kNear, EntryJump::Short));
}

TEST(MovedEntry, tells_where_a_thread_within_the_replaced_bytes_goes_on) {
  // endbr64; test %edi,%edi; je kAt+0x20; xor %eax,%eax; ret
  const auto moved = move_entry(bytes_of("f3 0f 1e fa 85 ff 74 18 31 c0 c3"), kAt, kNear);
  ASSERT_TRUE(moved) << moved.error().message();
  ASSERT_EQ(moved->replaced, 6); // test, je (6 bytes in the copy), xor

  EXPECT_EQ(moved->moved_of(0), std::nullopt);  // before the endbr64
  EXPECT_EQ(moved->moved_of(4), std::nullopt);  // not begun: takes the jump
  EXPECT_EQ(moved->moved_of(6), 2);             // je
  EXPECT_EQ(moved->moved_of(7), std::nullopt);  // inside of it
  EXPECT_EQ(moved->moved_of(8), 8);             // xor
  EXPECT_EQ(moved->moved_of(10), std::nullopt); // through

  EXPECT_EQ(moved->original_of(0), 4);
  EXPECT_EQ(moved->original_of(2), 6);
  EXPECT_EQ(moved->original_of(8), 8);
  EXPECT_EQ(moved->original_of(10), 10); // the way back
}

} // namespace
} // namespace sonictrace
