#include "sonictrace/elf/entries.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <iostream>
#include <map>
#include <ostream>

#include "sonictrace/arch/moved_entry.hpp"
#include "support/compile.hpp"

namespace sonictrace::elf {
namespace {

using test::Compiled;

std::shared_ptr<const Image> open_image(const std::string& path) {
  auto image = Image::open(path);
  EXPECT_TRUE(image) << image.error().message();
  return image ? *image : nullptr;
}

/// Why the entry of `name` cannot be moved as a whole; empty where it can.
std::string why_not(const std::shared_ptr<const Image>& image, const std::string& name) {
  const Symbol* symbol = nullptr;
  for (const Symbol& function : image->functions())
    if (function.name == name) symbol = &function;
  if (symbol == nullptr) return "no such function";
  const EntrySurvey survey(image);
  const TraceeAddress at(symbol->value.value());
  const auto moved = move_entry(survey.code(symbol->value), at, at + 0x100'0000);
  if (!moved) return moved.error().context();
  const EntryBytes bytes{symbol->value, moved->skipped, moved->replaced};
  return survey.why_not_replaceable(std::span(&bytes, 1)).front().value_or("");
}

// Functions as compilers do not write them, each with a way into its first bytes.
constexpr const char* kAssembly = R"(
  .text
  .macro function name
  .p2align 4
  .globl \name
  .type \name, @function
\name:
  .cfi_startproc
  .endm
  .macro end name
  .cfi_endproc
  .size \name, . - \name
  .endm

  function good
    mov %rdi, %rax
    add %rsi, %rax
1:  dec %rsi
    jne 1b
    ret
  end good

  function short_jump
    push %rbx
1:  mov %rdi, %rbx
    mov %rbx, %rax
    dec %rdi
    jne 1b
    pop %rbx
    ret
  end short_jump

  function long_jump
    push %rbx
1:  mov %rdi, %rbx
    mov %rbx, %rax
    .skip 200, 0x90
    dec %rdi
    jne 1b
    pop %rbx
    ret
  end long_jump

  # The immediate 0xf475 would be a jump into the first bytes, were it an instruction.
  function looks_like_a_jump
    push %rbx
    mov %rdi, %rbx
    mov %rbx, %rax
    mov $0x90f97590, %ecx
    pop %rbx
    ret
  end looks_like_a_jump

  function loop_behind_endbr64
    endbr64
1:  dec %rdi
    dec %rsi
    jne 1b
    ret
  end loop_behind_endbr64

  function neighbour
    mov %rdi, %rax
    jmp .Linside_of_entered_by_neighbour
    ret
  end neighbour

  function entered_by_neighbour
    nop
.Linside_of_entered_by_neighbour:
    mov %rdi, %rax
    dec %rax
    ret
  end entered_by_neighbour

  function entered_from_afar
    nop
.Linside_of_entered_from_afar:
    mov %rdi, %rax
    dec %rax
    ret
  end entered_from_afar
    .skip 1000, 0x90
  function far_one
    xor %eax, %eax
    call .Linside_of_entered_from_afar
    ret
  end far_one

  function offset_table
    push %rbx
2:  mov %rdi, %rbx
    lea 1f(%rip), %rdx
    movslq (%rdx,%rsi,4), %rax
    add %rdx, %rax
    jmp *%rax
3:  pop %rbx
    ret
  end offset_table
  .section .rodata
  .p2align 2
1:  .long 3b - 1b, 2b - 1b
  .text

  function address_table
    push %rbx
2:  mov %rdi, %rbx
    lea 1f(%rip), %rdx
    jmp *(%rdx,%rsi,8)
3:  pop %rbx
    ret
  end address_table
  .section .data.rel.ro, "aw"
  .p2align 3
1:  .quad 3b, 2b
  .text

  function tail_call_by_pointer
    mov %rdi, %rax
    lea 1f(%rip), %rdx
    jmp *%rdx
  end tail_call_by_pointer
  .section .rodata
1:  .long 1, 2, 3, 4
  .text

  function has_a_label
    nop
1:  mov %rdi, %rax
    mov %rsi, %rax
    lea 1b(%rip), %rdx
    ret
  end has_a_label

  function next_one_is_near
    mov %edi, %eax
  end next_one_is_near
  .globl next_one
  .type next_one, @function
next_one:
    mov %esi, %eax
    mov %edx, %eax
    ret
  .size next_one, . - next_one

  .section .note.GNU-stack
)";

struct Entry {
  const char* function;
  const char* reason;
};

void PrintTo(const Entry& tested, std::ostream* out) { *out << tested.function; }

class SurveyedEntry : public testing::TestWithParam<Entry> {};

TEST_P(SurveyedEntry, is_replaceable_where_nothing_leads_into_it) {
  static const Compiled library = test::compile(kAssembly, "gcc -shared {src} -o {out}", ".s");
  ASSERT_TRUE(library.succeeded) << library.messages;

  EXPECT_EQ(why_not(open_image(library.path), GetParam().function), GetParam().reason);
}

constexpr const char* kJump = "a jump leads into its first bytes";
INSTANTIATE_TEST_SUITE_P(
    EntrySurvey, SurveyedEntry,
    testing::Values(Entry{"good", ""}, Entry{"short_jump", kJump}, Entry{"long_jump", kJump},
                    Entry{"looks_like_a_jump", ""}, Entry{"loop_behind_endbr64", kJump},
                    Entry{"neighbour", ""}, Entry{"entered_by_neighbour", kJump},
                    Entry{"entered_from_afar", kJump},
                    Entry{"offset_table", "a jump table leads into its first bytes"},
                    Entry{"address_table", "a relocation has an address in its first bytes"},
                    Entry{"tail_call_by_pointer", ""},
                    Entry{"has_a_label", "its code refers to its first bytes"},
                    Entry{"next_one_is_near", "the function is too short for a jump"},
                    Entry{"next_one", ""}),
    [](const auto& tested) { return std::string(tested.param.function); });

TEST(EntrySurvey, sees_packed_relocations_and_addresses_in_code_at_fixed_addresses) {
  const Compiled packed = test::compile(
      kAssembly, "gcc -shared {src} -o {out} -fuse-ld=lld -Wl,--pack-dyn-relocs=relr", ".s");
  ASSERT_TRUE(packed.succeeded) << packed.messages;
  EXPECT_EQ(why_not(open_image(packed.path), "address_table"),
            "a relocation has an address in its first bytes");

  const Compiled fixed = test::compile(R"(
  .text
  .globl _start
  .type _start, @function
_start:
    push %rbx
2:  mov %rdi, %rbx
    jmp *1f(,%rsi,8)
3:  pop %rbx
    ret
  .size _start, . - _start
  .section .rodata
1:  .quad 3b, 2b
)",
                                       "gcc -no-pie -nostdlib -static {src} -o {out}", ".s");
  ASSERT_TRUE(fixed.succeeded) << fixed.messages;
  EXPECT_EQ(why_not(open_image(fixed.path), "_start"), "a jump table leads into its first bytes");
}

TEST(EntrySurvey, sees_a_long_jump_wherever_it_lies_among_the_bytes_that_are_looked_at_together) {
  constexpr const char* kJumps = R"(
  .text
  .macro function name
  .p2align 4
  .globl \name
  .type \name, @function
\name:
  .cfi_startproc
  .endm
  .macro end name
  .cfi_endproc
  .size \name, . - \name
  .endm
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
  function by_jmp_\n
    nop
.Linside_of_by_jmp_\n:
    mov %rdi, %rax
    dec %rax
    ret
  end by_jmp_\n
  function by_jcc_\n
    nop
.Linside_of_by_jcc_\n:
    mov %rdi, %rax
    dec %rax
    ret
  end by_jcc_\n
    .skip 200, 0x90
  function jcc_\n
    .skip \n, 0x90
    .byte 0x0f, 0x84
    .long .Linside_of_by_jcc_\n - . - 4
    ret
  end jcc_\n
  function jmp_\n
    .skip \n, 0x90
    .byte 0xe9
    .long .Linside_of_by_jmp_\n - . - 4
  end jmp_\n
  .endr
  .section .note.GNU-stack
)";
  const Compiled library = test::compile(kJumps, "gcc -shared -nostdlib {src} -o {out}", ".s");
  ASSERT_TRUE(library.succeeded) << library.messages;
  const auto image = open_image(library.path);
  for (int skipped = 0; skipped <= 16; ++skipped) {
    EXPECT_EQ(why_not(image, "by_jmp_" + std::to_string(skipped)), kJump);
    EXPECT_EQ(why_not(image, "by_jcc_" + std::to_string(skipped)), kJump);
  }
}

TEST(EntrySurvey, gives_no_code_where_there_is_none) {
  const auto image = open_image("/proc/self/exe");
  const EntrySurvey survey(image);

  EXPECT_TRUE(survey.code(ElfAddress(0)).empty()); // the file's header
  EXPECT_TRUE(survey.code(ElfAddress(~std::uint64_t{0})).empty());
  const EntryBytes nowhere{ElfAddress(0), 0, 5};
  EXPECT_TRUE(survey.why_not_replaceable(std::span(&nowhere, 1)).front().has_value());
}

/// How many exported functions of a library can be moved, and why the others can't.
struct Share {
  std::size_t all = 0, moved = 0;
  std::map<std::string, std::size_t> reasons;
};

Share share_of(const std::string& path) {
  Share share;
  const auto image = open_image(path);
  const EntrySurvey survey(image);
  std::vector<EntryBytes> entries;
  ElfAddress last;
  for (const Symbol& function : image->functions()) {
    if (function.type != SymbolType::Function || function.value == last) continue;
    last = function.value;
    ++share.all;
    const TraceeAddress at(function.value.value() + 0x7f00'0000'0000);
    const auto moved = move_entry(survey.code(function.value), at, at + 0x1000'0000);
    if (moved) {
      entries.push_back({function.value, moved->skipped, moved->replaced});
    } else {
      ++share.reasons[moved.error().context()];
    }
  }
  for (const auto& why : survey.why_not_replaceable(entries)) {
    if (!why)
      ++share.moved;
    else
      ++share.reasons[*why];
  }
  return share;
}

std::string path_of(const void* function) {
  Dl_info info{};
  return dladdr(function, &info) != 0 ? info.dli_fname : "";
}

TEST(EntrySurvey, finds_most_functions_of_system_libraries_movable) {
  for (const std::string& path :
       {path_of(reinterpret_cast<const void*>(&getpid)),
        path_of(dlsym(RTLD_DEFAULT, "__cxa_throw")), path_of(dlsym(RTLD_DEFAULT, "elf_begin"))}) {
    const Share share = share_of(path);
    std::cout << path << ": " << share.moved << " of " << share.all << "\n";
    for (const auto& [reason, count] : share.reasons)
      std::cout << "  " << count << ": " << reason << "\n";
    EXPECT_GT(share.moved, share.all * 8 / 10) << path;
  }
}

} // namespace
} // namespace sonictrace::elf
