#include "sonictrace/elf/image.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "support/compile.hpp"
#include "unit/elf/call_table_names.hpp"

namespace sonictrace::elf {
namespace {

using test::compile;
using test::Compiled;

std::shared_ptr<const Image> parse(std::span<const std::byte> file) {
  const auto image = Image::parse(file, "test");
  if (!image) {
    ADD_FAILURE() << image.error().message();
    return nullptr;
  }
  return *image;
}

const Symbol* find_named(const std::vector<Symbol>& symbols, std::string_view name) {
  const auto found = std::find_if(symbols.begin(), symbols.end(),
                                  [&](const Symbol& symbol) { return symbol.name == name; });
  return found == symbols.end() ? nullptr : &*found;
}

struct NotElf {
  const char* name;
  const char* content;
};

TEST(ImageOpen, refuses_what_is_not_an_elf_file_and_names_it) {
  const test::TempDir directory;
  for (const NotElf& tested : {NotElf{"empty", ""}, NotElf{"script", "#!/bin/sh\nexit 0\n"},
                               NotElf{"magic", "\177ELF"}, NotElf{"cut", "\177ELF\2\1\1"}}) {
    const std::string path = directory / tested.name;
    std::ofstream(path) << tested.content;

    const auto image = Image::open(path);

    ASSERT_FALSE(image) << tested.name;
    EXPECT_TRUE(image.error().is(std::errc::executable_format_error)) << tested.name;
    EXPECT_NE(image.error().message().find(path), std::string::npos);
  }
}

TEST(ImageOpen, tells_a_missing_file_from_a_directory) {
  EXPECT_TRUE(Image::open("/nonexistent/file").error().is(std::errc::no_such_file_or_directory));
  EXPECT_TRUE(Image::open("/").error().is(std::errc::is_a_directory));
}

TEST(ImageOpen, does_not_block_on_a_fifo) {
  const Compiled made = compile("", "mkfifo {out}");
  ASSERT_TRUE(made.succeeded) << made.messages;

  EXPECT_FALSE(Image::open(made.path));
}

TEST(ImageOpen, shows_what_kind_of_program_it_is) {
  const char* const source = "int main(void) { return 0; }";
  const Compiled pie = compile(source, "gcc -fPIE -pie {src} -o {out}");
  const Compiled fixed = compile(source, "gcc -fno-pie -no-pie {src} -o {out}");
  const Compiled whole = compile(source, "gcc -static {src} -o {out}");
  ASSERT_TRUE(pie.succeeded && fixed.succeeded && whole.succeeded);

  const auto pie_image = Image::open(pie.path);
  const auto fixed_image = Image::open(fixed.path);
  const auto whole_image = Image::open(whole.path);

  ASSERT_TRUE(pie_image && fixed_image && whole_image);
  EXPECT_TRUE((*pie_image)->is_shared_object());
  EXPECT_FALSE((*fixed_image)->is_shared_object());
  EXPECT_EQ((*pie_image)->interpreter(), "/lib64/ld-linux-x86-64.so.2");
  EXPECT_TRUE((*fixed_image)->has_interpreter());
  EXPECT_FALSE((*whole_image)->has_interpreter());
  EXPECT_EQ((*whole_image)->dynamic(), std::nullopt);
  EXPECT_EQ((*pie_image)->machine(), Machine::X86_64);
  EXPECT_EQ((*pie_image)->needed(), std::vector<std::string_view>{"libc.so.6"});
  const Symbol* const start = (*fixed_image)->function_at((*fixed_image)->entry());
  ASSERT_NE(start, nullptr);
  EXPECT_EQ(start->name, "_start");
}

constexpr const char* kLibrary = R"(
  __asm__(".symver old_f, f@V1");
  __asm__(".symver new_f, f@@V2");
  int old_f(void) { return 1; }
  int new_f(void) { return 2; }
  int plain(void) { return 3; }
  static __attribute__((noinline, used)) int hidden_one(void) { return 4; }
  int data = 5;
)";
constexpr const char* kBuildLibrary =
    "printf 'V1 { global: f; local: old_f; new_f; };\\nV2 { global: plain; data; } V1;\\n' "
    ">{dir}map && gcc -O1 -shared -fPIC -Wl,--version-script={dir}map -Wl,-soname,libf.so.1 "
    "-Wl,--build-id=0x0123456789abcdef {src} -o {out}";

TEST(Image, shows_the_same_with_and_without_section_headers) {
  const Compiled made = compile(kLibrary, kBuildLibrary);
  ASSERT_TRUE(made.succeeded) << made.messages;
  for (const char* const hash : {"gnu", "sysv", "both"}) {
    const Compiled other =
        compile(kLibrary, std::string(kBuildLibrary) + " -Wl,--hash-style=" + hash);
    ASSERT_TRUE(other.succeeded) << other.messages;
    const auto file = test::read_bytes(other.path);
    const auto bare = without_section_headers(file);

    const auto image = parse(file);
    const auto bare_image = parse(bare);

    ASSERT_TRUE(image && bare_image);
    EXPECT_TRUE(bare_image->sections().empty());
    EXPECT_TRUE(bare_image->static_symbols().empty());
    for (const auto& tested : {image, bare_image}) {
      EXPECT_EQ(tested->soname(), "libf.so.1");
      EXPECT_EQ(tested->build_id(), "\x01\x23\x45\x67\x89\xab\xcd\xef");
      EXPECT_NE(tested->find_export("f", ""), nullptr);
      EXPECT_EQ(tested->needed(), image->needed());
    }
    EXPECT_EQ(image->dynamic_symbols().size(), bare_image->dynamic_symbols().size());
  }
}

TEST(Image, finds_the_versions_that_the_dynamic_linker_would) {
  const Compiled made = compile(kLibrary, kBuildLibrary);
  ASSERT_TRUE(made.succeeded) << made.messages;
  const auto file = test::read_bytes(made.path);
  const auto image = parse(file);
  ASSERT_TRUE(image);

  const Symbol* const newest = image->find_export("f", "");
  const Symbol* const old = image->find_export("f", "V1");

  ASSERT_TRUE(newest != nullptr && old != nullptr);
  EXPECT_EQ(newest->version, "V2");
  EXPECT_TRUE(newest->default_version);
  EXPECT_EQ(old->version, "V1");
  EXPECT_FALSE(old->default_version);
  EXPECT_NE(newest->value, old->value);
  EXPECT_EQ(image->find_export("f", "V2"), newest);
  EXPECT_EQ(image->find_export("f", "V3"), nullptr);
  EXPECT_EQ(image->find_export("hidden_one", ""), nullptr);
  EXPECT_EQ(image->find_export("nothing", ""), nullptr);
}

TEST(Image, takes_an_unversioned_definition_for_a_versioned_reference) {
  const Compiled made = compile("int f(void) { return 0; }", "gcc -shared -fPIC {src} -o {out}");
  ASSERT_TRUE(made.succeeded) << made.messages;
  const auto file = test::read_bytes(made.path);
  const auto image = parse(file);
  ASSERT_TRUE(image);

  EXPECT_NE(image->find_export("f", "V1"), nullptr);
}

TEST(Image, shows_the_version_that_an_undefined_symbol_asks_for) {
  const Compiled made = compile("#include <string.h>\nvoid* f(void* a, void* b) "
                                "{ return memcpy(a, b, strlen(b)); }",
                                "gcc -O0 -shared -fPIC {src} -o {out}");
  ASSERT_TRUE(made.succeeded) << made.messages;
  const auto file = without_section_headers(test::read_bytes(made.path));
  const auto image = parse(file);
  ASSERT_TRUE(image);

  const Symbol* const memcpy_symbol = find_named(image->dynamic_symbols(), "memcpy");

  ASSERT_NE(memcpy_symbol, nullptr);
  EXPECT_FALSE(memcpy_symbol->defined);
  EXPECT_EQ(memcpy_symbol->version, "GLIBC_2.14");
  EXPECT_EQ(image->find_export("memcpy", ""), nullptr);
}

constexpr const char* kNested = R"(
  .text
  .globl outer, alias, _reserved, bare
  .type outer, @function
  .type alias, @function
  .type _reserved, @function
  .type inner, @function
  .type bare, @function
  _reserved:
  alias:
  outer: nop
         nop
  inner: nop
         nop
  .size inner, . - inner
         nop
         nop
  .size outer, . - outer
  .size alias, . - alias
         nop
         nop
  bare:  nop
         nop
  .section .other, "ax", @progbits
         nop
  .section .note.GNU-stack, "", @progbits
)";

TEST(Image, finds_the_innermost_function_at_an_address) {
  const Compiled made = compile(kNested, "gcc -shared -nostdlib {src} -o {out}", ".s");
  ASSERT_TRUE(made.succeeded) << made.messages;
  const auto file = test::read_bytes(made.path);
  const auto image = parse(file);
  ASSERT_TRUE(image);
  const Symbol* const outer = image->find_export("outer", "");
  ASSERT_NE(outer, nullptr);
  const auto name_at = [&](std::int64_t offset) {
    const Symbol* const found = image->function_at(outer->value + offset);
    return found == nullptr ? "nothing" : std::string(found->name);
  };

  EXPECT_EQ(name_at(-1), "nothing");
  EXPECT_EQ(name_at(0), "alias"); // the first of the exported names that are not reserved
  EXPECT_EQ(name_at(1), "alias");
  EXPECT_EQ(name_at(2), "inner");
  EXPECT_EQ(name_at(3), "inner");
  EXPECT_EQ(name_at(4), "alias") << "behind the inner function the outer one goes on";
  EXPECT_EQ(name_at(6), "inner") << "in a gap, the nearest one below";
  EXPECT_EQ(name_at(8), "bare");
  EXPECT_EQ(name_at(9), "bare") << "a function without a size reaches to the section's end";
  EXPECT_EQ(name_at(10), "nothing") << "another section";
}

TEST(Image, lists_each_function_name_of_both_tables_once_by_address) {
  const Compiled made = compile(kNested, "gcc -shared -nostdlib {src} -o {out}", ".s");
  ASSERT_TRUE(made.succeeded) << made.messages;
  const auto file = test::read_bytes(made.path);
  const auto image = parse(file);
  ASSERT_TRUE(image);

  std::vector<std::string> names;
  for (const Symbol& function : image->functions())
    names.emplace_back(function.name);

  EXPECT_EQ(names, (std::vector<std::string>{"alias", "outer", "_reserved", "inner", "bare"}));
}

TEST(Image, gives_mapped_bytes_up_to_the_end_of_the_file_part) {
  const Compiled made = compile("int data[4] = {1, 2, 3, 4}; int zeros[5000];",
                                "gcc -shared -fPIC -nostdlib {src} -o {out}");
  ASSERT_TRUE(made.succeeded) << made.messages;
  const auto file = test::read_bytes(made.path);
  const auto image = parse(file);
  ASSERT_TRUE(image);
  const Symbol* const data = image->find_export("data", "");
  const Symbol* const zeros = image->find_export("zeros", "");
  ASSERT_TRUE(data != nullptr && zeros != nullptr);

  EXPECT_EQ(image->bytes_at(data->value, 4).size(), 4U);
  EXPECT_EQ(image->bytes_at(data->value, 4)[0], std::byte{1});
  EXPECT_EQ(image->bytes_at(data->value, 100'000).size(), 16U);
  EXPECT_TRUE(image->bytes_at(zeros->value, 1).empty());
  EXPECT_TRUE(image->bytes_at(ElfAddress(~std::uint64_t{0}), 1).empty());
}

TEST(Image, may_be_asked_by_several_threads_at_once) {
  const auto opened = Image::open("/proc/self/exe");
  ASSERT_TRUE(opened);
  const Image& image = **opened;
  std::vector<const Symbol*> found(4);
  std::vector<std::thread> threads;
  for (auto& result : found)
    threads.emplace_back([&image, &result] { result = image.function_at(image.entry()); });
  for (std::thread& thread : threads)
    thread.join();

  EXPECT_NE(found[0], nullptr);
  EXPECT_EQ(std::count(found.begin(), found.end(), found[0]), 4);
}

} // namespace
} // namespace sonictrace::elf
