#include "session/listed_libraries.hpp"

#include <gtest/gtest.h>

namespace sonictrace {
namespace {

TEST(ParseLibraryList, takes_the_paths_of_glibcs_list) {
  EXPECT_EQ(parse_library_list("\tlinux-vdso.so.1 (0x00007ffd3a5f2000)\n"
                               "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f2a1c000000)\n"
                               "\t/lib64/ld-linux-x86-64.so.2 (0x00007f2a1c3b1000)\n"),
            (std::vector<std::string>{"/lib/x86_64-linux-gnu/libc.so.6",
                                      "/lib64/ld-linux-x86-64.so.2"}));
}

TEST(ParseLibraryList, takes_the_paths_of_musls_list) {
  EXPECT_EQ(parse_library_list("\t/lib/ld-musl-x86_64.so.1 (0x7f1c0)\n"
                               "\tlibc.so => /lib/ld-musl-x86_64.so.1 (0x7f1c0)\n"),
            (std::vector<std::string>{"/lib/ld-musl-x86_64.so.1", "/lib/ld-musl-x86_64.so.1"}));
}

TEST(ParseLibraryList, passes_over_what_was_not_found_and_other_text) {
  EXPECT_TRUE(parse_library_list("\tlibnone.so => not found\n\tstatically linked\n\n").empty());
}

TEST(ParseLibraryList, keeps_blanks_and_parentheses_in_a_path) {
  EXPECT_EQ(parse_library_list("\tlibx.so => /opt/my (0x1) libs/libx.so (0x7f1c0)\n"),
            (std::vector<std::string>{"/opt/my (0x1) libs/libx.so"}));
}

TEST(ListLibraries, lists_what_a_program_of_this_machine_needs_without_running_it) {
  const auto libraries = list_libraries("/lib64/ld-linux-x86-64.so.2", "/bin/sh");
  ASSERT_TRUE(libraries) << libraries.error().message();
  ASSERT_FALSE(libraries->empty());
  EXPECT_NE(libraries->front().find("libc.so.6"), std::string::npos);
}

TEST(ListLibraries, fails_on_a_file_that_is_no_program) {
  const auto libraries = list_libraries("/lib64/ld-linux-x86-64.so.2", "/etc/passwd");
  ASSERT_FALSE(libraries);
  EXPECT_NE(libraries.error().message().find("/etc/passwd"), std::string::npos);
}

} // namespace
} // namespace sonictrace
