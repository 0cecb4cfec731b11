#include <gtest/gtest.h>

#include <ostream>

#include "support/compile.hpp"
#include "unit/elf/call_table_names.hpp"

namespace sonictrace::elf {
namespace {

using test::Compiled;

// Calls puts, malloc, free, getenv, qsort and abort; hands out the addresses of free, which it
// calls as well, and of strcmp and realloc, which it does not call.
constexpr const char* kProgram = R"(
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
void (*volatile deleter)(void*);
void* (*volatile grower)(void*, size_t);
int (*volatile comparer)(const char*, const char*);
static int by_value(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }
__attribute__((noinline)) void fill(char** out, int n) {
  for (int i = 0; i < n; ++i) out[i] = malloc(i + 1);
}
__attribute__((noinline)) int last(const char* text) { return puts(text); }
int main(int argc, char** argv) {
  char* out[16];
  int values[] = {3, 1, 2};
  deleter = free; grower = realloc; comparer = strcmp;
  if (argc > 16) abort();
  fill(out, argc);
  for (int i = 0; i < argc; ++i) free(out[i]);
  qsort(values, 3, sizeof(int), by_value);
  return getenv("HOME") ? last(argv[0]) : values[0];
}
)";
const Names kCalled = {"abort", "free", "getenv", "malloc", "puts", "qsort"};
const Names kOfInterest = {"abort", "free",  "getenv", "malloc",
                           "puts",  "qsort", "strcmp", "realloc"};

struct Build {
  const char* compiler; // g++ is not needed: the linker and the code generator matter
  const char* linker;
  bool pie, now, plt, ibt;
};

std::string command_of(const Build& build) {
  std::string command = std::string(build.compiler) + " -O2 {src} -o {out}";
  command += std::string(" -fuse-ld=") + build.linker;
  command += build.pie ? " -fPIE -pie" : " -fno-pie -no-pie";
  command += build.now ? " -Wl,-z,now" : " -Wl,-z,lazy";
  command += build.plt ? " -fplt" : " -fno-plt";
  command += build.ibt ? " -fcf-protection=full" : " -fcf-protection=none";
  const std::string_view linker = build.linker;
  if (build.ibt && linker == "bfd") command += " -Wl,-z,ibtplt";
  if (build.ibt && linker == "lld") command += " -Wl,-z,force-ibt";
  return command;
}

std::string name_of(const Build& build) {
  return std::string(build.compiler).substr(0, 3) + "_" + build.linker +
         (build.pie ? "_pie" : "_nopie") + (build.now ? "_now" : "_lazy") +
         (build.plt ? "_plt" : "_noplt") + (build.ibt ? "_ibt" : "");
}

void PrintTo(const Build& build, std::ostream* out) { *out << name_of(build); }

std::vector<Build> all_builds() {
  std::vector<Build> builds;
  for (const char* compiler : {"gcc", "clang-14"})
    for (const char* linker : {"bfd", "gold", "lld", "mold"})
      for (unsigned bits = 0; bits < 16; ++bits)
        builds.push_back(
            {compiler, linker, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0});
  return builds;
}

class CallsOfProgram : public testing::TestWithParam<Build> {};

void expect_called(std::span<const std::byte> file, const char* what, bool pie) {
  const auto image = Image::parse(file, what);
  ASSERT_TRUE(image) << what << ": " << image.error().message();
  const auto calls = find_calls(**image);
  ASSERT_TRUE(calls) << what << ": " << calls.error().message();
  // In a program that is not a PIE, the address of a function of a library is that of a PLT entry.
  const Names& wanted = pie ? kOfInterest : kCalled;
  EXPECT_EQ(only(names_of_calls(*calls), wanted), kCalled) << what;
  for (const CallSite& site : calls->sites) {
    const auto code = (*image)->bytes_at(site.at, site.size);
    ASSERT_EQ(code.size(), site.size) << what;
    const auto opcode = code[site.size - 6U];
    EXPECT_EQ(std::to_integer<int>(opcode), 0xff) << what << " at " << site.at.value();
  }
}

TEST_P(CallsOfProgram, are_exactly_those_of_its_source_with_and_without_symbols_and_sections) {
  const Build& build = GetParam();
  for (const auto& tool : {std::string(build.compiler), std::string("ld.") + build.linker})
    if (!test::has_tool(tool)) GTEST_SKIP() << tool << " is not installed";
  const Compiled program = test::compile(kProgram, command_of(build) + " && strip {out} -o {dir}s");
  ASSERT_TRUE(program.succeeded) << command_of(build) << "\n" << program.messages;

  const auto whole = test::read_bytes(program.path);
  const auto stripped = test::read_bytes(program.directory / "s");
  expect_called(whole, "as linked", build.pie);
  expect_called(stripped, "stripped", build.pie);
  expect_called(without_section_headers(stripped), "without section headers", build.pie);
}

INSTANTIATE_TEST_SUITE_P(Elf, CallsOfProgram, testing::ValuesIn(all_builds()),
                         [](const auto& tested) { return name_of(tested.param); });

} // namespace
} // namespace sonictrace::elf
