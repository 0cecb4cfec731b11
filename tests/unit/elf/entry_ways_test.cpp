// Ways to patch functions that others jump into.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <iostream>
#include <map>
#include <numeric>
#include <ostream>

#include "sonictrace/elf/entries.hpp"
#include "support/compile.hpp"

namespace sonictrace::elf {
namespace {

std::shared_ptr<const Image> open_image(const std::string& path) {
  auto image = Image::open(path);
  EXPECT_TRUE(image) << image.error().message();
  return image ? *image : nullptr;
}

// Each `victim` is jumped into at its fourth byte; what is around it differs.
constexpr const char* kAssembly = R"(
  .text
  .macro function name
  .globl \name
  .type \name, @function
\name:
  .cfi_startproc
  .endm
  .macro end name
  .cfi_endproc
  .size \name, . - \name
  .endm
  .macro victim name
  function \name
    mov %rdi, %rax
.L\name\()_inside:
    cmp $64, %rdx
    jb 1f
    inc %rax
1:  ret
  end \name
  .endm
  .macro entering name, victim
  function \name
    mov %rsi, %rax
    jmp .L\victim\()_inside
  end \name
  .endm
  # ends at a multiple of 32, without padding
  .macro far
  function far_\@
  .skip 256, 0x90
  .p2align 5, 0x90
  .skip 31, 0x90
    ret
  end far_\@
  .endm

  # mempcpy's padding is behind a jump
  entering enters_behind_a_jump, behind_a_jump
  .p2align 5
  victim behind_a_jump
  far

  # a function that ends with a conditional jump goes on into the padding
  function goes_on
    cmp %rdx, %rcx
    jb .Lbehind_padding_that_runs_inside
  end goes_on
  .p2align 5
  victim behind_padding_that_runs
  entering enters_behind_padding_that_runs, behind_padding_that_runs
  far

  function calls_exit
    call *%rax
  end calls_exit
  .p2align 5
  victim behind_a_call
  entering enters_behind_a_call, behind_a_call
  far

  # padding behind it
  victim before_int3
  .skip 5, 0xcc
  entering enters_before_int3, before_int3
  far

  entering enters_too_narrow, too_narrow
  .skip 4, 0x90
  victim too_narrow
  far

  entering enters_zeros, zeros
  .skip 16, 0
  victim zeros
  far

  # one byte of the padding is jumped to: there is some left
  entering enters_used_padding, used_padding
  .skip 3, 0x90
.Lused: .skip 11, 0x90
  victim used_padding
  function jumps_into_padding
    jmp .Lused
  end jumps_into_padding
  far

  entering enters_far_island, far_island
  .skip 8, 0x90
  function between
    .skip 113, 0x90
    ret
  end between
  victim far_island
  far

  entering enters_too_far_island, too_far_island
  .skip 8, 0x90
  function between_more
    .skip 126, 0x90
    ret
  end between_more
  victim too_far_island
  far

  function whole
    mov %rdi, %rax
    add %rsi, %rax
    ret
  end whole

  .section .note.GNU-stack
)";

/// "long", "short -9 +20" (islands, from the entry), or why not.
std::string in_words(const EntryWay& way, ElfAddress entry) {
  if (!way.jump) return way.why_not;
  if (*way.jump == EntryJump::Long) return way.islands.empty() ? "long" : "long, with islands";
  std::string text = "short";
  for (const auto& island : way.islands) {
    EXPECT_EQ(island.bytes.size(), size_of(EntryJump::Long));
    text += (island.at < entry ? " " : " +") + std::to_string(island.at - entry);
  }
  return text;
}

struct Case {
  const char* function;
  const char* way;
};

void PrintTo(const Case& tested, std::ostream* out) { *out << tested.function; }

class EntryWays : public testing::TestWithParam<Case> {};

TEST_P(EntryWays, use_the_padding_near_by_that_nothing_runs) {
  static const test::Compiled library =
      test::compile(kAssembly, "gcc -shared {src} -o {out}", ".s");
  ASSERT_TRUE(library.succeeded) << library.messages;
  static const auto image = open_image(library.path);
  const Symbol* symbol = nullptr;
  for (const Symbol& function : image->functions())
    if (function.name == GetParam().function) symbol = &function;
  ASSERT_NE(symbol, nullptr);
  const ElfAddress entry = symbol->value;

  const auto ways = EntrySurvey(image).ways(std::span(&entry, 1));

  ASSERT_EQ(ways.size(), 1u);
  EXPECT_EQ(in_words(ways[0], entry), GetParam().way);
}

constexpr const char* kJumpedInto = "a jump leads into its first bytes";
INSTANTIATE_TEST_SUITE_P(
    EntrySurvey, EntryWays,
    testing::Values(Case{"whole", "long"}, Case{"behind_a_jump", "short -7 -12 -17 -22 -27"},
                    Case{"behind_padding_that_runs", kJumpedInto},
                    Case{"behind_a_call", kJumpedInto}, Case{"before_int3", "short +13"},
                    Case{"too_narrow", kJumpedInto}, Case{"zeros", kJumpedInto},
                    Case{"used_padding", "short -9"}, Case{"far_island", "short -122"},
                    Case{"too_far_island", kJumpedInto}),
    [](const auto& tested) { return std::string(tested.param.function); });

// ---- the functions of the real C library that need it
// --------------------------------------------

/// A second C library in this process, whose code is writable, and room for code near it.
class SecondLibrary {
public:
  static constexpr std::size_t kRoom = 64 * 1024;

  SecondLibrary() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&getpid), &info) == 0) return;
    path_ = info.dli_fname;
    handle_ = dlmopen(LM_ID_NEWLM, path_.c_str(), RTLD_NOW);
    link_map* map = nullptr;
    if (handle_ == nullptr || dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0) return;
    bias_ = LoadBias::of(map->l_addr);
    for (std::uint64_t distance = 1 << 20; room_ == nullptr && distance < 1 << 30; distance *= 2) {
      void* const got = mmap(reinterpret_cast<void*>(map->l_addr - distance), kRoom,
                             PROT_READ | PROT_WRITE | PROT_EXEC,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (got != MAP_FAILED) room_ = static_cast<std::byte*>(got);
    }
  }
  SecondLibrary(const SecondLibrary&) = delete;
  ~SecondLibrary() {
    if (handle_ != nullptr) dlclose(handle_);
    if (room_ != nullptr) munmap(room_, kRoom);
  }

  explicit operator bool() const { return room_ != nullptr; }
  const std::string& path() const { return path_; }
  LoadBias bias() const { return bias_; }
  void* function(const char* name) const { return dlsym(handle_, name); }
  bool make_writable(const Image& image) const {
    const auto page = static_cast<std::uint64_t>(getpagesize());
    for (const Segment& segment : image.segments()) {
      if (!segment.executable) continue;
      const std::uint64_t at = bias_.to_tracee(segment.begin).value();
      const std::uint64_t begin = at / page * page;
      if (mprotect(reinterpret_cast<void*>(begin), at + segment.memory_size - begin,
                   PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return false;
    }
    return true;
  }
  std::byte* next() const { return room_ + used_; }
  void use(std::size_t bytes) { used_ += bytes; }

private:
  std::string path_;
  void* handle_ = nullptr;
  LoadBias bias_;
  std::byte* room_ = nullptr;
  std::size_t used_ = 0;
};

void write_jump(std::byte* at, const void* target) {
  const auto distance = static_cast<std::int32_t>(static_cast<const std::byte*>(target) - (at + 5));
  *at = std::byte{0xe9};
  std::memcpy(at + 1, &distance, sizeof distance);
}

/// Counts in `counter`, and goes on in the moved begin.
bool patch(SecondLibrary& library, const EntrySurvey& survey, ElfAddress entry, const EntryWay& way,
           const ElfAddress* island, const std::uint64_t* counter) {
  const TraceeAddress at = library.bias().to_tracee(entry);
  std::byte* const stub = library.next();
  // 41 53                push %r11
  // 49 bb imm64          movabs $counter,%r11
  // 49 ff 03             incq (%r11)
  // 41 5b                pop %r11
  constexpr std::size_t kCount = 17;
  std::array<std::byte, kCount> count{std::byte{0x41}, std::byte{0x53}, std::byte{0x49},
                                      std::byte{0xbb}};
  std::memcpy(&count[4], &counter, sizeof counter);
  constexpr std::array kRest = {std::byte{0x49}, std::byte{0xff}, std::byte{0x03}, std::byte{0x41},
                                std::byte{0x5b}};
  std::copy(kRest.begin(), kRest.end(), count.begin() + 12);
  const auto moved =
      move_entry(survey.code(entry), at,
                 TraceeAddress(reinterpret_cast<std::uint64_t>(stub + kCount)), *way.jump);
  if (!moved) return false;
  std::copy(count.begin(), count.end(), stub);
  std::copy(moved->code.begin(), moved->code.end(), stub + kCount);
  library.use(256);
  auto* const place = reinterpret_cast<std::byte*>(at.value()) + moved->skipped;
  std::memset(place, 0xcc, moved->replaced);
  if (*way.jump == EntryJump::Long) {
    write_jump(place, stub);
    return true;
  }
  auto* const hop = reinterpret_cast<std::byte*>(library.bias().to_tracee(*island).value());
  write_jump(hop, stub);
  place[0] = std::byte{0xeb};
  place[1] = static_cast<std::byte>(hop - (place + 2));
  return true;
}

TEST(EntryWaysOfTheLibrary, let_its_hottest_functions_be_patched) {
  SecondLibrary library;
  if (!library) GTEST_SKIP() << "no second C library can be loaded";
  const auto image = open_image(library.path());
  ASSERT_TRUE(image);
  const EntrySurvey survey(image);
  const std::vector<std::string> names = {"memmove", "mempcpy", "memset", "strlen",  "memchr",
                                          "strchr",  "memcmp",  "strcmp", "strncmp", "strcpy"};
  std::vector<ElfAddress> entries;
  std::vector<std::uint64_t> counters(names.size());
  for (const auto& name : names) {
    void* const at = library.function(name.c_str());
    ASSERT_NE(at, nullptr) << name;
    entries.push_back(library.bias().to_elf(TraceeAddress(reinterpret_cast<std::uint64_t>(at))));
  }
  const auto ways = survey.ways(entries);
  ASSERT_TRUE(library.make_writable(*image));
  std::vector<ElfAddress> taken;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::cout << names[i] << ": " << in_words(ways[i], entries[i]) << "\n";
    EXPECT_TRUE(ways[i].jump) << names[i] << ": " << ways[i].why_not;
    if (!ways[i].jump) continue;
    const ElfAddress* free = nullptr;
    for (const auto& island : ways[i].islands)
      if (free == nullptr && std::none_of(taken.begin(), taken.end(), [&](ElfAddress other) {
            return std::abs(other - island.at) < 5;
          }))
        free = &island.at;
    if (*ways[i].jump == EntryJump::Short) {
      ASSERT_NE(free, nullptr) << names[i];
      taken.push_back(*free);
    }
    ASSERT_TRUE(patch(library, survey, entries[i], ways[i], free, &counters[i]));
  }

  using Copy = void* (*)(void*, const void*, std::size_t);
  const auto move = reinterpret_cast<Copy>(library.function("memmove"));
  const auto copy_on = reinterpret_cast<Copy>(library.function("mempcpy"));
  const auto set = reinterpret_cast<void* (*)(void*, int, std::size_t)>(library.function("memset"));
  const auto length = reinterpret_cast<std::size_t (*)(const char*)>(library.function("strlen"));
  std::vector<char> from(20000), to(20000);
  std::iota(from.begin(), from.end(), 0);
  std::uint64_t rounds = 0;
  for (std::size_t size = 0; size < from.size() - 1; size += 1 + size / 8, ++rounds) {
    ASSERT_EQ(set(to.data(), 7, to.size()), to.data());
    ASSERT_EQ(move(to.data(), from.data(), size), to.data());
    ASSERT_EQ(std::memcmp(to.data(), from.data(), size), 0) << size;
    ASSERT_EQ(to[size], 7);
    ASSERT_EQ(set(to.data(), 9, size), to.data());
    ASSERT_EQ(copy_on(to.data(), from.data(), size), to.data() + size);
    ASSERT_EQ(std::memcmp(to.data(), from.data(), size), 0) << size;
    ASSERT_EQ(to[size], 7);
    ASSERT_EQ(set(to.data(), 9, size), to.data());
    to[size] = '\0';
    ASSERT_EQ(length(to.data()), size);
  }
  EXPECT_EQ(counters[0], rounds) << "memmove, and none of mempcpy's";
  EXPECT_EQ(counters[1], rounds) << "mempcpy";
  EXPECT_EQ(counters[2], 3 * rounds);
  EXPECT_EQ(counters[3], rounds);
}

} // namespace
} // namespace sonictrace::elf
