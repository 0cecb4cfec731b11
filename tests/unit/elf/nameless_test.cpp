#include "sonictrace/elf/nameless.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/compile.hpp"

namespace sonictrace::elf {
namespace {

constexpr const char* kSource = R"(
void far(long*); int many(int, ...);
#define APART __attribute__((noinline, noclone))
__attribute__((cold, noinline)) static void seldom(long* p) { far(p); far(p + 1); }
APART static long one(long a) { long b[2] = {a, 1}; far(b); return b[0]; }
APART static long two(long a, long n) {
  long b[4] = {a, n, 0, 0};
  for (long i = 0; i < n; ++i) {
    if (__builtin_expect(b[0] == 77, 0)) { seldom(b); seldom(b + 2); }
    far(b);
  }
  return b[0] + b[3] + one(b[1]);
}
long exported(long n) { return two(n, n) + many(1, 2); }
)";

struct Both {
  test::Compiled whole, stripped;
  std::shared_ptr<const Image> whole_image, stripped_image;
};

Both compiled(const std::string& flags) {
  const std::string command = "gcc -O2 -fPIC -shared -Wl,-z,undefs " + flags + " {src} -o {out}";
  Both both{test::compile(kSource, command), test::compile(kSource, command + " -s"), {}, {}};
  EXPECT_TRUE(both.whole.succeeded) << both.whole.messages;
  EXPECT_TRUE(both.stripped.succeeded) << both.stripped.messages;
  if (auto image = Image::open(both.whole.path)) both.whole_image = *image;
  if (auto image = Image::open(both.stripped.path)) both.stripped_image = *image;
  return both;
}

/// By the symbols of the file that was not stripped; `?` where it has none that begins there.
std::vector<std::string> names_of(const Image& whole, const std::vector<ElfAddress>& places) {
  std::vector<std::string> names;
  for (const ElfAddress place : places) {
    const Symbol* const symbol = whole.function_at(place);
    names.push_back(symbol != nullptr && symbol->value == place ? std::string(symbol->name) : "?");
  }
  std::sort(names.begin(), names.end());
  return names;
}

class NamelessFunctions : public testing::TestWithParam<const char*> {};

TEST_P(NamelessFunctions, are_those_that_only_the_unwind_table_knows) {
  const Both both = compiled(GetParam());
  ASSERT_TRUE(both.whole_image && both.stripped_image);

  EXPECT_EQ(names_of(*both.whole_image, nameless_functions(*both.stripped_image)),
            (std::vector<std::string>{"one", "seldom", "two"}));
  EXPECT_TRUE(nameless_functions(*both.whole_image).empty());
}

INSTANTIATE_TEST_SUITE_P(Elf, NamelessFunctions,
                         testing::Values("-fcf-protection=full", "-fcf-protection=none",
                                         "-Wl,-z,now", "-fno-plt", "-fno-omit-frame-pointer"));

TEST(NamelessFunctions, leave_out_the_part_of_one_that_lies_apart) {
  const Both both = compiled("");
  ASSERT_TRUE(both.whole_image);
  const auto& symbols = both.whole_image->static_symbols();
  EXPECT_TRUE(std::any_of(symbols.begin(), symbols.end(), [](const Symbol& symbol) {
    return symbol.name == "two.cold";
  })) << "the compiler has made none: this and the other tests show nothing of it";
}

} // namespace
} // namespace sonictrace::elf
