#include "sonictrace/elf/calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/compile.hpp"
#include "unit/elf/call_table_names.hpp"

namespace sonictrace::elf {
namespace {

using test::compile;
using test::Compiled;

/// An image and its calls; a failure of the test that asks where there are none.
struct Found {
  std::shared_ptr<const Image> image;
  CallTable calls;
};

Found find_in(std::span<const std::byte> file) {
  const auto image = Image::parse(file, "test");
  if (!image) {
    ADD_FAILURE() << image.error().message();
    return {};
  }
  auto calls = find_calls(**image);
  if (!calls) {
    ADD_FAILURE() << calls.error().message();
    return {*image, {}};
  }
  return {*image, *std::move(calls)};
}

const ImportSlot* find_slot(const CallTable& calls, std::string_view name) {
  const auto found = std::find_if(calls.imports.begin(), calls.imports.end(),
                                  [&](const ImportSlot& slot) { return slot.name == name; });
  return found == calls.imports.end() ? nullptr : &*found;
}

std::vector<CallSite> sites_of(const CallTable& calls, std::string_view name) {
  std::vector<CallSite> sites;
  for (const CallSite& site : calls.sites)
    if (calls.imports[site.import].name == name) sites.push_back(site);
  return sites;
}

#define REQUIRE_TOOL(name)                                                                         \
  if (!test::has_tool(name)) GTEST_SKIP() << (name) << " is not installed"

TEST(Calls, of_a_function_called_and_address_taken_are_in_plt_got) {
  const Compiled made = compile("extern void f(void*); void g(void); void h(void) { f(g); g(); }",
                                "gcc -O1 -fPIC -shared {src} -o {out}");
  ASSERT_TRUE(made.succeeded) << made.messages;
  const auto file = test::read_bytes(made.path);

  const Found found = find_in(file);

  ASSERT_NE(find_slot(found.calls, "g"), nullptr);
  EXPECT_EQ(find_slot(found.calls, "g")->binding, SlotBinding::GlobDat);
  ASSERT_EQ(sites_of(found.calls, "g").size(), 1U);
  EXPECT_TRUE(sites_of(found.calls, "g")[0].in_plt);
  EXPECT_FALSE(names_of_hoisted(found.calls).contains("g"));
}

TEST(Calls, name_an_ifunc_of_the_image_itself_by_its_symbol) {
  const Compiled made = compile(R"(
    static int one(void) { return 1; }
    static int (*choose(void))(void) { return one; }
    __attribute__((visibility("hidden"), ifunc("choose"))) int chosen(void);
    int call(void) { return chosen() + 1; })",
                                "gcc -O1 -fPIC -shared {src} -o {out}");
  ASSERT_TRUE(made.succeeded) << made.messages;
  const auto file = test::read_bytes(made.path);

  const Found found = find_in(file);

  const ImportSlot* const slot = find_slot(found.calls, "chosen");
  ASSERT_NE(slot, nullptr);
  EXPECT_EQ(slot->binding, SlotBinding::Irelative);
  EXPECT_EQ(slot->type, SymbolType::Ifunc);
  EXPECT_NE(slot->defined_at, ElfAddress(0));
  EXPECT_EQ(sites_of(found.calls, "chosen").size(), 1U);
}

TEST(Calls, of_a_static_program_are_those_of_its_ifuncs) {
  for (const char* const flags : {"-static", "-static-pie"}) {
    const Compiled made =
        compile("#include <string.h>\nint main(int c, char** v) { return (int)strlen(v[c - 1]); }",
                std::string("gcc -O1 ") + flags + " -fno-builtin {src} -o {out}");
    ASSERT_TRUE(made.succeeded) << made.messages;
    const auto file = test::read_bytes(made.path);

    const Found found = find_in(file);

    EXPECT_FALSE(sites_of(found.calls, "strlen").empty()) << flags;
  }
}

TEST(Calls, of_a_stripped_static_program_have_sites_without_names) {
  const Compiled made =
      compile("#include <string.h>\nint main(int c, char** v) { return (int)strlen(v[c - 1]); }",
              "gcc -O1 -static -s -fno-builtin {src} -o {out}");
  ASSERT_TRUE(made.succeeded) << made.messages;
  const auto file = test::read_bytes(made.path);

  const Found found = find_in(file);

  EXPECT_GT(found.calls.sites.size(), 5U);
  EXPECT_EQ(names_of_sites(found.calls), Names{""});
}

TEST(Calls, carry_the_version_that_is_asked_for) {
  const Compiled made = compile("#include <string.h>\nint f(char* a, char* b) { "
                                "memcpy(a, b, strlen(b)); return 0; }",
                                "gcc -O0 -fPIC -shared {src} -o {out}");
  ASSERT_TRUE(made.succeeded) << made.messages;
  const auto file = test::read_bytes(made.path);

  const Found found = find_in(file);

  ASSERT_NE(find_slot(found.calls, "memcpy"), nullptr);
  EXPECT_EQ(find_slot(found.calls, "memcpy")->version, "GLIBC_2.14");
}

TEST(Calls, through_more_than_ten_thousand_slots_have_a_site_each) {
  constexpr int kCount = 10'500;
  std::string source;
  for (int i = 0; i < kCount; ++i)
    source += "void f" + std::to_string(i) + "(void);\n";
  source += "void call(void) {\n";
  for (int i = 0; i < kCount; ++i)
    source += "f" + std::to_string(i) + "();\n";
  source += "}\n";

  for (const char* const flags : {"-Wl,-z,lazy", "-Wl,-z,now -fcf-protection", "-fno-plt"}) {
    const Compiled made =
        compile(source, std::string("gcc -O0 -fPIC -shared ") + flags + " {src} -o {out}");
    ASSERT_TRUE(made.succeeded) << made.messages;
    for (const bool with_sections : {true, false}) {
      auto file = test::read_bytes(made.path);
      if (!with_sections) file = without_section_headers(file);

      const Found found = find_in(file);

      std::size_t sites = 0;
      for (const CallSite& site : found.calls.sites)
        sites += found.calls.imports[site.import].name.starts_with('f');
      EXPECT_EQ(sites, std::size_t{kCount}) << flags << (with_sections ? "" : ", no sections");
    }
  }
}

TEST(Calls, of_no_plt_code_tell_calls_from_tail_calls) {
  const Compiled made = compile("int f(int); int g(int); int h(int x) { return g(f(x)); }",
                                "gcc -O2 -fno-plt -fPIC -shared {src} -o {out}");
  ASSERT_TRUE(made.succeeded) << made.messages;
  const auto file = test::read_bytes(made.path);

  const Found found = find_in(file);

  ASSERT_EQ(sites_of(found.calls, "f").size(), 1U);
  ASSERT_EQ(sites_of(found.calls, "g").size(), 1U);
  EXPECT_EQ(sites_of(found.calls, "f")[0].kind, SiteKind::Call);
  EXPECT_EQ(sites_of(found.calls, "g")[0].kind, SiteKind::Jump);
  EXPECT_FALSE(sites_of(found.calls, "f")[0].in_plt);
}

TEST(Calls, include_the_prefixes_of_a_tls_call_sequence) {
  const Compiled made = compile("extern __thread int x; int f(void) { return x; }",
                                "gcc -O2 -fno-plt -fPIC -shared {src} -o {out}");
  ASSERT_TRUE(made.succeeded) << made.messages;
  const auto file = test::read_bytes(made.path);

  const Found found = find_in(file);

  const auto sites = sites_of(found.calls, "__tls_get_addr");
  ASSERT_EQ(sites.size(), 1U);
  EXPECT_EQ(sites[0].size, 8); // 66 48 ff 15
}

TEST(Calls, in_every_part_of_a_function_are_found) {
  // A switch's blocks, a landing pad, and blocks that the compiler moves to another section.
  const Compiled made = compile(R"(
    extern "C" {
    void f0(); void f1(); void f2(); void f3(); void f4(); void f5();
    void in_cleanup(); void in_handler(); void in_cold_1(int); void in_cold_2(int);
    }
    struct Guard { ~Guard() { in_cleanup(); } };
    extern "C" void call(int n) {
      Guard guard;
      try {
        switch (n) {
          case 0: f0(); break; case 1: f1(); f0(); break; case 2: f2(); f1(); break;
          case 3: f3(); break; case 4: f4(); f3(); break; case 5: f5(); f2(); break;
        }
      } catch (int) { in_handler(); }
    }
    extern "C" int cold(int n) {
      if (__builtin_expect_with_probability(n == 1, 0, 1)) in_cold_1(n);
      f0();
      if (__builtin_expect_with_probability(n == 2, 0, 1)) in_cold_2(n + 1);
      f1();
      return n;
    })",
                                "g++ -O2 -fno-plt -fPIC -shared -s {src} -o {out}", ".cpp");
  ASSERT_TRUE(made.succeeded) << made.messages;
  const Names expected = {"f0", "f1",         "f2",         "f3",        "f4",
                          "f5", "in_cleanup", "in_handler", "in_cold_1", "in_cold_2"};
  for (const bool with_sections : {true, false}) {
    auto file = test::read_bytes(made.path);
    if (!with_sections) file = without_section_headers(file);

    const Found found = find_in(file);

    EXPECT_EQ(only(names_of_sites(found.calls), expected), expected);
  }
}

// The bytes of `call *f@GOTPCREL(%rip)` where they are not that instruction. A breakpoint there
// would change the program.
TEST(Calls, are_not_seen_in_immediates_or_in_data_between_instructions) {
  const Compiled made = compile(R"(
    .globl g
    .type g, @function
    g: .cfi_startproc
       movabsq $0, %rax
       .reloc g + 4, R_X86_64_GOTPCREL, f - 4  # displacement in the immediate, behind ff 15
       jmp 1f
       .byte 0xff, 0x15
       .long f@GOTPCREL - 4
    1: xorl %eax, %eax
       call *f@GOTPCREL(%rip)
       ret
       .byte 0xff, 0x25
       .long f@GOTPCREL - 4
       .cfi_endproc
    .size g, . - g
    .section .note.GNU-stack, "", @progbits)",
                                "gcc -shared {src} -o {out} -Wl,-z,notext", ".s");
  ASSERT_TRUE(made.succeeded) << made.messages;
  auto file = test::read_bytes(made.path);
  auto image = Image::parse(file, "test");
  ASSERT_TRUE(image);
  const Symbol* const g = (*image)->find_export("g", "");
  ASSERT_NE(g, nullptr);
  const auto code = (*image)->bytes_at(g->value, 4);
  const auto offset = static_cast<std::size_t>(code.data() - file.data());
  file[offset + 2] = std::byte{0xff}; // movabs $0x....15ff
  file[offset + 3] = std::byte{0x15};

  for (const bool with_sections : {true, false}) {
    const auto tested = with_sections ? file : without_section_headers(file);

    const Found found = find_in(tested);

    const auto sites = sites_of(found.calls, "f");
    ASSERT_EQ(sites.size(), 1U) << with_sections;
    EXPECT_EQ(sites[0].at.value(), g->value.value() + 10 + 2 + 6 + 2);
  }
}

struct HoistCase {
  const char* name;
  const char* command;
  const char* source;
  bool hoisted;
};

void PrintTo(const HoistCase& tested, std::ostream* out) { *out << tested.name; }

constexpr const char* kClang = "clang-14 -O2 -fno-plt -fPIC -shared {src} -o {out}";
constexpr const char* kGcc = "gcc -O2 -fno-plt -fPIC -shared {src} -o {out}";
constexpr const char* kAssembler = "gcc -shared {src} -o {out}";

class HoistedCall : public testing::TestWithParam<HoistCase> {};

TEST_P(HoistedCall, is_told_from_an_address_taken) {
  const HoistCase& tested = GetParam();
  REQUIRE_TOOL(std::string(tested.command).substr(0, std::string(tested.command).find(' ')));
  const bool is_assembly = tested.command == kAssembler;
  const Compiled made = compile(tested.source, tested.command, is_assembly ? ".s" : ".c");
  ASSERT_TRUE(made.succeeded) << made.messages;
  const auto file = test::read_bytes(made.path);

  const Found found = find_in(file);

  EXPECT_EQ(names_of_hoisted(found.calls).contains("f"), tested.hoisted);
  const bool is_called_directly = !sites_of(found.calls, "f").empty();
  EXPECT_FALSE(tested.hoisted && is_called_directly) << "not a case of hoisting";
}

INSTANTIATE_TEST_SUITE_P(
    Elf, HoistedCall,
    testing::Values(
        HoistCase{"argument_of_the_next_call", kAssembler, R"(
          .globl g
          .type g, @function
          g: .cfi_startproc
             push %rbx
             mov f@GOTPCREL(%rip), %rsi
             call h@PLT
             call *%rbx
             pop %rbx
             ret
             .cfi_endproc
          .size g, . - g)",
                  false},
        HoistCase{"read_through", kAssembler, R"(
          .globl g
          .type g, @function
          g: .cfi_startproc
             mov f@GOTPCREL(%rip), %rax
             mov (%rax), %rdx
             call *%rax  # so that only the read tells
             ret
             .cfi_endproc
          .size g, . - g)",
                  false},
        HoistCase{"call_of_another_pointer", kAssembler, R"(
          .globl g
          .type g, @function
          g: .cfi_startproc
             push %rbx
             mov f@GOTPCREL(%rip), %rbx
             test %edi, %edi
             je 1f
             mov 8(%rsi), %rax
             call *%rax
          1: mov %rbx, %rax
             pop %rbx
             ret
             .cfi_endproc
          .size g, . - g)",
                  false},
        HoistCase{"one_of_two_pointers", kAssembler, R"(
          .globl g
          .type g, @function
          g: .cfi_startproc
             mov f@GOTPCREL(%rip), %rax
             test %edi, %edi
             je 1f
             mov 8(%rsi), %rax
          1: call *%rax
             ret
             .cfi_endproc
          .size g, . - g)",
                  true},
        HoistCase{"through_the_stack", kAssembler, R"(
          .globl g
          .type g, @function
          g: .cfi_startproc
             push %rbx
             mov f@GOTPCREL(%rip), %rax
             push %rax
             call h@PLT
             pop %rbx
             call *%rbx
             pop %rbx
             ret
             .cfi_endproc
          .size g, . - g)",
                  true},
        HoistCase{"clang_loop", kClang,
                  "void f(int); void g(int n) { for (int i = 0; i < n; ++i) f(i); }", true},
        HoistCase{"clang_many_calls", kClang,
                  "int f(int); int g(int n) { return f(n) + f(n + 1) + f(n + 2) + f(n + 3); }",
                  true},
        HoistCase{"clang_loop_with_switch", kClang, R"(
          void f(int); void a(void);
          void g(int n, int* k) {
            for (int i = 0; i < n; ++i)
              switch (k[i]) {
                case 0: f(1); break; case 1: f(7); a(); break; case 2: a(); break;
                case 3: f(4); a(); a(); break; case 4: k[i] = 5; break; case 5: f(k[7]); break;
              }
          })",
                  true},
        HoistCase{"gcc_choice_of_two", kGcc,
                  "int f(int); int e(int); int g(int n) { return (n ? f : e)(n); }", true},
        HoistCase{"register_tail_call", kAssembler, R"(
          .globl g
          .type g, @function
          g: .cfi_startproc
             movq f@GOTPCREL(%rip), %r11
             movq %r11, %rax
             testq %rax, %rax
             je 1f
             jmp *%rax
          1: ret
             .cfi_endproc
          .size g, . - g
          .section .note.GNU-stack, "", @progbits)",
                  true},
        HoistCase{"called_from_the_stack", kAssembler, R"(
          .globl g
          .type g, @function
          g: .cfi_startproc
             subq $24, %rsp
             movq f@GOTPCREL(%rip), %rcx
             movq %rcx, 8(%rsp)
             call e@PLT
             pushq $1
             call *16(%rsp)
             addq $32, %rsp
             ret
             .cfi_endproc
          .size g, . - g
          .section .note.GNU-stack, "", @progbits)",
                  true},
        HoistCase{"not_called_from_another_place_on_the_stack", kAssembler, R"(
          .globl g
          .type g, @function
          g: .cfi_startproc
             subq $24, %rsp
             movq f@GOTPCREL(%rip), %rcx
             movq %rcx, 8(%rsp)
             pushq $1
             call *8(%rsp)
             addq $32, %rsp
             ret
             .cfi_endproc
          .size g, . - g
          .section .note.GNU-stack, "", @progbits)",
                  false},
        HoistCase{"register_lost_in_a_call", kAssembler, R"(
          .globl g
          .type g, @function
          g: .cfi_startproc
             movq f@GOTPCREL(%rip), %rax
             movq %rax, 8(%rdi)
             call e@PLT
             call *%rax
             ret
             .cfi_endproc
          .size g, . - g
          .section .note.GNU-stack, "", @progbits)",
                  false},
        HoistCase{"clang_passed_on", kClang, "void f(int); void e(void*); void g(void) { e(f); }",
                  false},
        HoistCase{"gcc_passed_on", kGcc, "void f(int); void e(void*); void g(void) { e(f); }",
                  false},
        HoistCase{"clang_stored", kClang,
                  "void f(int); void g(void** p, void (*q)(void)) { *p = f; q(); }", false},
        HoistCase{"gcc_stored_in_a_loop", kGcc,
                  "void f(int); void g(void** p, int n, void (*q)(void)) "
                  "{ for (int i = 0; i < n; ++i) { p[i] = f; q(); } }",
                  false},
        HoistCase{"gcc_compared", kGcc, "int f(int); int g(void* p) { return p == (void*)f; }",
                  false},
        HoistCase{"gcc_returned", kGcc, "int f(int); void* g(void) { return f; }", false},
        HoistCase{"gcc_put_into_a_struct_and_passed", kGcc,
                  "struct s { void* p; int n; }; int f(int); void e(struct s*); "
                  "void g(void) { struct s v = {f, 1}; e(&v); e(&v); }",
                  false}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(Calls, of_musl_programs_are_found) {
  REQUIRE_TOOL("musl-gcc");
  for (const char* const flags : {"", "-fno-plt", "-static", "-fcf-protection"}) {
    const Compiled made =
        compile("#include <stdio.h>\n#include <stdlib.h>\n"
                "int main(int c, char** v) { puts(v[0]); free(malloc(c)); return 0; }",
                std::string("musl-gcc -O1 -fno-builtin -s ") + flags + " {src} -o {out}");
    ASSERT_TRUE(made.succeeded) << made.messages;
    const Names expected = {"free", "malloc", "puts"};
    const bool is_static = std::string_view(flags) == "-static";
    for (const bool with_sections : {true, false}) {
      auto file = test::read_bytes(made.path);
      if (!with_sections) file = without_section_headers(file);

      const Found found = find_in(file);

      EXPECT_EQ(only(names_of_sites(found.calls), expected), is_static ? Names{} : expected)
          << flags << with_sections;
    }
  }
}

TEST(Calls, of_rust_programs_are_found) {
  REQUIRE_TOOL("rustc");
  const Compiled made =
      compile("extern \"C\" { fn getpid() -> i32; fn puts(s: *const u8) -> i32; }\n"
              "fn main() { unsafe { puts(b\"x\\0\".as_ptr()); println!(\"{}\", getpid()); } }",
              "rustc -C opt-level=2 -C debuginfo=0 -C strip=symbols {src} -o {out}", ".rs");
  ASSERT_TRUE(made.succeeded) << made.messages;
  const Names expected = {"getpid", "malloc", "puts", "write"};
  for (const bool with_sections : {true, false}) {
    auto file = test::read_bytes(made.path);
    if (!with_sections) file = without_section_headers(file);

    const Found found = find_in(file);

    EXPECT_EQ(only(names_of_calls(found.calls), expected), expected);
    EXPECT_FALSE(sites_of(found.calls, "getpid").empty());
  }
}

TEST(Calls, of_32_bit_code_are_found_in_its_plt) {
  for (const char* const flags :
       {"-fPIC -shared", "-fPIC -shared -fcf-protection", "-fPIC -shared -Wl,-z,now"}) {
    const Compiled made =
        compile("void f(void); void g(void); void h(void) { f(); g(); f(); }",
                std::string("gcc -m32 -O1 -ffreestanding -nostdlib ") + flags + " {src} -o {out}");
    ASSERT_TRUE(made.succeeded) << made.messages;
    const auto file = test::read_bytes(made.path);

    const Found found = find_in(file);

    EXPECT_EQ(found.image->machine(), Machine::I386);
    EXPECT_EQ(names_of_sites(found.calls), (Names{"f", "g"})) << flags;
  }
}

TEST(Calls, of_another_machine_are_refused_with_its_name) {
  auto file = test::read_bytes("/proc/self/exe");
  file[offsetof(Elf64_Ehdr, e_machine)] = std::byte{EM_AARCH64};
  const auto image = Image::parse(file, "some/program");
  ASSERT_TRUE(image);

  const auto calls = find_calls(**image);

  ASSERT_FALSE(calls);
  EXPECT_TRUE(calls.error().is(std::errc::not_supported));
  EXPECT_NE(calls.error().message().find("some/program"), std::string::npos);
}

TEST(Calls, of_libtorch_are_found_when_it_is_installed) {
  const char* const path = "/usr/lib/x86_64-linux-gnu/libtorch_cpu.so";
  const auto image = Image::open(path);
  if (!image) GTEST_SKIP() << image.error().message();

  const auto calls = find_calls(**image);

  ASSERT_TRUE(calls);
  EXPECT_GE(calls->imports.size(), 10'000U);
  EXPECT_GE(calls->sites.size(), 10'000U);
  EXPECT_TRUE(names_of_sites(*calls).contains("malloc"));
}

} // namespace
} // namespace sonictrace::elf
