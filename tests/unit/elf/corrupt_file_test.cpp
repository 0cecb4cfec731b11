#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "sonictrace/arch/moved_entry.hpp"
#include "sonictrace/elf/entries.hpp"
#include "sonictrace/elf/return_gadget.hpp"
#include "support/compile.hpp"
#include "unit/elf/call_table_names.hpp"

namespace sonictrace::elf {
namespace {

std::size_t look_at_code(const std::shared_ptr<const Image>& image) {
  std::size_t seen = find_return_gadget(*image).has_value();
  const EntrySurvey survey(image);
  std::vector<EntryBytes> entries;
  for (const Symbol& function : image->functions()) {
    const TraceeAddress at(function.value.value());
    if (const auto moved = move_entry(survey.code(function.value), at, at + 0x1000'0000))
      entries.push_back({function.value, moved->skipped, moved->replaced});
  }
  for (const auto& why : survey.why_not_replaceable(entries))
    seen += !why.has_value();
  std::vector<ElfAddress> begins;
  for (const Symbol& function : image->functions())
    begins.push_back(function.value);
  for (const auto& way : survey.ways(begins))
    for (const auto& island : way.islands)
      seen += static_cast<std::size_t>(
          std::count(island.bytes.begin(), island.bytes.end(), std::byte{0x90}));
  return seen;
}

/// Asks for all that an image can show. Returns how much it showed, so that nothing is optimised
/// away and a test can say that there was something.
std::size_t look_at_everything(std::span<const std::byte> file) {
  const auto image = Image::parse(file, "corrupt");
  if (!image) return 0;
  std::size_t seen = (*image)->needed().size() + (*image)->soname().size() +
                     (*image)->build_id().size() + (*image)->interpreter().size() +
                     (*image)->sections().size();
  for (const auto* symbols : {&(*image)->dynamic_symbols(), &(*image)->static_symbols()})
    for (const Symbol& symbol : *symbols) {
      seen += symbol.name.size() + symbol.version.size();
      seen += (*image)->find_export(symbol.name, symbol.version) != nullptr;
      seen += (*image)->function_at(symbol.value) != nullptr;
    }
  seen += (*image)->functions().size();
  if (const auto calls = find_calls(**image)) seen += calls->sites.size() + calls->hoisted.size();
  return seen + look_at_code(*image);
}

constexpr const char* kSource = R"(
  #include <stdlib.h>
  #include <string.h>
  int call(int n) { char* p = malloc(n); free(p); return n; }
  int main(int c, char** v) { return call(c) + (int)strlen(v[0]); }
)";

std::vector<std::vector<std::byte>> some_files() {
  std::vector<std::vector<std::byte>> files;
  for (const char* const command : {"gcc -O2 {src} -o {out}", "gcc -O2 -fno-plt -s {src} -o {out}",
                                    "gcc -O2 -shared -fPIC -Wl,--hash-style=sysv {src} -o {out}",
                                    "gcc -O2 -no-pie -fcf-protection {src} -o {out}"}) {
    const auto made = test::compile(kSource, command);
    EXPECT_TRUE(made.succeeded) << made.messages;
    files.push_back(test::read_bytes(made.path));
    files.push_back(without_section_headers(files.back()));
  }
  return files;
}

TEST(CorruptFile, whose_end_is_missing_shows_less_or_nothing) {
  for (const auto& file : some_files()) {
    const std::size_t whole = look_at_everything(file);
    ASSERT_GT(whole, 0U);
    for (std::size_t size = 0; size < file.size(); size += 64) {
      // A copy of its own, so that a sanitizer sees a read behind the end.
      const std::vector<std::byte> cut(file.begin(),
                                       file.begin() + static_cast<std::ptrdiff_t>(size));

      EXPECT_LE(look_at_everything(cut), whole);
    }
  }
}

TEST(CorruptFile, with_random_bytes_does_no_harm) {
  std::mt19937 random(20'240'229);
  for (const auto& file : some_files()) {
    for (int round = 0; round < 300; ++round) {
      std::vector<std::byte> changed = file;
      const unsigned changes = 1 + random() % 8;
      for (unsigned i = 0; i < changes; ++i)
        changed[random() % changed.size()] = static_cast<std::byte>(random());

      look_at_everything(changed);
    }
  }
}

TEST(CorruptFile, with_random_headers_and_tables_does_no_harm) {
  std::mt19937 random(1'337);
  constexpr std::size_t kHeaders = 0x1000; // program headers, hash tables, symbols, versions
  for (const auto& file : some_files()) {
    for (int round = 0; round < 300; ++round) {
      std::vector<std::byte> changed = file;
      // Words, as offsets and sizes are: small, huge and negative ones.
      const std::size_t at = random() % (kHeaders / 4) * 4;
      const std::uint32_t word = random() % 3 == 0   ? 0xffff'fff0 + random() % 16
                                 : random() % 2 == 0 ? static_cast<std::uint32_t>(random())
                                                     : random() % 256;
      std::memcpy(changed.data() + at, &word, sizeof word);

      look_at_everything(changed);
    }
  }
}

} // namespace
} // namespace sonictrace::elf
