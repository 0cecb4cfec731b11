// Runs instructions twice in a child: in place, and displaced (emulated, or from a slot); all that
// a program can see of it must come out the same.
#include <Zydis/Zydis.h>
#include <elf.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "sonictrace/arch/displaced.hpp"

namespace sonictrace {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kCode = 0; ///< offsets in the arena
constexpr std::size_t kSlots = 4 * kPage;
constexpr std::size_t kData = 8 * kPage; ///< two pages, a rip-relative operand's way
constexpr std::size_t kStack = 12 * kPage;
constexpr std::size_t kArena = 16 * kPage;
constexpr std::size_t kAt = 0x400; ///< of the instruction in the code page

/// A place in the code page with an int3, away from the instruction.
std::size_t landing(std::uint64_t number) { return kCode + 0x800 + number % 0x700; }

/// Memory that a child shares with us at the same address, so that neither copies it.
class Arena {
public:
  Arena() {
    void* const mapped = mmap(nullptr, kArena, PROT_READ | PROT_WRITE | PROT_EXEC,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(mapped, MAP_FAILED);
    base_ = static_cast<std::byte*>(mapped);
    // Accesses that run off the pages used below fault.
    for (const auto& [page, count] :
         {std::pair<std::size_t, std::size_t>{1, 3}, {5, 3}, {10, 2}, {14, 2}})
      mprotect(base_ + page * kPage, count * kPage, PROT_NONE);
    for (const std::size_t no_code : {kData, kStack})
      mprotect(base_ + no_code, 2 * kPage, PROT_READ | PROT_WRITE);
  }
  Arena(const Arena&) = delete;
  ~Arena() { munmap(base_, kArena); }

  std::byte* at(std::size_t offset) { return base_ + offset; }
  TraceeAddress address(std::size_t offset) const {
    return TraceeAddress(reinterpret_cast<std::uint64_t>(base_) + offset);
  }
  bool holds(std::uint64_t address) const {
    const std::uint64_t offset = address - reinterpret_cast<std::uint64_t>(base_);
    const auto in = [&](std::size_t begin, std::size_t pages) {
      return offset >= begin && offset + 8 <= begin + pages * kPage;
    };
    return in(kCode, 1) || in(kSlots, 1) || in(kData, 2) || in(kStack, 2);
  }

private:
  std::byte* base_ = nullptr;
};

/// The arena as an emulated instruction's memory.
class ArenaMemory : public WordMemory {
public:
  explicit ArenaMemory(const Arena& arena) : arena_(arena) {}
  Result<std::uint64_t> read_word(TraceeAddress from) override {
    if (!arena_.holds(from.value())) return Error(std::errc::io_error, "read");
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const void*>(from.value()), 8);
    return word;
  }
  Result<void> write_word(TraceeAddress to, std::uint64_t value) override {
    if (!arena_.holds(to.value())) return Error(std::errc::io_error, "write");
    std::memcpy(reinterpret_cast<void*>(to.value()), &value, 8);
    return {};
  }

private:
  const Arena& arena_;
};

/// The vector registers as NT_X86_XSTATE lays them out.
using VectorState = std::vector<std::byte>;
constexpr std::size_t kXmm = 160, kXmmSize = 256;     ///< SDM 1, table 10-2
constexpr std::size_t kYmmHigh = 576, kYmmSize = 256; ///< SDM 1, 13.4.3

/// Everything that an instruction can change, and how it ended.
struct Outcome {
  int signal = 0;
  user_regs_struct registers{};
  VectorState vectors;
  std::vector<std::byte> memory; ///< data and stack
};

/// A child that does nothing but run what is in the arena.
class Child {
public:
  Child() : pid_(fork()) {
    if (pid_ == 0) {
      ptrace(PTRACE_TRACEME);
      raise(SIGSTOP);
      _exit(1);
    }
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_EXITKILL);
    EXPECT_EQ(ptrace(PTRACE_GETREGS, pid_, nullptr, &start_), 0);
    start_.orig_rax = ~0ULL; // no system call to restart
    vectors_.resize(16384);
    iovec io{vectors_.data(), vectors_.size()};
    EXPECT_EQ(ptrace(PTRACE_GETREGSET, pid_, NT_X86_XSTATE, &io), 0);
    vectors_.resize(io.iov_len);
  }
  Child(const Child&) = delete;
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }
  const user_regs_struct& start() const { return start_; }
  const VectorState& vectors() const { return vectors_; }
  bool has_ymm() const { return vectors_.size() >= kYmmHigh + kYmmSize; }

  /// Runs until a signal stops it, and takes that away.
  Outcome run(user_regs_struct registers, VectorState vectors) {
    Outcome outcome;
    iovec io{vectors.data(), vectors.size()};
    EXPECT_EQ(ptrace(PTRACE_SETREGS, pid_, nullptr, &registers), 0);
    EXPECT_EQ(ptrace(PTRACE_SETREGSET, pid_, NT_X86_XSTATE, &io), 0);
    EXPECT_EQ(ptrace(PTRACE_CONT, pid_, nullptr, nullptr), 0);
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    EXPECT_TRUE(WIFSTOPPED(status));
    outcome.signal = WSTOPSIG(status);
    EXPECT_EQ(ptrace(PTRACE_GETREGS, pid_, nullptr, &outcome.registers), 0);
    EXPECT_EQ(ptrace(PTRACE_GETREGSET, pid_, NT_X86_XSTATE, &io), 0);
    outcome.vectors = std::move(vectors);
    return outcome;
  }

private:
  pid_t pid_;
  user_regs_struct start_{};
  VectorState vectors_;
};

struct Sample {
  std::string name;
  std::vector<std::byte> code;
};

class DisplacedExecution : public testing::Test {
protected:
  /// Leaves the child nothing but the arena: what else an instruction might reach and change would
  /// not be put back before the next run.
  void SetUp() override {
    // The kernel writes into a registered rseq area, and kills where it is gone (rseq(2)).
    __ptrace_rseq_configuration rseq{};
    if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, child_.pid(), sizeof rseq, &rseq) > 0 &&
        rseq.rseq_abi_pointer != 0) {
      constexpr std::uint64_t kUnregister = 1;
      ASSERT_EQ(call_system(SYS_rseq, {rseq.rseq_abi_pointer, rseq.rseq_abi_size, kUnregister,
                                       rseq.signature}),
                0u);
    }
    const std::uint64_t begin = arena_.address(0).value(), end = arena_.address(kArena).value();
    constexpr std::uint64_t kLast = 0x7ffffffff000; // of user space with four-level paging
    ASSERT_EQ(call_system(SYS_munmap, {0, begin}), 0u);
    ASSERT_EQ(call_system(SYS_munmap, {end, kLast - end}), 0u);
  }

  std::uint64_t call_system(long number, std::array<std::uint64_t, 4> arguments) {
    constexpr unsigned char kSystemCall[] = {0x0f, 0x05, 0xcc}; // syscall; int3
    std::memcpy(arena_.at(kAt), kSystemCall, sizeof kSystemCall);
    user_regs_struct raw = child_.start();
    raw.rip = arena_.address(kAt).value();
    raw.rax = static_cast<std::uint64_t>(number);
    raw.rdi = arguments[0];
    raw.rsi = arguments[1];
    raw.rdx = arguments[2];
    raw.r10 = arguments[3];
    const Outcome outcome = child_.run(raw, child_.vectors());
    EXPECT_EQ(outcome.signal, SIGTRAP);
    return outcome.registers.rax;
  }

  std::uint64_t pick_value() {
    switch (random_() % 8) {
      case 0: return random_() % 16;
      case 1: return random_();
      case 2: return random_() & 0xffffffff;
      case 3: return arena_.address(kStack + kPage + random_() % 512 * 8).value();
      case 4: return arena_.address(landing(random_())).value();
      default: return arena_.address(kData + 64 + random_() % 7000).value();
    }
  }

  user_regs_struct pick_registers() {
    user_regs_struct raw = child_.start();
    for (auto* const reg :
         {&raw.rax, &raw.rbx, &raw.rcx, &raw.rdx, &raw.rsi, &raw.rdi, &raw.rbp, &raw.r8, &raw.r9,
          &raw.r10, &raw.r11, &raw.r12, &raw.r13, &raw.r14, &raw.r15})
      *reg = pick_value();
    raw.rsp = arena_.address(kStack + kPage).value();
    raw.fs_base = arena_.address(kData).value(); // or it would find the C library's variables
    raw.gs_base = arena_.address(kStack).value();
    raw.eflags = 0x202 | (random_() & 0x8d5); // CF PF AF ZF SF OF
    raw.rip = arena_.address(kAt).value();
    return raw;
  }

  VectorState pick_vectors() {
    VectorState state = child_.vectors();
    for (std::size_t i = 0; i < kXmmSize; ++i)
      state[kXmm + i] = static_cast<std::byte>(random_());
    std::uint64_t components = 0;
    std::memcpy(&components, &state[512], 8); // XSTATE_BV
    components |= 0x3;
    if (child_.has_ymm()) {
      for (std::size_t i = 0; i < kYmmSize; ++i)
        state[kYmmHigh + i] = static_cast<std::byte>(random_());
      components |= 0x4;
    }
    std::memcpy(&state[512], &components, 8);
    return state;
  }

  /// The arena before each run: int3 wherever the instruction may lead to.
  void fill_arena(std::span<const std::byte> code) {
    std::memset(arena_.at(kCode), 0xcc, kPage);
    std::memset(arena_.at(kSlots), 0xcc, kPage);
    std::mt19937_64 contents(1);
    for (const std::size_t pages : {kData, kStack})
      for (std::size_t i = 0; i < 2 * kPage; i += 8) {
        // Every other word leads to code, for ret and jmp *mem.
        const std::uint64_t word =
            i % 16 == 0 ? arena_.address(landing(contents())).value() : contents();
        std::memcpy(arena_.at(pages + i), &word, 8);
      }
    std::copy(code.begin(), code.end(), arena_.at(kAt));
  }

  std::vector<std::byte> memory() {
    std::vector<std::byte> all(arena_.at(kData), arena_.at(kData + 2 * kPage));
    all.insert(all.end(), arena_.at(kStack), arena_.at(kStack + 2 * kPage));
    return all;
  }

  Outcome in_place(const Sample& sample, const user_regs_struct& raw, const VectorState& vectors) {
    fill_arena(sample.code);
    Outcome outcome = child_.run(raw, vectors);
    outcome.memory = memory();
    return outcome;
  }

  Outcome displaced(const DisplacedInstruction& instruction, const user_regs_struct& raw,
                    const VectorState& vectors) {
    fill_arena(code_);
    *arena_.at(kAt) = std::byte{0xcc}; // the breakpoint
    user_regs_struct from = raw;
    const TraceeAddress slot = arena_.address(kSlots);
    std::size_t copy_size = 0;
    if (instruction.is_emulated()) {
      Registers registers(raw);
      ArenaMemory memory_words(arena_);
      if (!instruction.emulate(registers, memory_words)) {
        // The original is to fault; so it is put back.
        std::copy(code_.begin(), code_.end(), arena_.at(kAt));
      }
      from = registers.raw();
    } else {
      const auto made = instruction.relocate(slot);
      EXPECT_TRUE(made) << made.error().message();
      std::copy(made->bytes.begin(), made->bytes.end(), arena_.at(kSlots));
      copy_size = made->copy_size;
      from.rip = slot.value();
    }
    Outcome outcome = child_.run(from, vectors);
    outcome.registers.rip =
        instruction.original_of(slot, copy_size, TraceeAddress(outcome.registers.rip)).value();
    outcome.memory = memory();
    return outcome;
  }

  /// True when they agree; tells what differs otherwise.
  bool agree(const std::string& name, Outcome a, Outcome b) {
    // RF: set in the flags that a fault saves (SDM 3, 17.3.1.1), as chance has it.
    for (auto* const outcome : {&a, &b})
      outcome->registers.eflags &= ~0x10000ULL;
    EXPECT_EQ(a.signal, b.signal) << name;
    EXPECT_EQ(std::memcmp(&a.registers, &b.registers, sizeof a.registers), 0)
        << name << std::hex << " rip " << a.registers.rip << " / " << b.registers.rip << " rsp "
        << a.registers.rsp << " / " << b.registers.rsp << " rcx " << a.registers.rcx << " / "
        << b.registers.rcx << " flags " << a.registers.eflags << " / " << b.registers.eflags;
    EXPECT_EQ(a.memory == b.memory, true) << name;
    const auto same = [&](std::size_t begin, std::size_t size) {
      return std::equal(a.vectors.begin() + static_cast<std::ptrdiff_t>(begin),
                        a.vectors.begin() + static_cast<std::ptrdiff_t>(begin + size),
                        b.vectors.begin() + static_cast<std::ptrdiff_t>(begin));
    };
    EXPECT_TRUE(same(kXmm, kXmmSize)) << name;
    EXPECT_TRUE(!child_.has_ymm() || same(kYmmHigh, kYmmSize)) << name;
    return !HasFailure();
  }

  /// How it ended, or nothing where the instruction is refused.
  std::optional<int> compare(const Sample& sample) {
    const auto instruction = DisplacedInstruction::decode(sample.code, arena_.address(kAt));
    if (!instruction) return std::nullopt;
    code_ = sample.code;
    const auto raw = pick_registers();
    const auto vectors = pick_vectors();
    const Outcome original = in_place(sample, raw, vectors);
    agree(sample.name, original, displaced(*instruction, raw, vectors));
    return original.signal;
  }

  Arena arena_;
  Child child_;
  std::mt19937_64 random_{20240501};
  std::vector<std::byte> code_;
};

Sample sample(const char* name, std::initializer_list<int> values) {
  Sample made{name, {}};
  for (const int value : values)
    made.code.push_back(static_cast<std::byte>(value));
  return made;
}

/// Displacements that lead from the code to the data pages: 0x7c10 is kData - kAt + 0x10.
std::vector<Sample> chosen_samples() {
  return {
      sample("mov 0x7c10(%rip),%rax", {0x48, 0x8b, 0x05, 0x10, 0x7c, 0, 0}),
      sample("mov %rbx,0x7c10(%rip)", {0x48, 0x89, 0x1d, 0x10, 0x7c, 0, 0}),
      sample("movb $0x5a,0x7c10(%rip)", {0xc6, 0x05, 0x10, 0x7c, 0, 0, 0x5a}),
      sample("movl $imm32,0x7c10(%rip)", {0xc7, 0x05, 0x10, 0x7c, 0, 0, 1, 2, 3, 4}),
      sample("lea 0x7c10(%rip),%rdi", {0x48, 0x8d, 0x3d, 0x10, 0x7c, 0, 0}),
      sample("lea 0x10(%eip),%rdi", {0x67, 0x48, 0x8d, 0x3d, 0x10, 0, 0, 0}),
      sample("cmp 0x7c10(%rip),%rax", {0x48, 0x3b, 0x05, 0x10, 0x7c, 0, 0}),
      sample("cmpl $imm32,0x7c10(%rip)", {0x81, 0x3d, 0x10, 0x7c, 0, 0, 1, 2, 3, 4}),
      sample("add %ecx,0x7c10(%rip)", {0x01, 0x0d, 0x10, 0x7c, 0, 0}),
      sample("lock xadd %rdx,0x7c10(%rip)", {0xf0, 0x48, 0x0f, 0xc1, 0x15, 0x10, 0x7c, 0, 0}),
      sample("push 0x7c10(%rip)", {0xff, 0x35, 0x10, 0x7c, 0, 0}),
      sample("pop 0x7c10(%rip)", {0x8f, 0x05, 0x10, 0x7c, 0, 0}),
      sample("call *0x7c1a(%rip)", {0xff, 0x15, 0x1a, 0x7c, 0, 0}),
      sample("jmp *0x7c1a(%rip)", {0xff, 0x25, 0x1a, 0x7c, 0, 0}),
      sample("movups 0x7c10(%rip),%xmm3", {0x0f, 0x10, 0x1d, 0x10, 0x7c, 0, 0}),
      sample("movups %xmm3,0x7c10(%rip)", {0x0f, 0x11, 0x1d, 0x10, 0x7c, 0, 0}),
      sample("addsd 0x7c10(%rip),%xmm0", {0xf2, 0x0f, 0x58, 0x05, 0x10, 0x7c, 0, 0}),
      sample("pshufb 0x7c07(%rip),%xmm1", {0x66, 0x0f, 0x38, 0x00, 0x0d, 0x07, 0x7c, 0, 0}),
      sample("pinsrq $1,0x7c10(%rip),%xmm1",
             {0x66, 0x48, 0x0f, 0x3a, 0x22, 0x0d, 0x10, 0x7c, 0, 0, 1}),
      sample("vmovups 0x7c10(%rip),%ymm4", {0xc5, 0xfc, 0x10, 0x25, 0x10, 0x7c, 0, 0}),
      sample("vmovups %ymm4,0x7c10(%rip)", {0xc5, 0xfc, 0x11, 0x25, 0x10, 0x7c, 0, 0}),
      sample("vpblendd $5,0x7c10(%rip),%ymm1,%ymm2",
             {0xc4, 0xe3, 0x75, 0x02, 0x15, 0x10, 0x7c, 0, 0, 5}),
      sample("call rel32", {0xe8, 0x10, 1, 0, 0}),
      sample("call *%rax", {0xff, 0xd0}),
      sample("call *%rsp", {0xff, 0xd4}),
      sample("call *8(%rsp)", {0xff, 0x54, 0x24, 8}),
      sample("call *(%rbx,%rcx,8)", {0xff, 0x14, 0xcb}),
      sample("call *%fs:0x10", {0x64, 0xff, 0x14, 0x25, 0x10, 0, 0, 0}),
      sample("jmp *(%rax)", {0xff, 0x20}),
      sample("jmp rel8", {0xeb, 0x7f}),
      sample("ret", {0xc3}),
      sample("ret $0x18", {0xc2, 0x18, 0}),
      sample("push %rsp", {0x54}),
      sample("pop %rsp", {0x5c}),
      sample("pop %r12", {0x41, 0x5c}),
      sample("pushfq", {0x9c}),
      sample("enter $16,$1", {0xc8, 16, 0, 1}),
      sample("leave", {0xc9}),
      sample("loop", {0xe2, 0x10}),
      sample("loop by ecx", {0x67, 0xe2, 0x10}),
      sample("loope", {0xe1, 0x10}),
      sample("loopne", {0xe0, 0x10}),
      sample("jrcxz", {0xe3, 0x10}),
      sample("jecxz", {0x67, 0xe3, 0x10}),
      sample("rep movsq", {0xf3, 0x48, 0xa5}),
      sample("repne scasb", {0xf2, 0xae}),
      sample("mov %fs:0x28,%rax", {0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}),
      sample("div %rcx", {0x48, 0xf7, 0xf1}),
      sample("cmpxchg16b 0x7c08(%rip)", {0x48, 0x0f, 0xc7, 0x0d, 0x08, 0x7c, 0, 0}),
      sample("ud2", {0x0f, 0x0b}),
      sample("int3", {0xcc}),
      sample("hlt", {0xf4}),
      sample("ljmp *(%rbx)", {0xff, 0x2b}),
      sample("test %eax,%eax", {0x85, 0xc0}),
      sample("mov %eax,%ebx", {0x89, 0xc3}),
      sample("movslq %eax,%rbx", {0x48, 0x63, 0xd8}),
      sample("cltq", {0x48, 0x98}),
  };
}

/// What gives the same result each time, and stays in this process.
bool is_repeatable(const ZydisDecodedInstruction& decoded) {
  switch (decoded.mnemonic) {
    case ZYDIS_MNEMONIC_POPF: // may set TF, which then traps in front of one of the int3
    case ZYDIS_MNEMONIC_POPFQ: return false;
    default: break;
  }
  switch (decoded.meta.category) {
    case ZYDIS_CATEGORY_ADOX_ADCX:
    case ZYDIS_CATEGORY_AES:
    case ZYDIS_CATEGORY_AVX:
    case ZYDIS_CATEGORY_AVX2:
    case ZYDIS_CATEGORY_BINARY:
    case ZYDIS_CATEGORY_BITBYTE:
    case ZYDIS_CATEGORY_BMI1:
    case ZYDIS_CATEGORY_BMI2:
    case ZYDIS_CATEGORY_BROADCAST:
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_CONVERT:
    case ZYDIS_CATEGORY_LOGICAL:
    case ZYDIS_CATEGORY_LOGICAL_FP:
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_POP:
    case ZYDIS_CATEGORY_PUSH:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_ROTATE:
    case ZYDIS_CATEGORY_SETCC:
    case ZYDIS_CATEGORY_SHIFT:
    case ZYDIS_CATEGORY_SSE:
    case ZYDIS_CATEGORY_STRINGOP:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_VFMA:
    case ZYDIS_CATEGORY_WIDENOP: return true;
    case ZYDIS_CATEGORY_DATAXFER: {
      return decoded.mnemonic == ZYDIS_MNEMONIC_MOV || decoded.mnemonic == ZYDIS_MNEMONIC_MOVSX ||
             decoded.mnemonic == ZYDIS_MNEMONIC_MOVZX ||
             decoded.mnemonic == ZYDIS_MNEMONIC_MOVSXD || decoded.mnemonic == ZYDIS_MNEMONIC_XCHG ||
             decoded.mnemonic == ZYDIS_MNEMONIC_MOVAPS ||
             decoded.mnemonic == ZYDIS_MNEMONIC_MOVUPS || decoded.mnemonic == ZYDIS_MNEMONIC_MOVQ;
    }
    default: return false;
  }
}

/// A branch to itself or into itself would run for ever, or run a part of itself.
bool branches_to_itself(const ZydisDecodedInstruction& decoded) {
  const auto& target = decoded.raw.imm[0];
  return target.is_relative && target.value.s < 0 && target.value.s >= -int{decoded.length};
}

/// Privileged, or a load of a segment register: a slot has no part in those.
bool touches_segments(std::span<const ZydisDecodedOperand> operands) {
  return std::any_of(operands.begin(), operands.end(), [](const ZydisDecodedOperand& operand) {
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) return false;
    const auto kind = ZydisRegisterGetClass(operand.reg.value);
    return kind == ZYDIS_REGCLASS_SEGMENT || kind == ZYDIS_REGCLASS_CONTROL ||
           kind == ZYDIS_REGCLASS_DEBUG;
  });
}

TEST_F(DisplacedExecution, of_chosen_instructions_has_the_effect_of_the_original) {
  int unfaulted = 0;
  for (const auto& chosen : chosen_samples()) {
    for (int round = 0; round < 20; ++round) {
      const auto signal = compare(chosen);
      ASSERT_TRUE(signal) << chosen.name;
      ASSERT_FALSE(HasFailure()) << chosen.name;
      unfaulted += *signal == SIGTRAP;
    }
  }
  EXPECT_GT(unfaulted, 600);
}

TEST_F(DisplacedExecution, of_random_instructions_has_the_effect_of_the_original) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  int ran = 0, unfaulted = 0, relative = 0;
  while (ran < 6000) {
    std::vector<std::byte> bytes(15);
    for (auto& byte : bytes)
      byte = static_cast<std::byte>(random_());
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    const auto decode = [&] {
      return ZYAN_SUCCESS(
          ZydisDecoderDecodeFull(&decoder, bytes.data(), bytes.size(), &decoded, operands));
    };
    if (!decode()) continue;
    if ((decoded.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0 && random_() % 3 == 0) {
      // Turned into a rip-relative one that leads to the data.
      const std::size_t modrm = decoded.raw.modrm.offset;
      bytes[modrm] = (bytes[modrm] & std::byte{0x38}) | std::byte{0x05};
      const auto displacement = static_cast<std::uint32_t>(kData - kAt + 64 + random_() % 6000);
      if (modrm + 5 > bytes.size()) continue;
      std::memcpy(&bytes[modrm + 1], &displacement, 4);
      if (!decode()) continue;
    }
    if (!is_repeatable(decoded) || branches_to_itself(decoded) ||
        touches_segments({operands, decoded.operand_count}))
      continue;
    bytes.resize(decoded.length);
    const auto signal = compare({ZydisMnemonicGetString(decoded.mnemonic), bytes});
    if (!signal) continue;
    if (HasFailure()) {
      std::string text;
      for (const auto byte : bytes) {
        char hex[4];
        std::snprintf(hex, sizeof hex, "%02x ", static_cast<unsigned>(byte));
        text += hex;
      }
      FAIL() << text;
    }
    ++ran;
    unfaulted += *signal == SIGTRAP;
    relative += (decoded.attributes & ZYDIS_ATTRIB_IS_RELATIVE) != 0;
  }
  EXPECT_GT(unfaulted, 3000);
  EXPECT_GT(relative, 1000);
}

} // namespace
} // namespace sonictrace
