#include "engine/inline/thunk_template.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

#include "sonictrace/wire/agent_abi.hpp"

// Return thunks are run here, in the test's own process, by an agent of two routines.
//
// call_by_thunk(thunk, entry): what the agent does for a call: its return address goes into the
// entry, and the thunk calls the target. The stack is as the caller left it.
// test_thunk_exit: what it does at the return.
extern "C" int call_by_thunk(const void* thunk, sonictrace::wire::AgentEntry* entry);
extern "C" void test_thunk_exit();
asm(R"(
  .text
  .globl call_by_thunk, test_thunk_exit
call_by_thunk:
  .cfi_startproc
  pop (%rsi)
  jmp *%rdi
  .cfi_endproc
test_thunk_exit:
  jmp *(%r11)
)");

extern "C" void __register_frame(void*);
extern "C" void __deregister_frame(void*);

namespace {

std::byte* unwind_page = nullptr;

} // namespace

// What the agent does for the libunwind of nongnu.org, which this program may have for its
// exceptions: tables of the thunks are one more module. The unwinder of libgcc is told by
// __register_frame. (Where the program is built with ASan, that asks for the modules before it can
// check an access.)
extern "C" __attribute__((no_sanitize("address", "undefined"))) int
dl_iterate_phdr(int (*callback)(dl_phdr_info*, std::size_t, void*), void* data) {
  const auto next =
      reinterpret_cast<decltype(&dl_iterate_phdr)>(::dlsym(RTLD_NEXT, "dl_iterate_phdr"));
  if (const int result = next(callback, data); result != 0 || unwind_page == nullptr) return result;
  std::byte* const tables = unwind_page + sonictrace::kThunkUnwindForNongnuAt;
  dl_phdr_info info{};
  info.dlpi_addr = reinterpret_cast<std::uintptr_t>(tables);
  info.dlpi_name = "thunks";
  info.dlpi_phdr = reinterpret_cast<const Elf64_Phdr*>(tables + sonictrace::kThunkProgramHeadersAt);
  info.dlpi_phnum = sonictrace::kThunkProgramHeaders;
  info.dlpi_adds = 1;
  return callback(&info, sizeof info, data);
}

namespace sonictrace {
namespace {

using wire::AgentEntry;

/// A region of two groups, the second one's code made as the agent makes it.
class Thunks {
public:
  static constexpr std::size_t kGroups = 2;

  Thunks() {
    const auto code =
        make_thunk_template(TraceeAddress(reinterpret_cast<std::uint64_t>(&test_thunk_exit)));
    file_ = ::memfd_create("thunks", MFD_CLOEXEC);
    EXPECT_EQ(::write(file_, code.data(), code.size()), static_cast<ssize_t>(code.size()));
    constexpr std::size_t kSize = (kGroups + 1) * wire::kGroupStride + kThunkUnwindSize;
    const auto base = reinterpret_cast<std::uint64_t>(
        ::mmap(nullptr, kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    region_ = (base + kThunkUnwindSize + wire::kGroupStride - 1) & -wire::kGroupStride;
    // As a template is mapped, and duplicated by mremap(2) of no bytes.
    void* const first =
        ::mmap(at(0), wire::kGroupCode, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, file_, 0);
    EXPECT_EQ(first, at(0));
    void* const second =
        ::mremap(first, 0, wire::kGroupCode, MREMAP_MAYMOVE | MREMAP_FIXED, at(wire::kGroupStride));
    EXPECT_EQ(second, at(wire::kGroupStride)) << std::strerror(errno);
    for (std::size_t group = 0; group < kGroups; ++group)
      ::mmap(at(group * wire::kGroupStride + wire::kGroupCode), wire::kGroupEntries,
             PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    const auto unwind =
        make_thunk_unwind_page(TraceeAddress(region_), kGroups * wire::kGroupStride);
    page_ = static_cast<std::byte*>(::mmap(at(0) - kThunkUnwindSize, kThunkUnwindSize,
                                           PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
    std::memcpy(page_, unwind.data(), unwind.size());
    __register_frame(page_ + kThunkEhFrameAt);
    unwind_page = page_;
  }
  ~Thunks() {
    unwind_page = nullptr;
    __deregister_frame(page_ + kThunkEhFrameAt);
    ::munmap(page_, kThunkUnwindSize + kGroups * wire::kGroupStride);
    ::close(file_);
  }

  std::byte* at(std::size_t offset) const { return reinterpret_cast<std::byte*>(region_ + offset); }
  const std::byte* thunk(std::size_t group, std::size_t index) const {
    return at(group * wire::kGroupStride + index * wire::kThunkSize);
  }
  AgentEntry& entry(std::size_t group, std::size_t index) const {
    return reinterpret_cast<AgentEntry*>(at(group * wire::kGroupStride + wire::kGroupCode))[index];
  }
  int call(std::size_t group, std::size_t index, int (*function)()) const {
    AgentEntry& called = entry(group, index);
    called.target = reinterpret_cast<std::uint64_t>(function);
    return call_by_thunk(thunk(group, index), &called);
  }
  const std::byte* page() const { return page_; }

private:
  int file_ = -1;
  std::uint64_t region_ = 0;
  std::byte* page_ = nullptr;
};

int give_forty_two() { return 42; }
int throw_forty_three() { throw std::runtime_error("43"); }

TEST(ReturnThunks, call_the_target_and_come_back_from_each_end_of_each_group) {
  const Thunks thunks;

  for (const std::size_t group : {0U, 1U})
    for (const std::size_t index : {std::size_t{1}, std::size_t{777}, wire::kEntriesOfGroup - 1})
      EXPECT_EQ(thunks.call(group, index, give_forty_two), 42) << group << ' ' << index;
}

TEST(ReturnThunks, the_return_address_of_their_call_is_where_the_contract_says) {
  static const std::byte* seen = nullptr;
  struct Callee { // no lambda: that may have a frame between
    static int run() {
      seen = static_cast<const std::byte*>(__builtin_return_address(0));
      return 0;
    }
  };
  const Thunks thunks;

  thunks.call(1, 5, Callee::run);

  EXPECT_EQ(seen, thunks.thunk(1, 5) + wire::kThunkReturnsAt);
}

// The caller itself catches, which is where unwinders confuse frames of one CFA.
TEST(ReturnThunks, an_exception_passes_them_to_the_caller) {
  const Thunks thunks;

  for (const std::size_t group : {0U, 1U})
    for (const std::size_t index : {std::size_t{1}, std::size_t{4321}, wire::kEntriesOfGroup - 1}) {
      std::string caught;
      try {
        thunks.call(group, index, throw_forty_three);
      } catch (const std::runtime_error& error) { caught = error.what(); }
      EXPECT_EQ(caught, "43") << group << ' ' << index;
    }
}

TEST(ReturnThunks, an_exception_passes_many_of_them_and_runs_destructors_between) {
  static const Thunks* all = nullptr;
  static int destroyed = 0;
  struct Counter {
    ~Counter() { ++destroyed; }
  };
  struct Level {
    static int down() {
      static std::size_t depth = 0;
      const Counter counter;
      if (++depth == 50) throw_forty_three();
      return all->call(depth % 2, 100 + depth, down);
    }
  };
  const Thunks thunks;
  all = &thunks;
  destroyed = 0;

  EXPECT_THROW(thunks.call(0, 1, Level::down), std::runtime_error);

  EXPECT_EQ(destroyed, 50);
}

TEST(ReturnThunks, both_tables_program_headers_cover_page_and_region_and_name_the_table) {
  const Thunks thunks;

  for (const std::size_t tables : {std::size_t{0}, kThunkUnwindForNongnuAt}) {
    Elf64_Phdr headers[kThunkProgramHeaders];
    std::memcpy(headers, thunks.page() + tables + kThunkProgramHeadersAt, sizeof headers);
    EXPECT_EQ(headers[0].p_type, static_cast<Elf64_Word>(PT_LOAD));
    EXPECT_EQ(headers[0].p_vaddr, 0u);
    EXPECT_EQ(thunks.page() + tables + headers[0].p_memsz, thunks.thunk(Thunks::kGroups, 0));
    EXPECT_EQ(headers[1].p_type, static_cast<Elf64_Word>(PT_GNU_EH_FRAME));
    EXPECT_EQ(headers[1].p_vaddr, 0u);
  }
}

TEST(ReturnThunks, both_search_tables_lead_to_the_one_function) {
  const Thunks thunks;

  for (const std::size_t tables : {std::size_t{0}, kThunkUnwindForNongnuAt}) {
    const std::byte* const begin = thunks.page() + tables;
    const auto word = [&](std::size_t offset) {
      std::int32_t value;
      std::memcpy(&value, begin + offset, sizeof value);
      return value;
    };
    EXPECT_EQ(word(4) + 4, static_cast<std::int32_t>(kThunkEhFrameAt)); // relative to itself
    EXPECT_EQ(word(8), 1);
    EXPECT_EQ(begin + word(12), thunks.thunk(0, 0));
    std::uint64_t function;
    std::memcpy(&function, begin + word(16) + 8, sizeof function);
    EXPECT_EQ(function, reinterpret_cast<std::uint64_t>(thunks.thunk(0, 0)));
  }
}

TEST(ReturnThunks, nothing_can_be_run_in_the_place_of_thunk_0) {
  const auto code = make_thunk_template(TraceeAddress(0x1234));

  EXPECT_EQ(code.size(), wire::kGroupCode);
  EXPECT_EQ(code[0], std::byte{0xcc});
  EXPECT_EQ(code[wire::kThunkSize], std::byte{0xff});
}

} // namespace
} // namespace sonictrace
