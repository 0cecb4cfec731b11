#include "sonictrace/arch/syscall_names.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace sonictrace {
namespace {

/// The `#define __NR_name number` lines of a header of this system.
std::map<std::uint64_t, std::string> numbers_of(const std::string& header) {
  std::map<std::uint64_t, std::string> numbers;
  for (const auto* directory : {"/usr/include/x86_64-linux-gnu/asm/", "/usr/include/asm/"}) {
    std::ifstream file(directory + header);
    const std::regex definition("#define __NR_(\\w+) (\\d+)");
    std::smatch found;
    for (std::string line; std::getline(file, line);)
      if (std::regex_search(line, found, definition)) numbers[std::stoul(found[2])] = found[1];
  }
  return numbers;
}

struct Header {
  const char* file;
  Machine machine;
};

class SyscallNames : public testing::TestWithParam<Header> {};

TEST_P(SyscallNames, are_those_of_the_systems_header) {
  const auto numbers = numbers_of(GetParam().file);
  if (numbers.empty()) GTEST_SKIP() << "no kernel headers here";

  for (const auto& [number, name] : numbers)
    EXPECT_EQ(known_syscall(GetParam().machine, number), name) << number;
  // And none that it lacks, below its own end, but for those that are younger than it.
  for (std::uint64_t number = 0; number < numbers.rbegin()->first; ++number) {
    const auto name = known_syscall(GetParam().machine, number);
    if (numbers.contains(number) || name == "uretprobe" || name == "uprobe") continue;
    EXPECT_EQ(name, "") << number;
  }
}

TEST_P(SyscallNames, are_unique) {
  std::map<std::string_view, std::uint64_t> seen;
  for (std::uint64_t number = 0; number < 600; ++number) {
    const auto name = known_syscall(GetParam().machine, number);
    if (name.empty()) continue;
    EXPECT_TRUE(seen.emplace(name, number).second) << name << " " << number;
  }
}

INSTANTIATE_TEST_SUITE_P(Headers, SyscallNames,
                         testing::Values(Header{"unistd_64.h", Machine::X86_64},
                                         Header{"unistd_32.h", Machine::I386}),
                         [](const auto& tested) {
                           return std::string(tested.param.file).substr(7, 2);
                         });

TEST(SyscallNames, reach_to_the_last_call_of_linux_6_18) {
  EXPECT_EQ(known_syscall(Machine::X86_64, 334), "rseq");
  EXPECT_EQ(known_syscall(Machine::X86_64, 424), "pidfd_send_signal");
  EXPECT_EQ(known_syscall(Machine::X86_64, 451), "cachestat");
  EXPECT_EQ(known_syscall(Machine::I386, 462), "mseal");
  EXPECT_EQ(known_syscall(Machine::X86_64, 469), "file_setattr");
  EXPECT_EQ(known_syscall(Machine::X86_64, 470), "");
}

TEST(SyscallNames, of_unknown_numbers_are_the_number) {
  EXPECT_EQ(syscall_name(Machine::X86_64, 0x1ff), "syscall_0x1ff");
  EXPECT_EQ(syscall_name(Machine::X86_64, 400), "syscall_0x190");
  EXPECT_EQ(syscall_name(Machine::X86_64, ~std::uint64_t{0}), "syscall_0xffffffffffffffff");
  EXPECT_EQ(syscall_name(Machine::I386, 222), "syscall_0xde");
}

TEST(SyscallNames, are_ltraces_where_it_is_stood_in_for) {
  EXPECT_EQ(ltrace_syscall_name(Machine::X86_64, 17), "pread");
  EXPECT_EQ(ltrace_syscall_name(Machine::X86_64, 257), "openat");
  EXPECT_EQ(ltrace_syscall_name(Machine::X86_64, 262), "newfstatat");
  EXPECT_EQ(ltrace_syscall_name(Machine::X86_64, 311), "process_vm_writev");
  EXPECT_EQ(ltrace_syscall_name(Machine::X86_64, 318), "318");
  EXPECT_EQ(ltrace_syscall_name(Machine::X86_64, 334), "334");
}

} // namespace
} // namespace sonictrace
