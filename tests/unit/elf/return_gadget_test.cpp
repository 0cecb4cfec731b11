#include "sonictrace/elf/return_gadget.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/compile.hpp"

namespace sonictrace::elf {
namespace {

using test::Compiled;

/// The function that the gadget lies in, and the bytes up to it, with a space for each of them.
struct Found {
  std::string function;
  std::string bytes;
};

Found find_in(const Compiled& compiled) {
  EXPECT_TRUE(compiled.succeeded) << compiled.messages;
  const auto image = Image::open(compiled.path);
  EXPECT_TRUE(image) << image.error().message();
  const auto gadget = image ? find_return_gadget(**image) : std::nullopt;
  if (!gadget) return {};
  Found found;
  if (const Symbol* const function = (*image)->function_at(*gadget))
    found.function = function->name;
  constexpr std::int64_t kBefore = 4;
  for (const std::byte byte : (*image)->bytes_at(*gadget + -kBefore, kBefore + 1)) {
    constexpr char kDigits[] = "0123456789abcdef";
    found.bytes += kDigits[std::to_integer<unsigned>(byte >> 4)];
    found.bytes += kDigits[std::to_integer<unsigned>(byte & std::byte{0xf})];
    found.bytes += ' ';
  }
  return found;
}

constexpr const char* kFunctions = R"(
int more(int);
int with_frame(int a) { return more(a + 1) + more(a); }
int leaf(int a, int b) { return a + b; }
void empty(void) {}
)";

TEST(ReturnGadget, is_preferably_a_function_that_only_returns) {
  const Found found = find_in(
      test::compile(kFunctions, "gcc -O2 -fcf-protection=full -fPIC -shared {src} -o {out}"));

  EXPECT_EQ(found.function, "empty");
  EXPECT_EQ(found.bytes, "f3 0f 1e fa c3 ");
}

TEST(ReturnGadget, is_the_end_of_a_leaf_function_without_endbr64) {
  const Found found = find_in(
      test::compile(kFunctions, "gcc -O2 -fcf-protection=none -fPIC -shared {src} -o {out}"));

  EXPECT_EQ(found.function, "leaf");
  EXPECT_TRUE(found.bytes.ends_with("c3 ")) << found.bytes;
}

TEST(ReturnGadget, is_the_end_of_init_where_no_function_leaves_the_stack_alone) {
  const Found found = find_in(
      test::compile("int more(int); int with_frame(int a) { return more(a + 1) + more(a); }",
                    "gcc -O2 -fcf-protection=none -fPIC -shared {src} -o {out}"));

  EXPECT_EQ(found.bytes, "48 83 c4 08 c3 ");
}

TEST(ReturnGadget, is_any_return_where_there_is_nothing_better) {
  const Found found = find_in(test::compile(
      "int more(int); int with_frame(int a) { return more(a + 1) * 3; }",
      "gcc -O1 -fcf-protection=none -fno-asynchronous-unwind-tables -fno-unwind-tables"
      " -mno-red-zone -fno-omit-frame-pointer -nostdlib -fPIC -shared {src} -o {out}"));

  EXPECT_EQ(found.function, "with_frame");
  EXPECT_TRUE(found.bytes.ends_with("c3 ")) << found.bytes;
}

TEST(ReturnGadget, is_nothing_in_a_file_without_code) {
  const Compiled compiled =
      test::compile("int data = 1;", "gcc -nostdlib -fPIC -shared {src} -o {out}");
  ASSERT_TRUE(compiled.succeeded) << compiled.messages;
  const auto image = Image::open(compiled.path);
  ASSERT_TRUE(image) << image.error().message();

  EXPECT_EQ(find_return_gadget(**image), std::nullopt);
}

TEST(ReturnGadget, is_found_in_every_system_library) {
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/lib/x86_64-linux-gnu")) {
    if (seen == 60) break;
    const auto name = entry.path().filename().string();
    if (!entry.is_regular_file() || name.find(".so") == std::string::npos) continue;
    const auto image = Image::open(entry.path().string());
    if (!image || (*image)->functions().size() < 10) continue; // ICU's data, linker scripts
    ++seen;
    const auto gadget = find_return_gadget(**image);
    ASSERT_TRUE(gadget) << entry.path();
    EXPECT_EQ((*image)->bytes_at(*gadget, 1)[0], std::byte{0xc3}) << entry.path();
  }
  EXPECT_GT(seen, 5u);
}

} // namespace
} // namespace sonictrace::elf
