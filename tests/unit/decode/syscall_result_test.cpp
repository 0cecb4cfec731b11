#include "sonictrace/decode/syscall_result.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

namespace sonictrace {
namespace {

std::string error_of(std::int64_t result) {
  std::string text;
  return append_syscall_error(text, result) ? text : "none";
}

TEST(SyscallResult, names_errors_as_strace_does) {
  EXPECT_EQ(error_of(-ENOENT), "-1 ENOENT (No such file or directory)");
  EXPECT_EQ(error_of(-EAGAIN), "-1 EAGAIN (Resource temporarily unavailable)");
  EXPECT_EQ(error_of(-512), "? ERESTARTSYS (To be restarted if SA_RESTART is set)");
  EXPECT_EQ(error_of(-513), "? ERESTARTNOINTR (To be restarted)");
  EXPECT_EQ(error_of(-514), "? ERESTARTNOHAND (To be restarted if no handler)");
  EXPECT_EQ(error_of(-516), "? ERESTART_RESTARTBLOCK (Interrupted by signal)");
}

TEST(SyscallResult, keeps_numbers_without_a_name) {
  EXPECT_EQ(error_of(-41), "-1 (errno 41)");
  EXPECT_EQ(error_of(-4095), "-1 (errno 4095)");
}

TEST(SyscallResult, leaves_other_results_alone) {
  for (const std::int64_t result :
       {std::int64_t{0}, std::int64_t{3}, std::int64_t{-4096}, INT64_MIN})
    EXPECT_EQ(error_of(result), "none") << result;
}

TEST(SyscallResult, has_the_c_librarys_texts) {
  for (int number = 1; number <= EHWPOISON; ++number) {
    if (number == 41 || number == 58) continue; // there is no such error
    EXPECT_NE(error_of(-number).find(std::string("(") + std::strerror(number) + ")"),
              std::string::npos)
        << number << ": " << error_of(-number);
    EXPECT_NE(error_of(-number).find(strerrorname_np(number)), std::string::npos)
        << number << ": " << error_of(-number);
  }
}

} // namespace
} // namespace sonictrace
