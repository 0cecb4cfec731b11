// Reads the debug information of the samples, and compares with what stands behind each function in
// their source.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sonictrace/debuginfo/debug_info.hpp"
#include "sonictrace/proto/print.hpp"

namespace sonictrace {
namespace {

struct Expected {
  std::string symbol;
  std::string prototype; ///< "none": nothing is known
};

/// `... } // PROTOTYPE;` and `... } // none`.
std::vector<Expected> expectations(const std::string& source) {
  std::vector<Expected> all;
  std::ifstream in(source);
  for (std::string line; std::getline(in, line);) {
    const auto comment = line.rfind("// ");
    if (comment == std::string::npos) continue;
    const std::string text = line.substr(comment + 3);
    if (text == "none") {
      const auto end = line.find('(');
      const auto begin = line.rfind(' ', end);
      all.push_back({line.substr(begin + 1, end - begin - 1), text});
      continue;
    }
    if (!text.ends_with(");") || text.starts_with("of a base: ")) continue;
    // The name is the last word before a parenthesis that is a parameter list's.
    std::size_t depth = 0, open = text.size() - 1;
    do {
      --open;
      if (text[open] == ')') ++depth;
      if (text[open] == '(' && --depth == 0) break;
    } while (open > 0);
    const auto begin = text.rfind(' ', open);
    all.push_back({text.substr(begin + 1, open - begin - 1), text});
  }
  return all;
}

std::optional<ElfAddress> address_of(const elf::Image& image, const std::string& symbol) {
  const elf::Symbol* const found = image.find_export(symbol, {});
  return found == nullptr ? std::nullopt : std::optional(found->value);
}

ModuleFile module_at(const std::string& path) {
  auto image = elf::Image::open(path);
  if (!image) return {};
  return {*image, path, [path] { return UniqueFd::open(path.c_str(), O_RDONLY); }};
}

std::string told(DebugInfo& info, const ModuleFile& module, const std::string& symbol) {
  const auto address = address_of(*module.image, symbol);
  if (!address) return "no such symbol";
  const proto::Prototype* const found = info.find(module, symbol, *address);
  return found == nullptr ? "none" : proto::print(*found);
}

class Samples : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    if (!std::filesystem::exists(path())) GTEST_SKIP() << "no compiler for " << path();
  }
  std::string path() const { return SAMPLE_DIR "/" + GetParam(); }
  std::string source() const {
    return std::string(TEST_DATA_DIR "/samples/sample.") +
           (GetParam().starts_with("samplepp") ? "cpp" : "c");
  }
};

TEST_P(Samples, tell_the_prototypes_that_their_source_has) {
  const ModuleFile module = module_at(path());
  ASSERT_TRUE(module.image);
  DebugInfo info({});
  const auto all = expectations(source());
  ASSERT_GE(all.size(), 25U);

  for (const Expected& expected : all)
    EXPECT_EQ(told(info, module, expected.symbol), expected.prototype);
  EXPECT_TRUE(info.take_notes().empty());
}

INSTANTIATE_TEST_SUITE_P(
    DebugInfo, Samples,
    testing::Values(
        "sample-gcc-dwarf4-O0.so", "sample-gcc-dwarf4-O2.so", "sample-gcc-dwarf5-O0.so",
        "sample-gcc-dwarf5-O2.so", "sample-clang-dwarf4-O0.so", "sample-clang-dwarf4-O2.so",
        "sample-clang-dwarf5-O0.so", "sample-clang-dwarf5-O2.so", "sample-gcc-sections.so",
        "sample-clang-sections.so", "samplepp-gcc-dwarf4-O0.so", "samplepp-gcc-dwarf4-O2.so",
        "samplepp-gcc-dwarf5-O0.so", "samplepp-gcc-dwarf5-O2.so", "samplepp-clang-dwarf4-O0.so",
        "samplepp-clang-dwarf4-O2.so", "samplepp-clang-dwarf5-O0.so", "samplepp-clang-dwarf5-O2.so",
        "sample-gcc-lto.so", "sample-clang-lto.so", "samplepp-gcc-lto.so", "samplepp-clang-lto.so",
        "sample-gcc-split.so", "sample-clang-split.so", "samplepp-gcc-split.so",
        "samplepp-clang-split.so", "samplepp-gcc-sections.so", "samplepp-clang-sections.so"),
    [](const auto& tested) {
      std::string name = tested.param;
      std::replace(name.begin(), name.end(), '-', '_');
      return name.substr(0, name.size() - 3);
    });

class LinesOnly : public testing::TestWithParam<std::string> {};

TEST_P(LinesOnly, tell_nothing_of_parameters_and_are_not_believed) {
  const std::string path = SAMPLE_DIR "/" + GetParam();
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no compiler for " << path;
  const ModuleFile module = module_at(path);
  ASSERT_TRUE(module.image);
  DebugInfo info({});
  const bool is_cpp = GetParam().starts_with("samplepp");

  EXPECT_EQ(told(info, module, is_cpp ? "_ZN4shop7nothingEv" : "nothing"), "none");
  EXPECT_EQ(told(info, module, is_cpp ? "plain_c" : "text"), "none");
}

INSTANTIATE_TEST_SUITE_P(DebugInfo, LinesOnly,
                         testing::Values("sample-gcc-lines-only.so", "sample-clang-lines-only.so",
                                         "samplepp-gcc-lines-only.so",
                                         "samplepp-clang-lines-only.so"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name.substr(0, name.size() - 3);
                         });

TEST(DebugInfo, says_where_a_split_one_is_not_found) {
  const std::string whole = SAMPLE_DIR "/sample-gcc-split.so";
  if (!std::filesystem::exists(whole)) GTEST_SKIP() << "no gcc";
  // The name of the other file is a relative one; the directory is one that is not there.
  std::ifstream in(whole, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  for (std::size_t at = bytes.find(".dwo"); at != std::string::npos;
       at = bytes.find(".dwo", at + 1))
    bytes[at + 1] = 'x';
  const std::string path = testing::TempDir() + "/sonictrace-split.so";
  std::ofstream(path, std::ios::binary) << bytes;
  const ModuleFile module = module_at(path);
  ASSERT_TRUE(module.image);
  DebugInfo info({});

  EXPECT_EQ(told(info, module, "nothing"), "none");
  EXPECT_EQ(told(info, module, "integers"), "none");
  const auto notes = info.take_notes();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find(".dwo"), std::string::npos) << notes[0];
  std::filesystem::remove(path);
}

TEST(DebugInfo, says_nothing_where_it_is_not_to_be_used) {
  const ModuleFile module = module_at(SAMPLE_DIR "/sample-gcc-dwarf5-O0.so");
  if (!module.image) GTEST_SKIP() << "no gcc";
  DebugInfo info({.is_used = false});

  EXPECT_EQ(told(info, module, "nothing"), "none");
}

TEST(DebugInfo, stops_where_its_time_is_over_and_says_so_once) {
  const ModuleFile module = module_at(SAMPLE_DIR "/sample-gcc-dwarf5-O0.so");
  if (!module.image) GTEST_SKIP() << "no gcc";
  DebugInfoOptions options;
  options.reading_time = std::chrono::milliseconds(0);
  DebugInfo info(std::move(options));

  EXPECT_EQ(told(info, module, "nothing"), "none");
  EXPECT_EQ(told(info, module, "integers"), "none");
  EXPECT_EQ(info.take_notes().size(), 1U);
}

} // namespace
} // namespace sonictrace
