#include "cli/ltrace_errors.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

namespace sonictrace {
namespace {

TEST(LtraceErrors, are_its_own_words) {
  SessionOptions options;
  options.command = {"./prog", "x"};
  options.user = "nobody-there";
  const std::string pid = std::to_string(::getpid());
  const std::string end = "failed to initialize process " + pid +
                          ": No such file or directory\n"
                          "couldn't open program './prog': No such file or directory\n";
  struct Case {
    LaunchFault fault;
    int reason;
    std::string expected;
  };
  const Case cases[] = {
      {LaunchFault::NotFound, ENOENT, "Can't execute `./prog': No such file or directory\n" + end},
      {LaunchFault::NotExecutable, EACCES, "Can't execute `./prog': Permission denied\n" + end},
      {LaunchFault::NotElf, 0, "\"/x/prog\" is not an ELF file\n"},
      {LaunchFault::WrongMachine, 0, "\"/x/prog\" is ELF from incompatible architecture\n"},
      {LaunchFault::NotDynamic, 0,
       "Couldn't find .dynsym or .dynstr in \"/proc/" + pid + "/exe\"\n"},
      {LaunchFault::NoSuchUser, 0, "cannot find user `nobody-there'\n" + end},
      {LaunchFault::NoRightToBecome, 0, "you must be root to use the -u option\n" + end},
      {LaunchFault::Other, 0, "sonictrace: what it is\n"},
  };
  for (const Case& one : cases)
    EXPECT_EQ(
        as_ltrace({Error::saying("what it is"), 1, one.fault, one.reason, "/x/prog"}, options),
        one.expected);
  EXPECT_EQ(as_ltrace(RefusedAttach{77, EPERM}),
            "Cannot attach to pid 77: Operation not permitted\n");
}

TEST(LtraceErrors, have_no_column) {
  EXPECT_EQ(without_column("a.conf:1:10: error: what"), "a.conf:1: error: what");
  EXPECT_EQ(without_column("a.conf:1: error: what"), "a.conf:1: error: what");
  EXPECT_EQ(without_column("a:2:3: error: x: error: y"), "a:2: error: x: error: y");
  EXPECT_EQ(without_column("error: no place"), "error: no place");
  EXPECT_EQ(without_column(": error: x"), ": error: x");
}

} // namespace
} // namespace sonictrace
