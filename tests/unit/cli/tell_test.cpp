#include "cli/tell.hpp"

#include <gtest/gtest.h>

namespace sonictrace {
namespace {

TEST(Printable, leaves_nothing_that_acts_on_a_terminal) {
  EXPECT_EQ(printable("a\nb c\n"), "a\nb c\n");
  EXPECT_EQ(printable("\033[2J\r\a\t\x7f"), "\\033[2J\\015\\007\\011\\177");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\000");
  EXPECT_EQ(printable("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f") << "UTF-8 stays";
  EXPECT_EQ(printable("\xc2\x9b"
                      "1m"),
            "\\302\\233"
            "1m")
      << "U+009B is a control";
  EXPECT_EQ(printable("\xc2"), "\xc2");
}

} // namespace
} // namespace sonictrace
