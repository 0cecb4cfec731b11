#include "sonictrace/arch/displaced.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace sonictrace {
namespace {

constexpr TraceeAddress kAt{0x401000};
constexpr std::uint64_t kStack = 0x7ffd00001000;

/// Words at addresses; whatever is not there is not mapped.
class FakeMemory : public WordMemory {
public:
  explicit FakeMemory(std::map<std::uint64_t, std::uint64_t> words) : words_(std::move(words)) {}

  Result<std::uint64_t> read_word(TraceeAddress from) override {
    const auto found = words_.find(from.value());
    if (found == words_.end()) return Error(std::errc::io_error, "read");
    return found->second;
  }
  Result<void> write_word(TraceeAddress to, std::uint64_t value) override {
    const auto found = words_.find(to.value());
    if (found == words_.end()) return Error(std::errc::io_error, "write");
    found->second = value;
    return {};
  }

  const std::map<std::uint64_t, std::uint64_t>& words() const { return words_; }

private:
  std::map<std::uint64_t, std::uint64_t> words_;
};

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values)
    bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

user_regs_struct start_registers() {
  user_regs_struct raw{};
  raw.rip = kAt.value();
  raw.rsp = kStack;
  raw.rax = 0x500000;
  raw.rcx = 3;
  raw.rbx = 0x600000;
  raw.r11 = 0x700000;
  raw.fs_base = 0x10000000;
  raw.gs_base = 0x20000000;
  return raw;
}

struct Case {
  const char* name; ///< the disassembly
  std::vector<std::byte> code;
  /// Changes the registers before.
  std::function<void(user_regs_struct&)> before = [](auto&) {};
  /// Changes what `before` left to what is expected after.
  std::function<void(user_regs_struct&)> after;
  /// Words that are expected at the stack's two words.
  std::uint64_t below_stack = 0; ///< at kStack - 8
};

void PrintTo(const Case& tested, std::ostream* out) { *out << tested.name; }

std::map<std::uint64_t, std::uint64_t> start_memory() {
  return {{kStack - 8, 0},
          {kStack, 0x402222},
          {kStack + 8, 0x403333},
          {0x402006, 0x404000},              // 0x1000(%rip) of a six-byte instruction
          {0x500000, 0x405000},              // (%rax)
          {0x600000 + 3 * 8 - 8, 0x406000},  // -8(%rbx,%rcx,8)
          {0x10000000 + 0x28, 0x407000},     // %fs:0x28
          {0x20000000 + 0x500000, 0x408000}, // %gs:(%rax)
          {0x50010000 - 16, 0x409000}};      // 32-bit address
}

std::vector<Case> cases() {
  const auto go = [](std::uint64_t to) { return [to](auto& r) { r.rip = to; }; };
  const auto call = [](std::uint64_t to) {
    return [to](auto& r) {
      r.rip = to;
      r.rsp -= 8;
    };
  };
  const auto flags = [](std::uint64_t value) { return [value](auto& r) { r.eflags = value; }; };
  const auto none = [](auto&) {};
  return {
      {"nop", bytes_of({0x90}), none, go(0x401001)},
      {"nopw 0(%rax,%rax)", bytes_of({0x66, 0x0f, 0x1f, 0x44, 0, 0}), none, go(0x401006)},
      {"endbr64", bytes_of({0xf3, 0x0f, 0x1e, 0xfa}), none, go(0x401004)},
      {"jmp rel8 back", bytes_of({0xeb, 0xfe}), none, go(0x401000)},
      {"jmp rel32", bytes_of({0xe9, 0, 1, 0, 0}), none, go(0x401105)},
      {"bnd jmp rel32", bytes_of({0xf2, 0xe9, 0, 1, 0, 0}), none, go(0x401106)},
      {"jmp *%rax", bytes_of({0xff, 0xe0}), none, go(0x500000)},
      {"notrack jmp *%r11", bytes_of({0x3e, 0x41, 0xff, 0xe3}), none, go(0x700000)},
      {"jmp *0x1000(%rip)", bytes_of({0xff, 0x25, 0, 0x10, 0, 0}), none, go(0x404000)},
      {"bnd jmp *0xfff(%rip)", bytes_of({0xf2, 0xff, 0x25, 0xff, 0x0f, 0, 0}), none, go(0x404000)},
      {"jmp *(%rax)", bytes_of({0xff, 0x20}), none, go(0x405000)},
      {"jmp *-8(%rbx,%rcx,8)", bytes_of({0xff, 0x64, 0xcb, 0xf8}), none, go(0x406000)},
      {"jmp *%fs:0x28", bytes_of({0x64, 0xff, 0x24, 0x25, 0x28, 0, 0, 0}), none, go(0x407000)},
      {"jmp *%gs:(%rax)", bytes_of({0x65, 0xff, 0x20}), none, go(0x408000)},
      {"jmp *-16(%eax)", bytes_of({0x67, 0xff, 0x60, 0xf0}), [](auto& r) { r.rax = 0x1250010000; },
       go(0x409000)},
      {"call rel32", bytes_of({0xe8, 0, 1, 0, 0}), none, call(0x401105), 0x401005},
      {"data16 data16 rex.W call rel32", bytes_of({0x66, 0x66, 0x48, 0xe8, 0, 1, 0, 0}), none,
       call(0x401108), 0x401008},
      {"call *%rax", bytes_of({0xff, 0xd0}), none, call(0x500000), 0x401002},
      {"call *%rsp", bytes_of({0xff, 0xd4}), none, call(kStack), 0x401002},
      {"call *0x1000(%rip)", bytes_of({0xff, 0x15, 0, 0x10, 0, 0}), none, call(0x404000), 0x401006},
      {"call *8(%rsp), by the stack pointer before the push", bytes_of({0xff, 0x54, 0x24, 0x08}),
       none, call(0x403333), 0x401004},
      {"call *%fs:0x28", bytes_of({0x64, 0xff, 0x14, 0x25, 0x28, 0, 0, 0}), none, call(0x407000),
       0x401008},
      {"ret", bytes_of({0xc3}), none, [](auto& r) { r.rip = 0x402222, r.rsp += 8; }},
      {"repz ret", bytes_of({0xf3, 0xc3}), none, [](auto& r) { r.rip = 0x402222, r.rsp += 8; }},
      {"bnd ret", bytes_of({0xf2, 0xc3}), none, [](auto& r) { r.rip = 0x402222, r.rsp += 8; }},
      {"ret $0x10", bytes_of({0xc2, 0x10, 0}), none,
       [](auto& r) { r.rip = 0x402222, r.rsp += 0x18; }},
      {"ret $0xfff8", bytes_of({0xc2, 0xf8, 0xff}), none,
       [](auto& r) { r.rip = 0x402222, r.rsp += 0x10000; }},
      {"push %rbx", bytes_of({0x53}), none, [](auto& r) { r.rip++, r.rsp -= 8; }, 0x600000},
      {"push %r11", bytes_of({0x41, 0x53}), none, [](auto& r) { r.rip += 2, r.rsp -= 8; },
       0x700000},
      {"push %rsp, its value before", bytes_of({0x54}), none, [](auto& r) { r.rip++, r.rsp -= 8; },
       kStack},
      {"push %rbx, long form", bytes_of({0xff, 0xf3}), none,
       [](auto& r) { r.rip += 2, r.rsp -= 8; }, 0x600000},
      {"pop %rbp", bytes_of({0x5d}), none, [](auto& r) { r.rip++, r.rsp += 8, r.rbp = 0x402222; }},
      {"pop %r15", bytes_of({0x41, 0x5f}), none,
       [](auto& r) { r.rip += 2, r.rsp += 8, r.r15 = 0x402222; }},
      {"pop %rsp", bytes_of({0x5c}), none, [](auto& r) { r.rip++, r.rsp = 0x402222; }},
      {"loop", bytes_of({0xe2, 0x10}), none, [](auto& r) { r.rip += 0x12, r.rcx = 2; }},
      {"loop at its end", bytes_of({0xe2, 0x10}), [](auto& r) { r.rcx = 1; },
       [](auto& r) { r.rip += 2, r.rcx = 0; }},
      {"loop from 0", bytes_of({0xe2, 0x10}), [](auto& r) { r.rcx = 0; },
       [](auto& r) { r.rip += 0x12, r.rcx = ~0ULL; }},
      {"loop by ecx", bytes_of({0x67, 0xe2, 0x10}), [](auto& r) { r.rcx = 0x500000001; },
       [](auto& r) { r.rip += 3, r.rcx = 0; }},
      {"loope with ZF", bytes_of({0xe1, 0x10}), flags(0x40),
       [](auto& r) { r.rip += 0x12, r.rcx = 2; }},
      {"loope without ZF", bytes_of({0xe1, 0x10}), flags(0),
       [](auto& r) { r.rip += 2, r.rcx = 2; }},
      {"loopne with ZF", bytes_of({0xe0, 0x10}), flags(0x40),
       [](auto& r) { r.rip += 2, r.rcx = 2; }},
      {"loopne without ZF", bytes_of({0xe0, 0x10}), flags(0),
       [](auto& r) { r.rip += 0x12, r.rcx = 2; }},
      {"jrcxz not taken", bytes_of({0xe3, 0x10}), none, go(0x401002)},
      {"jrcxz taken", bytes_of({0xe3, 0x10}), [](auto& r) { r.rcx = 0; }, go(0x401012)},
      {"jrcxz sees the upper half", bytes_of({0xe3, 0x10}), [](auto& r) { r.rcx = 1ULL << 32; },
       go(0x401002)},
      {"jecxz does not", bytes_of({0x67, 0xe3, 0x10}), [](auto& r) { r.rcx = 1ULL << 32; },
       go(0x401013)},
  };
}

class EmulatedInstruction : public testing::TestWithParam<Case> {};

TEST_P(EmulatedInstruction, changes_registers_and_stack_as_the_processor_would) {
  const auto decoded = DisplacedInstruction::decode(GetParam().code, kAt);
  ASSERT_TRUE(decoded) << decoded.error().message();
  ASSERT_TRUE(decoded->is_emulated());
  EXPECT_EQ(decoded->size(), GetParam().code.size());
  user_regs_struct expected = start_registers();
  GetParam().before(expected);
  Registers registers(expected);
  GetParam().after(expected);
  FakeMemory memory(start_memory());

  const auto emulated = decoded->emulate(registers, memory);

  ASSERT_TRUE(emulated) << emulated.error().message();
  EXPECT_EQ(std::memcmp(&registers.raw(), &expected, sizeof expected), 0)
      << std::hex << "rip " << registers.raw().rip << " wanted " << expected.rip << ", rsp "
      << registers.raw().rsp << " wanted " << expected.rsp << ", rcx " << registers.raw().rcx
      << " wanted " << expected.rcx;
  auto words = start_memory();
  words[kStack - 8] = GetParam().below_stack;
  EXPECT_EQ(memory.words(), words);
}

INSTANTIATE_TEST_SUITE_P(Table, EmulatedInstruction, testing::ValuesIn(cases()));

TEST(ConditionalJump, is_taken_as_its_condition_says) {
  // Rows: jo jno jb jae je jne jbe ja js jns jp jnp jl jge jle jg; columns as in `flags`.
  constexpr std::uint64_t kFlags[] = {0, 0x1, 0x4, 0x40, 0x80, 0x800, 0x880, 0x8c5};
  constexpr const char* kTaken[16] = {"00000111", "11111000", "01000001", "10111110",
                                      "00010001", "11101110", "01010001", "10101110",
                                      "00001011", "11110100", "00100001", "11011110",
                                      "00001100", "11110011", "00011101", "11100010"};
  for (int condition = 0; condition < 16; ++condition) {
    for (std::size_t i = 0; i < std::size(kFlags); ++i) {
      user_regs_struct raw = start_registers();
      raw.eflags = kFlags[i];
      const std::uint64_t taken = kTaken[condition][i] == '1' ? 0x100 : 0;
      FakeMemory memory({});

      Registers near(raw);
      const auto long_form =
          DisplacedInstruction::decode(bytes_of({0x0f, 0x80 + condition, 0, 1, 0, 0}), kAt);
      ASSERT_TRUE(long_form && long_form->is_emulated());
      ASSERT_TRUE(long_form->emulate(near, memory));
      EXPECT_EQ(near.pc().value(), 0x401006 + taken) << condition << " flags " << kFlags[i];

      Registers shorter(raw);
      const auto short_form = DisplacedInstruction::decode(bytes_of({0x70 + condition, 0x80}), kAt);
      ASSERT_TRUE(short_form && short_form->is_emulated());
      ASSERT_TRUE(short_form->emulate(shorter, memory));
      EXPECT_EQ(shorter.pc().value(), taken != 0 ? 0x401002 - 0x80 : 0x401002);
    }
  }
}

struct Failing {
  const char* name;
  std::vector<std::byte> code;
};
void PrintTo(const Failing& tested, std::ostream* out) { *out << tested.name; }

class FailingEmulation : public testing::TestWithParam<Failing> {};

TEST_P(FailingEmulation, leaves_registers_and_memory_as_they_were) {
  const auto decoded = DisplacedInstruction::decode(GetParam().code, kAt);
  ASSERT_TRUE(decoded && decoded->is_emulated());
  user_regs_struct raw = start_registers();
  raw.rdx = 0x8000'0000'0000; // the first that is not canonical
  raw.rdi = 0x600000;
  const std::map<std::uint64_t, std::uint64_t> words = {{0x600000, 0x1234'0000'0000'0000}};
  Registers registers(raw);
  FakeMemory memory(words);

  EXPECT_FALSE(decoded->emulate(registers, memory));

  EXPECT_EQ(std::memcmp(&registers.raw(), &raw, sizeof raw), 0);
  EXPECT_EQ(memory.words(), words);
}

INSTANTIATE_TEST_SUITE_P(
    Table, FailingEmulation,
    testing::Values(Failing{"call without a stack", bytes_of({0xe8, 0, 0, 0, 0})},
                    Failing{"call through an unmapped word", bytes_of({0xff, 0x10})},
                    Failing{"call to what is not canonical", bytes_of({0xff, 0xd2})},
                    Failing{"jmp to what is not canonical", bytes_of({0xff, 0xe2})},
                    Failing{"jmp *(%rdi) to what is not canonical", bytes_of({0xff, 0x27})},
                    Failing{"ret without a stack", bytes_of({0xc3})},
                    Failing{"push without a stack", bytes_of({0x50})},
                    Failing{"pop without a stack", bytes_of({0x58})}));

TEST(DisplacedInstruction, may_branch_into_the_kernels_half) {
  const auto decoded = DisplacedInstruction::decode(bytes_of({0xff, 0xe2}), kAt);
  ASSERT_TRUE(decoded);
  user_regs_struct raw = start_registers();
  raw.rdx = 0xffffffffff600000; // the vsyscall page
  Registers registers(raw);
  FakeMemory memory({});

  ASSERT_TRUE(decoded->emulate(registers, memory));

  EXPECT_EQ(registers.pc().value(), 0xffffffffff600000);
}

TEST(DisplacedInstruction, is_refused_where_it_must_not_run_elsewhere) {
  const struct {
    std::vector<std::byte> code;
    std::errc why;
  } cases[] = {
      {bytes_of({0xc7, 0xf8, 0, 0, 0, 0}), std::errc::not_supported},       // xbegin
      {bytes_of({0xff, 0x1b}), std::errc::not_supported},                   // lcall *(%rbx)
      {bytes_of({0x66, 0xe8, 0, 0, 0, 0}), std::errc::not_supported},       // data16 call
      {bytes_of({0xc5, 0xf8, 0x84, 0, 0, 0, 0}), std::errc::not_supported}, // jkzd
      {bytes_of({0x66, 0xc3}), std::errc::not_supported},                   // data16 ret
      {bytes_of({0x06}), std::errc::executable_format_error},       // push %es: not in 64 bits
      {bytes_of({0xe8, 0, 0}), std::errc::executable_format_error}, // cut off
      {bytes_of({0xf0, 0xe8, 0, 0, 0, 0}), std::errc::executable_format_error}, // lock call
      {{}, std::errc::executable_format_error},
  };
  for (const auto& tested : cases) {
    const auto decoded = DisplacedInstruction::decode(tested.code, kAt);
    ASSERT_FALSE(decoded) << tested.code.size();
    EXPECT_TRUE(decoded.error().is(tested.why)) << decoded.error().message();
  }
}

TEST(DisplacedInstruction, is_copied_with_a_jump_back_behind_it) {
  const auto decoded = DisplacedInstruction::decode(bytes_of({0x48, 0x89, 0xc3, 0x90}), kAt);
  ASSERT_TRUE(decoded);
  ASSERT_FALSE(decoded->is_emulated());
  EXPECT_EQ(decoded->rip_relative_target(), std::nullopt);

  const auto slot = decoded->relocate(TraceeAddress(0x7f0000000000));

  ASSERT_TRUE(slot);
  EXPECT_EQ(slot->copy_size, 3u);
  const auto expected = bytes_of({0x48, 0x89, 0xc3,                  // mov %rax,%rbx
                                  0xff, 0x25, 0, 0, 0, 0,            // jmp *0(%rip)
                                  0x03, 0x10, 0x40, 0, 0, 0, 0, 0}); // 0x401003
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), slot->bytes.begin()));
}

TEST(DisplacedInstruction, keeps_the_target_of_a_rip_relative_operand) {
  // cmpl $0x11223344,0x100(%rip): a constant follows the displacement
  const auto code = bytes_of({0x81, 0x3d, 0, 1, 0, 0, 0x44, 0x33, 0x22, 0x11});
  const auto decoded = DisplacedInstruction::decode(code, kAt);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->rip_relative_target(), TraceeAddress(0x40110a));

  const auto slot = decoded->relocate(TraceeAddress(0x500000));

  ASSERT_TRUE(slot);
  std::int32_t displacement = 0;
  std::memcpy(&displacement, &slot->bytes[2], 4);
  EXPECT_EQ(0x50000a + displacement, 0x40110a);
  EXPECT_TRUE(std::equal(code.begin() + 6, code.end(), slot->bytes.begin() + 6));
}

TEST(DisplacedInstruction, says_when_the_slot_is_too_far_away) {
  const auto code = bytes_of({0x8b, 0x05, 0, 0, 0, 0}); // mov 0(%rip),%eax
  const auto decoded = DisplacedInstruction::decode(code, TraceeAddress(0x100000000));
  ASSERT_TRUE(decoded);
  const std::int64_t two_gb = 1LL << 31;

  EXPECT_TRUE(decoded->relocate(TraceeAddress(0x100000000) + two_gb));
  EXPECT_TRUE(decoded->relocate(TraceeAddress(0x100000000) + -(two_gb - 1)));
  for (const auto distance : {two_gb + 1, -two_gb, 2 * two_gb}) {
    const auto slot = decoded->relocate(TraceeAddress(0x100000000) + distance);
    ASSERT_FALSE(slot) << distance;
    EXPECT_TRUE(slot.error().is(std::errc::result_out_of_range));
  }
}

TEST(DisplacedInstruction, reaches_an_eip_relative_operand_from_anywhere) {
  const auto code = bytes_of({0x67, 0x8b, 0x05, 0, 1, 0, 0}); // mov 0x100(%eip),%eax
  const auto decoded = DisplacedInstruction::decode(code, kAt);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->rip_relative_target(), std::nullopt);

  const auto slot = decoded->relocate(TraceeAddress(0x7f1234567000));

  ASSERT_TRUE(slot);
  std::int32_t displacement = 0;
  std::memcpy(&displacement, &slot->bytes[3], 4);
  EXPECT_EQ(static_cast<std::uint32_t>(0x34567007 + displacement), 0x401107u);
}

TEST(DisplacedInstruction, maps_an_address_in_its_slot_to_the_original) {
  const auto decoded = DisplacedInstruction::decode(bytes_of({0x48, 0x89, 0xc3}), kAt);
  ASSERT_TRUE(decoded);
  const TraceeAddress slot(0x10000);

  EXPECT_EQ(decoded->original_of(slot, 3, slot), kAt);
  EXPECT_EQ(decoded->original_of(slot, 3, slot + 3), kAt + 3);
  EXPECT_EQ(decoded->original_of(slot, 3, slot + -1), slot + -1);
  EXPECT_EQ(decoded->original_of(slot, 3, slot + 32), slot + 32);
}

TEST(DisplacedInstruction, of_any_bytes_is_refused_or_has_a_size_of_1_to_15) {
  std::mt19937_64 random(20240501);
  std::size_t accepted = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::array<std::byte, 16> bytes;
    for (auto& byte : bytes)
      byte = static_cast<std::byte>(random());
    const std::size_t size = random() % (bytes.size() + 1);
    const auto decoded = DisplacedInstruction::decode(std::span(bytes).first(size), kAt);
    if (!decoded) continue;
    ++accepted;
    ASSERT_GE(decoded->size(), 1u);
    ASSERT_LE(decoded->size(), std::min(size, DisplacedInstruction::kLongest));
    if (decoded->is_emulated()) {
      Registers registers(start_registers());
      FakeMemory memory(start_memory());
      (void)decoded->emulate(registers, memory);
    } else if (const auto slot = decoded->relocate(kAt + 0x100000)) {
      ASSERT_EQ(slot->copy_size, decoded->size());
    } else {
      ASSERT_TRUE(decoded->rip_relative_target());
    }
  }
  EXPECT_GT(accepted, 100'000u);
}

} // namespace
} // namespace sonictrace
