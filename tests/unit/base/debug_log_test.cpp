#include "sonictrace/base/debug_log.hpp"

#include <gtest/gtest.h>

namespace sonictrace {
namespace {

TEST(DebugLog, takes_its_mask_in_octal) {
  EXPECT_EQ(DebugLog::parse("0"), DebugLog());
  EXPECT_EQ(DebugLog::parse("10"), DebugLog(DebugLog::Processes));
  EXPECT_EQ(DebugLog::parse("011"), DebugLog(DebugLog::Stops | DebugLog::Processes));
  for (const char* wrong : {"", "9", "x", "1 ", "0x1", "-1", "77777777777777777777"})
    EXPECT_EQ(DebugLog::parse(wrong), std::nullopt) << wrong;
}

TEST(DebugLog, says_what_was_asked_for_on_stderr_and_nothing_else) {
  const DebugLog log(DebugLog::Modules | DebugLog::Stops);
  testing::internal::CaptureStderr();

  log.say(DebugLog::Modules, "{} at {:#x}", "libc.so.6", 4096);
  log.say(DebugLog::Probes, "{}", "a probe");
  DebugLog().say(DebugLog::Modules, "{}", "nobody asked");

  EXPECT_EQ(testing::internal::GetCapturedStderr(), "sonictrace: debug: libc.so.6 at 0x1000\n");
}

TEST(DebugLog, explains_every_bit_of_its_mask) {
  for (const char* bit : {"   1 ", "   2 ", "   4 ", "  10 "})
    EXPECT_NE(DebugLog::help().find(bit), std::string::npos) << bit;
}

} // namespace
} // namespace sonictrace
