#include <gtest/gtest.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <ostream>
#include <utility>

#include "engine/inline/functions_apart.hpp"
#include "engine/inline/plan_area.hpp"
#include "engine/inline/site_writer.hpp"
#include "engine/inline/thunk_template.hpp"
#include "support/compile.hpp"
#include "unit/engine/own_process_mapper.hpp"

// An agent of four routines: each notes the site it was given, and itself, and goes on as the call
// would have.
extern "C" {
const sonictrace::wire::Site* test_seen_site = nullptr;
std::uint64_t test_seen_routine = 0;
/// All sites, as a ring.
const sonictrace::wire::Site* test_seen_sites[16];
std::uint64_t test_seen_count = 0;
void test_routine_enter();
void test_routine_find_object();
void test_routine_iterate_phdr();
void test_routine_backtrace();
}
asm(R"(
  .text
  .macro ROUTINE name, number
  .globl \name
\name:
  mov %r11, test_seen_site(%rip)
  movq $\number, test_seen_routine(%rip)
  push %rax
  push %rcx
  mov test_seen_count(%rip), %rax
  incq test_seen_count(%rip)
  and $15, %eax
  lea test_seen_sites(%rip), %rcx
  mov %r11, (%rcx,%rax,8)
  pop %rcx
  pop %rax
  add $8, %rsp
  mov (%r11), %r11
  jmp *(%r11)
  .endm
  ROUTINE test_routine_enter, 1
  ROUTINE test_routine_find_object, 2
  ROUTINE test_routine_iterate_phdr, 3
  ROUTINE test_routine_backtrace, 4
)");

namespace sonictrace {
namespace {

TraceeAddress address_of(const void* at) {
  return TraceeAddress(reinterpret_cast<std::uint64_t>(at));
}
TraceeAddress address_of(void (*at)()) {
  return TraceeAddress(reinterpret_cast<std::uint64_t>(at));
}

int seven() { return 7; }
int eight() { return 8; }

/// A piece of code with PLT entries, in the test's own process, whose page nobody may write to.
class SitesOfOurOwn : public testing::Test {
protected:
  static constexpr std::size_t kEntry = 16;
  static constexpr std::size_t kSlots = 0x80000; ///< bytes from the code
  static constexpr std::size_t kSize = 0x100000;

  SitesOfOurOwn() {
    code_ = static_cast<std::uint8_t*>(
        ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (std::size_t i = 0; i < kSlots / kEntry; ++i) {
      // ff 25 rel32  jmp *slot(%rip)
      code_[i * kEntry] = 0xff;
      code_[i * kEntry + 1] = 0x25;
      const auto distance = static_cast<std::int32_t>(slot(i) - (at(i) + 6));
      std::memcpy(code_ + i * kEntry + 2, &distance, sizeof distance);
      int (*const target)() = i % 2 == 0 ? seven : eight;
      std::memcpy(code_ + kSlots + i * 8, &target, sizeof target);
    }
    ::mprotect(code_, kSlots, PROT_READ | PROT_EXEC);
  }
  ~SitesOfOurOwn() override { ::munmap(code_, kSize); }

  TraceeAddress at(std::size_t i) const { return address_of(code_ + i * kEntry); }
  TraceeAddress slot(std::size_t i) const { return address_of(code_ + kSlots + i * 8); }
  CallSitePatch patch_of(std::size_t i) const {
    CallSitePatch patch{at(i), 6, slot(i), {}, AgentRoutine::Enter};
    patch.site.function = static_cast<std::uint32_t>(1000 + i);
    return patch;
  }
  int call(std::size_t i) const {
    test_seen_site = nullptr;
    test_seen_routine = 0;
    int (*function)();
    const std::uint8_t* const entry = code_ + i * kEntry;
    std::memcpy(&function, &entry, sizeof function);
    return function();
  }
  AddressRange code() const {
    return *AddressRange::make(at(0), at(0) + static_cast<std::int64_t>(kSize));
  }

  std::uint8_t* code_;
  test::OwnProcessMapper mapper_;
  std::shared_ptr<AddressSpace> space_ = *AddressSpace::open(::getpid());
  SiteWriter writer_{space_,
                     {address_of(test_routine_enter), address_of(test_routine_find_object),
                      address_of(test_routine_iterate_phdr), address_of(test_routine_backtrace)}};
};

TEST_F(SitesOfOurOwn, go_through_the_agent_and_on_to_where_their_slots_say) {
  const std::vector<CallSitePatch> patches = {patch_of(2), patch_of(3), patch_of(30000)};

  EXPECT_TRUE(writer_.patch(patches, mapper_).empty());

  for (const std::size_t i : {2U, 3U, 30000U}) {
    EXPECT_EQ(call(i), i % 2 == 0 ? 7 : 8);
    EXPECT_EQ(test_seen_routine, 1u);
    ASSERT_NE(test_seen_site, nullptr);
    EXPECT_EQ(test_seen_site->function, 1000 + i);
    EXPECT_EQ(test_seen_site->slot, slot(i).value());
  }
  EXPECT_EQ(call(4), 7);
  EXPECT_EQ(test_seen_routine, 0u) << "a neighbour was patched";
}

TEST_F(SitesOfOurOwn, let_a_thread_out_of_their_stubs_as_if_it_had_run_on) {
  CallSitePatch patch = patch_of(2);
  patch.routine = AgentRoutine::IteratePhdr;
  ASSERT_TRUE(writer_.patch(std::vector{patch}, mapper_).empty());
  call(2);
  const TraceeAddress site = address_of(test_seen_site);
  const TraceeAddress stub = site + -static_cast<std::int64_t>(offsetof(wire::SiteStub, site));
  std::uint64_t stack[2] = {1, 2};
  const TraceeAddress sp = address_of(stack + 1);

  struct Case {
    std::int64_t offset; ///< of an instruction in the stub
    bool has_pushed;
  };
  for (const auto& [offset, has_pushed] :
       {Case{0, false}, Case{4, false}, Case{6, true}, Case{13, true}}) {
    user_regs_struct raw{};
    raw.r11 = 77;
    Registers registers(raw);
    registers.set_pc(stub + offset);
    registers.set_sp(has_pushed ? sp + -8 : sp);
    stack[0] = has_pushed ? 77 : 1;
    ASSERT_TRUE(writer_.leave_stub(registers)) << offset;
    EXPECT_EQ(registers.pc(), address_of(test_routine_iterate_phdr)) << offset;
    EXPECT_EQ(registers.raw().r11, site.value()) << offset;
    EXPECT_EQ(registers.sp(), sp + -8) << offset;
    EXPECT_EQ(stack[0], 77u) << offset;
  }
  Registers elsewhere(user_regs_struct{});
  elsewhere.set_pc(site);
  EXPECT_FALSE(writer_.leave_stub(elsewhere)) << "no instruction of the stub";
  elsewhere.set_pc(at(2));
  EXPECT_FALSE(writer_.leave_stub(elsewhere)) << "the call itself";
}

TEST_F(SitesOfOurOwn, go_to_the_routine_that_they_ask_for) {
  std::vector<CallSitePatch> patches;
  for (std::size_t i = 0; i < kAgentRoutines; ++i) {
    patches.push_back(patch_of(i));
    patches.back().routine = static_cast<AgentRoutine>(i);
  }

  EXPECT_TRUE(writer_.patch(patches, mapper_).empty());

  for (std::size_t i = 0; i < kAgentRoutines; ++i) {
    call(i);
    EXPECT_EQ(test_seen_routine, i + 1);
  }
}

TEST_F(SitesOfOurOwn, share_a_stub_where_slot_and_function_are_the_same) {
  CallSitePatch first = patch_of(0);
  // A second jump through the same slot.
  ::mprotect(code_, kSlots, PROT_READ | PROT_WRITE);
  const auto distance = static_cast<std::int32_t>(slot(0) - (at(1) + 6));
  std::memcpy(code_ + kEntry + 2, &distance, sizeof distance);
  ::mprotect(code_, kSlots, PROT_READ | PROT_EXEC);
  CallSitePatch second = patch_of(1);
  second.slot = first.slot;
  second.site.function = first.site.function;

  EXPECT_TRUE(writer_.patch(std::vector{first, second}, mapper_).empty());

  call(0);
  const wire::Site* const site = test_seen_site;
  call(1);
  EXPECT_EQ(test_seen_site, site);
  EXPECT_NE(site, nullptr);
}

TEST_F(SitesOfOurOwn, are_refused_where_the_code_is_not_what_the_file_says) {
  CallSitePatch wrong = patch_of(5);
  wrong.slot = slot(6);

  const auto lines = writer_.patch(std::vector{wrong, patch_of(7)}, mapper_);

  EXPECT_EQ(lines.size(), 1u);
  EXPECT_EQ(call(5), 8);
  EXPECT_EQ(test_seen_routine, 0u);
  call(7);
  EXPECT_EQ(test_seen_routine, 1u);
}

TEST_F(SitesOfOurOwn, are_refused_where_there_is_no_memory) {
  CallSitePatch nowhere = patch_of(5);
  nowhere.at = TraceeAddress(0x1000);

  EXPECT_EQ(writer_.patch(std::vector{nowhere}, mapper_).size(), 1u);
  EXPECT_EQ(writer_.sites(), 0u);
}

TEST_F(SitesOfOurOwn, of_another_file_are_refused_in_a_few_lines) {
  std::vector<CallSitePatch> patches;
  for (std::size_t i = 0; i < 5000; ++i) {
    patches.push_back(patch_of(i));
    patches.back().slot = slot(i + 1);
  }

  EXPECT_LT(writer_.patch(patches, mapper_).size(), 30u);
  EXPECT_EQ(writer_.sites(), 0u);
}

TEST_F(SitesOfOurOwn, get_another_stub_when_they_are_patched_again) {
  ASSERT_TRUE(writer_.patch(std::vector{patch_of(5)}, mapper_).empty());
  CallSitePatch again = patch_of(5);
  again.site.function = 99;

  EXPECT_TRUE(writer_.patch(std::vector{again}, mapper_).empty());

  EXPECT_EQ(call(5), 8);
  ASSERT_NE(test_seen_site, nullptr);
  EXPECT_EQ(test_seen_site->function, 99u);
  EXPECT_EQ(writer_.sites(), 1u);
}

TEST_F(SitesOfOurOwn, have_their_own_bytes_again_when_they_are_restored) {
  std::vector<std::uint8_t> before(code_, code_ + kSlots);
  std::vector<CallSitePatch> patches;
  for (std::size_t i = 0; i < kSlots / kEntry; i += 3)
    patches.push_back(patch_of(i));
  ASSERT_TRUE(writer_.patch(patches, mapper_).empty());
  ASSERT_NE(std::memcmp(before.data(), code_, before.size()), 0);

  writer_.restore_all();

  EXPECT_EQ(std::memcmp(before.data(), code_, before.size()), 0);
  EXPECT_EQ(writer_.sites(), 0u);
}

TEST_F(SitesOfOurOwn, are_left_alone_at_the_restoring_where_somebody_else_has_changed_them) {
  ASSERT_TRUE(writer_.patch(std::vector{patch_of(5), patch_of(6)}, mapper_).empty());
  ::mprotect(code_, kSlots, PROT_READ | PROT_WRITE);
  code_[5 * kEntry + 2] ^= 0xff;
  const std::vector<std::uint8_t> changed(code_ + 5 * kEntry, code_ + 6 * kEntry);
  ::mprotect(code_, kSlots, PROT_READ | PROT_EXEC);

  writer_.restore_all();

  EXPECT_EQ(std::memcmp(changed.data(), code_ + 5 * kEntry, changed.size()), 0);
  EXPECT_EQ(call(6), 7);
  EXPECT_EQ(test_seen_routine, 0u);
}

TEST_F(SitesOfOurOwn, of_a_module_that_comes_and_goes_take_no_more_memory_each_time) {
  std::vector<CallSitePatch> patches;
  for (std::size_t i = 0; i < 5000; ++i)
    patches.push_back(patch_of(i));
  const std::vector<std::uint8_t> before(code_, code_ + kSlots);
  std::uint64_t after_three = 0;

  for (int round = 0; round < 12; ++round) {
    ASSERT_TRUE(writer_.patch(patches, mapper_).empty());
    ASSERT_EQ(call(4999), 8);
    ASSERT_EQ(test_seen_site->function, 5999u);
    writer_.forget(code());
    // The module is loaded anew.
    ::mprotect(code_, kSlots, PROT_READ | PROT_WRITE);
    std::memcpy(code_, before.data(), before.size());
    ::mprotect(code_, kSlots, PROT_READ | PROT_EXEC);
    if (round == 3) after_three = writer_.mapped();
  }

  EXPECT_EQ(writer_.mapped(), after_three);
}

// ---- entry points
// ---------------------------------------------------------------------------------

class EntriesOfOurOwn : public SitesOfOurOwn {
protected:
  EntriesOfOurOwn() {
    // f3 0f 1e fa  endbr64
    // 31 c0        xor %eax,%eax
    // 83 c0 05     add $5,%eax
    // 01 f8        add %edi,%eax
    // c3           ret
    static constexpr std::uint8_t kFunction[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x31, 0xc0,
                                                 0x83, 0xc0, 0x05, 0x01, 0xf8, 0xc3};
    ::mprotect(code_, kSlots, PROT_READ | PROT_WRITE);
    std::memset(code_, 0xcc, kSlots);
    for (std::size_t i = 0; i < 100; ++i)
      std::memcpy(code_ + i * 32, kFunction, sizeof kFunction);
    ::mprotect(code_, kSlots, PROT_READ | PROT_EXEC);
    std::memcpy(file_.data(), code_, file_.size());
  }
  EntryPatch entry(std::size_t i) const {
    EntryPatch patch{address_of(code_ + i * 32), std::span(file_).subspan(i * 32, 32), {}};
    patch.site.function = static_cast<std::uint32_t>(2000 + i);
    return patch;
  }
  int call_function(std::size_t i, int argument) const {
    test_seen_site = nullptr;
    test_seen_routine = 0;
    int (*function)(int);
    const std::uint8_t* const begin = code_ + i * 32;
    std::memcpy(&function, &begin, sizeof function);
    return function(argument);
  }

  std::vector<std::byte> file_ = std::vector<std::byte>(100 * 32);
};

TEST_F(EntriesOfOurOwn, go_through_the_agent_and_on_in_the_function) {
  std::vector<EntryPatch> patches;
  for (std::size_t i = 0; i < 100; ++i)
    patches.push_back(entry(i));

  const auto why_not = writer_.patch_entries(patches, mapper_);

  ASSERT_EQ(why_not.size(), 100u);
  for (const auto& why : why_not)
    ASSERT_FALSE(why) << *why;
  for (const std::size_t i : {0U, 50U, 99U}) {
    EXPECT_EQ(call_function(i, 37), 42);
    EXPECT_EQ(test_seen_routine, 1u);
    ASSERT_NE(test_seen_site, nullptr);
    EXPECT_EQ(test_seen_site->function, 2000 + i);
  }
}

TEST_F(EntriesOfOurOwn, have_their_own_bytes_again_when_they_are_restored) {
  ASSERT_FALSE(writer_.patch_entries(std::vector{entry(3)}, mapper_).front());

  writer_.restore_all();

  EXPECT_EQ(std::memcmp(file_.data(), code_, file_.size()), 0);
  EXPECT_EQ(call_function(3, 1), 6);
  EXPECT_EQ(test_seen_routine, 0u);
}

TEST_F(EntriesOfOurOwn, are_refused_where_a_breakpoint_is) {
  ::mprotect(code_, kSlots, PROT_READ | PROT_WRITE);
  code_[3 * 32 + 4] = 0xcc;
  ::mprotect(code_, kSlots, PROT_READ | PROT_EXEC);

  const auto why_not = writer_.patch_entries(std::vector{entry(4), entry(3)}, mapper_);

  ASSERT_EQ(why_not.size(), 2u);
  EXPECT_FALSE(why_not[0]);
  EXPECT_TRUE(why_not[1]);
  EXPECT_EQ(writer_.entries(), 1u);
}

TEST_F(EntriesOfOurOwn, tell_where_a_thread_in_their_first_bytes_goes_on) {
  ASSERT_FALSE(writer_.patch_entries(std::vector{entry(3)}, mapper_).front());
  const TraceeAddress function = address_of(code_ + 3 * 32);

  // Behind the xor, which is within the jump now.
  const auto moved = writer_.moved_place(function + 6);

  ASSERT_TRUE(moved);
  EXPECT_EQ(writer_.original_place(*moved), function + 6);
  EXPECT_FALSE(writer_.moved_place(function)) << "it has not begun";
  EXPECT_FALSE(writer_.moved_place(address_of(code_ + 4 * 32)));
  EXPECT_FALSE(writer_.original_place(function));
}

/// Functions as a C library has them, where one jumps behind the first instruction of another, with
/// padding between; eight times the same.
class ShortEntriesOfOurOwn : public SitesOfOurOwn {
protected:
  static constexpr std::size_t kCopies = 8, kStride = 64;
  static constexpr std::size_t kIsland = 5, kBegin = 16, kOther = 32; ///< of a copy

  ShortEntriesOfOurOwn() {
    // +0   8d 47 01        lea 1(%rdi),%eax   something else, and its padding
    //      c3              ret; nop
    // +5   0f 1f 44 00 00  nopl 0(%rax,%rax)
    //      90              nop
    // +16  89 f8           mov %edi,%eax
    // +18  83 c0 05        add $5,%eax
    //      c3              ret
    // +32  89 f8           mov %edi,%eax
    //      01 f8           add %edi,%eax
    //      eb ec           jmp +18
    // Copy i adds i to what is added at +18.
    static constexpr std::uint8_t kCode[] = {
        0x8d, 0x47, 0x01, 0xc3, 0x90, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x90, 0x90, 0x90,
        0x90, 0x90, 0x90, 0x89, 0xf8, 0x83, 0xc0, 0x05, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc,
        0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0x89, 0xf8, 0x01, 0xf8, 0xeb, 0xec};
    ::mprotect(code_, kSlots, PROT_READ | PROT_WRITE);
    std::memset(code_, 0xcc, kSlots);
    for (std::size_t i = 0; i < kCopies; ++i) {
      std::memcpy(code_ + i * kStride, kCode, sizeof kCode);
      code_[i * kStride + 20] = static_cast<std::uint8_t>(5 + i);
    }
    ::mprotect(code_, kSlots, PROT_READ | PROT_EXEC);
    std::memcpy(file_.data(), code_, file_.size());
  }
  EntryPatch::Island island(std::size_t offset) const {
    return {address_of(code_ + offset), std::span(file_).subspan(offset, 5)};
  }
  EntryPatch entry(std::size_t copy, std::vector<EntryPatch::Island> islands) const {
    const std::size_t begin = copy * kStride + kBegin;
    EntryPatch patch{
        address_of(code_ + begin), std::span(file_).subspan(begin, 16), {}, std::move(islands)};
    patch.site.function = static_cast<std::uint32_t>(3000 + copy);
    return patch;
  }
  EntryPatch entry(std::size_t copy) const {
    return entry(copy, {island(copy * kStride + kIsland)});
  }
  EntryPatch numbered(EntryPatch patch, std::uint32_t function, std::uint32_t flags = 0) const {
    patch.site.function = function;
    patch.site.flags = flags;
    return patch;
  }
  int call_at(std::size_t offset, int argument) const {
    test_seen_count = 0;
    int (*function)(int);
    const std::uint8_t* const begin = code_ + offset;
    std::memcpy(&function, &begin, sizeof function);
    return function(argument);
  }
  /// The functions of the sites that a call has gone through.
  std::vector<std::uint32_t> seen() const {
    std::vector<std::uint32_t> functions;
    for (std::uint64_t i = 0; i < test_seen_count; ++i)
      functions.push_back(test_seen_sites[i & 15]->function);
    return functions;
  }
  bool is_as_it_was() const { return std::memcmp(file_.data(), code_, file_.size()) == 0; }

  using Functions = std::vector<std::uint32_t>;
  std::vector<std::byte> file_ = std::vector<std::byte>(kCopies * kStride);
};

TEST_F(ShortEntriesOfOurOwn, go_through_an_island_and_others_still_jump_behind_the_short_jump) {
  for (const auto& why : writer_.patch_entries(std::vector{entry(1), entry(2)}, mapper_))
    ASSERT_FALSE(why) << *why;

  EXPECT_EQ(call_at(kStride + kBegin, 10), 16);
  EXPECT_EQ(seen(), Functions{3001});
  EXPECT_EQ(call_at(2 * kStride + kBegin, 10), 17);
  EXPECT_EQ(seen(), Functions{3002});
  EXPECT_EQ(call_at(kStride + kOther, 10), 26);
  EXPECT_EQ(call_at(kStride, 8), 9) << "the function before the island";
  EXPECT_EQ(seen(), Functions{});
}

TEST_F(ShortEntriesOfOurOwn, take_no_island_that_another_one_has) {
  const auto first = island(kIsland), overlapping = island(kIsland + 4);
  ASSERT_FALSE(writer_.patch_entries(std::vector{entry(0, {first})}, mapper_).front());

  const auto why_not =
      writer_.patch_entries(std::vector{entry(1, {first, overlapping, island(kStride + kIsland)}),
                                        entry(2, {island(kStride + kIsland + 1)})},
                            mapper_);

  ASSERT_EQ(why_not.size(), 2u);
  EXPECT_FALSE(why_not[0]);
  EXPECT_TRUE(why_not[1]);
  EXPECT_EQ(call_at(kStride + kBegin, 10), 16);
  EXPECT_EQ(seen(), Functions{3001});
  EXPECT_EQ(call_at(kBegin, 10), 15);
  EXPECT_EQ(seen(), Functions{3000});
  EXPECT_EQ(call_at(2 * kStride + kBegin, 10), 17);
  EXPECT_EQ(seen(), Functions{});
}

TEST_F(ShortEntriesOfOurOwn, leave_the_padding_to_a_long_jump_that_needs_it) {
  // The long jump takes mov, add: five bytes, and the short one may not have its int3 behind it.
  EntryPatch whole = entry(3, {});
  const auto why_not = writer_.patch_entries(
      std::vector{entry(2, {island(3 * kStride + kBegin), island(2 * kStride + kIsland)}), whole},
      mapper_);

  EXPECT_FALSE(why_not[0]);
  EXPECT_FALSE(why_not[1]);
  EXPECT_EQ(call_at(3 * kStride + kBegin, 10), 18);
  EXPECT_EQ(seen(), Functions{3003});
  EXPECT_EQ(call_at(2 * kStride + kBegin, 10), 17);
  EXPECT_EQ(seen(), Functions{3002});
}

TEST_F(ShortEntriesOfOurOwn, have_their_own_bytes_again_when_they_are_restored) {
  std::vector<EntryPatch> patches;
  for (std::size_t i = 0; i < kCopies; ++i)
    patches.push_back(entry(i));
  for (const auto& why : writer_.patch_entries(patches, mapper_))
    ASSERT_FALSE(why) << *why;
  ASSERT_FALSE(is_as_it_was());

  writer_.restore_all();

  EXPECT_TRUE(is_as_it_was());
  EXPECT_EQ(writer_.entries(), 0u);
}

TEST_F(ShortEntriesOfOurOwn, keep_the_island_where_somebody_has_changed_the_way_to_it) {
  ASSERT_FALSE(writer_.patch_entries(std::vector{entry(1)}, mapper_).front());
  ::mprotect(code_, kSlots, PROT_READ | PROT_WRITE);
  const std::uint8_t jump = std::exchange(code_[kStride + kBegin], std::uint8_t{0xcc});
  writer_.restore_all();
  code_[kStride + kBegin] = jump;
  ::mprotect(code_, kSlots, PROT_READ | PROT_EXEC);

  EXPECT_EQ(call_at(kStride + kBegin, 10), 16);
}

TEST_F(ShortEntriesOfOurOwn, are_restored_in_a_fork_child_as_well) {
  ASSERT_FALSE(
      writer_.patch_entries(std::vector{entry(1), numbered(entry(1), 7)}, mapper_).front());
  SiteWriter child = writer_.for_child(space_); // has the same bytes

  child.restore_all();

  EXPECT_TRUE(is_as_it_was());
}

TEST_F(ShortEntriesOfOurOwn, are_free_for_others_when_they_are_forgotten) {
  std::uint64_t after_three = 0;
  for (int round = 0; round < 12; ++round) {
    std::vector<EntryPatch> patches;
    for (int copy = 0; copy < 50; ++copy)
      patches.push_back(entry(1));
    ASSERT_FALSE(writer_.patch_entries(patches, mapper_).front());
    ASSERT_EQ(call_at(kStride + kBegin, 10), 16);
    writer_.forget(code());
    ::mprotect(code_, kSlots, PROT_READ | PROT_WRITE);
    std::memcpy(code_, file_.data(), file_.size()); // the module is loaded anew
    ::mprotect(code_, kSlots, PROT_READ | PROT_EXEC);
    if (round == 3) after_three = writer_.mapped();
  }

  EXPECT_EQ(writer_.mapped(), after_three);
}

TEST_F(ShortEntriesOfOurOwn, tell_where_a_thread_in_their_first_bytes_or_the_island_is) {
  ASSERT_FALSE(writer_.patch_entries(std::vector{entry(1)}, mapper_).front());
  const TraceeAddress function = address_of(code_ + kStride + kBegin);

  EXPECT_EQ(writer_.original_place(address_of(code_ + kStride + kIsland)), function);
  EXPECT_FALSE(writer_.original_place(function));
  EXPECT_FALSE(writer_.moved_place(function + 2)) << "is the function's own";
}

// ---- several sites of one function

TEST_F(ShortEntriesOfOurOwn, have_several_sites_in_the_order_in_which_they_came) {
  for (const std::size_t copy : {1U, 4U}) { // with a short jump, and with a long one
    const EntryPatch patch = copy == 1 ? entry(copy) : entry(copy, {});
    const auto first =
        writer_.patch_entries(std::vector{numbered(patch, 1), numbered(patch, 2)}, mapper_);
    const auto then =
        writer_.patch_entries(std::vector{entry(5), numbered(patch, 3), entry(6)}, mapper_);
    for (const auto& why : first)
      EXPECT_FALSE(why) << *why;
    for (const auto& why : then)
      EXPECT_FALSE(why) << *why;

    EXPECT_EQ(call_at(copy * kStride + kBegin, 10), 15 + static_cast<int>(copy));
    EXPECT_EQ(seen(), (Functions{1, 2, 3}));
  }
  writer_.restore_all();
  EXPECT_TRUE(is_as_it_was());
}

TEST_F(ShortEntriesOfOurOwn, have_the_filtered_sites_before_the_others) {
  const auto filtered = [&](std::uint32_t number) {
    return numbered(entry(1), number, wire::kSiteFiltered);
  };
  const auto plain = [&](std::uint32_t number) { return numbered(entry(1), number); };
  for (const auto& patches :
       {std::vector{plain(1)}, std::vector{filtered(2), plain(3), filtered(4)},
        std::vector{plain(5), filtered(6)}})
    for (const auto& why : writer_.patch_entries(patches, mapper_))
      ASSERT_FALSE(why) << *why;

  EXPECT_EQ(call_at(kStride + kBegin, 10), 16);
  EXPECT_EQ(seen(), (Functions{2, 4, 6, 1, 3, 5}));
  EXPECT_EQ(writer_.entries(), 1u);
}

TEST_F(ShortEntriesOfOurOwn, get_no_more_sites_where_somebody_else_has_changed_the_jump) {
  ASSERT_FALSE(writer_.patch_entries(std::vector{entry(1)}, mapper_).front());
  ::mprotect(code_, kSlots, PROT_READ | PROT_WRITE);
  const std::uint8_t jump = std::exchange(code_[kStride + kBegin], std::uint8_t{0xcc});

  EXPECT_TRUE(writer_.patch_entries(std::vector{numbered(entry(1), 9)}, mapper_).front());

  code_[kStride + kBegin] = jump;
  ::mprotect(code_, kSlots, PROT_READ | PROT_EXEC);
  EXPECT_EQ(call_at(kStride + kBegin, 10), 16);
  EXPECT_EQ(seen(), Functions{3001});
}

// ---- sites and plans
// -------------------------------------------------------------------------------

using wire::CaptureKind;
using wire::CaptureOp;

proto::CallPlan plan_of(std::vector<CaptureOp> entry, std::vector<CaptureOp> at_return = {}) {
  proto::CallPlan plan;
  plan.at_entry = std::move(entry);
  plan.at_return = std::move(at_return);
  return plan;
}

CaptureOp value(std::uint32_t offset, std::uint8_t size = 8) {
  CaptureOp op;
  op.offset = offset;
  op.size = size;
  return op;
}

TEST(SiteOfAPlan, records_words_where_it_looks_at_nothing_else) {
  const auto site = make_site(plan_of({value(0), value(16, 4)}, {value(0)}), 5, {});

  EXPECT_EQ(site.function, 5u);
  EXPECT_EQ(site.flags, wire::kSiteEntryWords | wire::kSiteResultWords);
  EXPECT_EQ(site.entry_words, 3);
  EXPECT_EQ(site.result_words, 1);
  EXPECT_EQ(site.entry_count, 2);
}

TEST(SiteOfAPlan, of_nothing_records_no_words) {
  const auto site = make_site(plan_of({}), 5, {});

  EXPECT_EQ(site.flags, wire::kSiteEntryWords | wire::kSiteResultWords);
  EXPECT_EQ(site.entry_words, 0);
  EXPECT_EQ(site.result_words, 0);
}

TEST(SiteOfAPlan, counts_all_words_where_vectors_come_behind_them) {
  auto plan = plan_of({value(0), value(wire::kVectorWordsAt)}, {value(wire::kResultVectorAt)});
  plan.vectors_at_entry = plan.vectors_at_return = true;

  const auto site = make_site(plan, 5, {});

  EXPECT_EQ(site.flags, wire::kSiteEntryWords | wire::kSiteResultWords | wire::kSiteVectors |
                            wire::kSiteResultVectors);
  EXPECT_EQ(site.entry_words, 6);
  EXPECT_EQ(site.result_words, 2);
}

TEST(SiteOfAPlan, asks_of_words_whether_they_lead_somewhere) {
  CaptureOp reference = value(8);
  reference.kind = CaptureKind::Pointer;
  CaptureOp check = value(32);
  check.kind = CaptureKind::Check;
  check.detail = 1;
  const auto site = make_site(plan_of({reference, check, value(0)}, {reference}), 5, {});

  EXPECT_EQ(site.flags, wire::kSiteEntryWords | wire::kSiteResultWords);
  EXPECT_EQ(site.entry_words, 5);
  EXPECT_EQ(site.result_words, 2);
  EXPECT_EQ(site.probed_words, 1 << 1 | 1 << 4 | 1 << 7);
}

TEST(SiteOfAPlan, keeps_the_first_word_for_the_head_of_a_choice) {
  CaptureOp choice = value(0), reading = value(0);
  choice.kind = CaptureKind::Choice;
  choice.body = 1;
  reading.kind = CaptureKind::Reading;
  const auto site = make_site(plan_of({choice, reading}), 5, {});

  EXPECT_EQ(site.flags & wire::kSiteEntryWords, wire::kSiteEntryWords);
  EXPECT_EQ(site.entry_words, 1);
}

TEST(SiteOfAPlan, runs_the_steps_where_what_leads_somewhere_is_no_word_of_its_own) {
  for (const auto& [offset, size] :
       {std::pair{0, 4}, std::pair{4, 8}, std::pair{int{wire::kVectorWordsAt}, 8}}) {
    CaptureOp reference =
        value(static_cast<std::uint32_t>(offset), static_cast<std::uint8_t>(size));
    reference.kind = CaptureKind::Pointer;
    auto plan = plan_of({reference});
    plan.vectors_at_entry = true;
    EXPECT_EQ(make_site(plan, 5, {}).flags & wire::kSiteEntryWords, 0u) << offset << ' ' << size;
  }
}

TEST(SiteOfAPlan, runs_the_steps_where_they_look_at_the_stack_or_behind_a_pointer) {
  CaptureOp text;
  text.kind = CaptureKind::Text;
  auto printf_like = plan_of({text});
  printf_like.vectors_at_entry = printf_like.has_format = true;

  EXPECT_EQ(make_site(plan_of({value(wire::kStackWordsAt)}), 5, {}).flags & wire::kSiteEntryWords,
            0u);
  EXPECT_EQ(make_site(printf_like, 5, {}).flags,
            wire::kSiteVectors | wire::kSiteVectorsByAl | wire::kSiteResultWords);
}

TEST(SiteOfAPlan, keeps_words_and_the_x87_result_as_the_plan_says) {
  auto plan = plan_of({value(0)}, {value(wire::kResultX87At, 16)});
  plan.x87_at_return = plan.keeps_words = true;
  plan.kept_stack_words = 3;

  const auto site = make_site(plan, 5, {});

  EXPECT_EQ(site.flags, wire::kSiteEntryWords | wire::kSiteX87 | wire::kSiteKeepsWords);
  EXPECT_EQ(site.kept_stack_words, 3);
}

TEST(PlanArea, has_the_same_steps_once_and_where_it_says) {
  const auto space = *AddressSpace::open(::getpid());
  test::OwnProcessMapper mapper;
  PlanArea area(space);
  const auto first = std::make_shared<proto::CallPlan>(plan_of({value(0), value(8)}, {value(0)}));
  const auto second = std::make_shared<proto::CallPlan>(plan_of({value(0), value(8)}));

  const auto places = area.place(first, mapper);
  const auto same = area.place(second, mapper);
  ASSERT_TRUE(area.flush());

  ASSERT_TRUE(places && same);
  EXPECT_EQ(places->at_entry, same->at_entry);
  EXPECT_EQ(same->at_return, TraceeAddress(0));
  EXPECT_EQ(mapper.count(), 1u);
  CaptureOp read[2];
  ASSERT_TRUE(space->memory().read(places->at_entry, std::as_writable_bytes(std::span(read))));
  EXPECT_EQ(read[1].offset, 8u);
}

TEST(PlanArea, goes_on_in_another_mapping_when_one_is_full) {
  const auto space = *AddressSpace::open(::getpid());
  test::OwnProcessMapper mapper;
  PlanArea area(space);
  std::vector<PlanArea::Places> places;
  for (std::uint32_t i = 0; i < 10000; ++i) {
    const auto place = area.place(std::make_shared<proto::CallPlan>(plan_of({value(i)})), mapper);
    ASSERT_TRUE(place);
    places.push_back(*place);
  }
  ASSERT_TRUE(area.flush());

  for (const std::uint32_t i : {0U, 4095U, 4096U, 9999U}) {
    CaptureOp read;
    ASSERT_TRUE(
        space->memory().read(places[i].at_entry, std::as_writable_bytes(std::span(&read, 1))));
    EXPECT_EQ(read.offset, i);
  }
  EXPECT_GT(mapper.count(), 1u);
}

// ---- by name ------------------------------------------------------------------------------------

TEST(FunctionsApart, are_known_by_name) {
  EXPECT_EQ(flags_by_name("vfork", false), wire::kSiteNoReturn);
  EXPECT_EQ(flags_by_name("dlsym", false), wire::kSiteLooksAtCaller);
  EXPECT_EQ(flags_by_name("siglongjmp", false), wire::kSiteJumps);
  EXPECT_EQ(flags_by_name("siglongjmp", true), wire::kSiteJumps | wire::kSiteMuslJumps);
  EXPECT_EQ(flags_by_name("__cxa_begin_catch", true), wire::kSiteCatches);
  EXPECT_EQ(flags_by_name("puts", true), 0u);
  EXPECT_TRUE(is_never_patched("__tls_get_addr"));
  EXPECT_TRUE(is_never_patched("_dl_runtime_resolve_xsavec"));
  EXPECT_FALSE(is_never_patched("puts"));
}

ProbeModule module_of(const std::string& path) {
  ProbeModule module;
  module.bias = LoadBias::of(0x10000);
  module.parsed = std::make_shared<ParsedImage>(*elf::Image::open(path));
  return module;
}

TEST(FunctionsApart, are_hooked_in_every_module_that_calls_them) {
  const auto program = test::compile(R"(
    #include <execinfo.h>
    #include <link.h>
    #include <stdio.h>
    #include <exception>
    int main() {
      void* frames[9];
      try {
        puts("no hook");
        throw backtrace(frames, 9);
      } catch (int number) {
        return number + dl_iterate_phdr([](dl_phdr_info*, size_t, void*) { return 0; }, nullptr);
      }
    })",
                                     "c++ -o {out} {src}", ".cpp");
  ASSERT_TRUE(program.succeeded) << program.messages;
  const ProbeModule module = module_of(program.path);

  const auto hooks = hidden_hooks(module, false);

  const auto& calls = *module.parsed->calls();
  std::vector<std::string> seen;
  for (const auto& hook : hooks) {
    EXPECT_NE(hook.site.flags & wire::kSiteSilent, 0u);
    for (const auto& call : calls.sites)
      if (module.bias.to_tracee(call.at) == hook.at)
        seen.push_back(std::string(calls.imports[call.import].name) + " " +
                       std::to_string(static_cast<int>(hook.routine)));
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen,
            (std::vector<std::string>{"__cxa_begin_catch 0", "backtrace 3", "dl_iterate_phdr 2"}));
}

TEST(FunctionsApart, give_the_other_unwinder_tables_of_its_own) {
  std::string path; // of the libunwind that this program is linked to
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* into) {
        const std::string name = info->dlpi_name;
        if (name.find("/libunwind.so") == std::string::npos) return 0;
        *static_cast<std::string*>(into) = name;
        return 1;
      },
      &path);
  if (path.empty()) GTEST_SKIP() << "libunwind is linked statically";

  const auto hooks = hidden_hooks(module_of(path), false);

  ASSERT_FALSE(hooks.empty());
  EXPECT_EQ(hooks.front().routine, AgentRoutine::IteratePhdr);
  EXPECT_EQ(hooks.front().site.unwind_table, kThunkUnwindForNongnuAt);
}

TEST(FunctionsApart, a_hook_joins_the_recorded_site_of_the_same_place) {
  std::vector<CallSitePatch> sites(2);
  sites[0].at = TraceeAddress(16);
  sites[0].site.function = 3;
  sites[1].at = TraceeAddress(32);
  std::vector<CallSitePatch> hooks(3);
  hooks[0].at = TraceeAddress(16);
  hooks[0].site.flags = wire::kSiteCatches | wire::kSiteSilent;
  hooks[1].at = TraceeAddress(32);
  hooks[1].routine = AgentRoutine::Backtrace;
  hooks[2].at = TraceeAddress(48);

  add_hooks(sites, hooks);

  ASSERT_EQ(sites.size(), 3u);
  EXPECT_EQ(sites[0].site.function, 3u);
  EXPECT_EQ(sites[0].site.flags, wire::kSiteCatches);
  EXPECT_EQ(sites[1].routine, AgentRoutine::Backtrace);
}

} // namespace
} // namespace sonictrace
