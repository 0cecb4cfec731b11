#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "support/log_fixture.hpp"

namespace sonictrace {
namespace {

/// `int store(int, +int*, int)`, and where its out parameter points to.
struct Store {
  static constexpr std::uint64_t kPlace = 0x5000;
  explicit Store(RecordBuilder& builder)
      : build(builder), function(builder.function("int store(int, +int*, int);")) {
    set(0);
  }
  void set(char value) { build.memory.map(kPlace, std::string(1, value) + std::string(3, '\0')); }
  void enter(pid_t tid) { build.enter(tid, function, {1, kPlace, 3}); }

  RecordBuilder& build;
  FunctionId function;
};

TEST(WholeForm, shows_an_out_parameter_as_it_is_at_the_return) {
  LogFixture t(whole_form());
  Store store(t.build);
  store.enter(1);
  store.set(42);
  t.build.leave(1, 0);

  EXPECT_EQ(t.finished(), "store(1, 42, 3)                                  = 0\n");
}

TEST(WholeForm, shows_the_pointer_of_an_out_parameter_that_was_never_filled) {
  LogFixture t(whole_form());
  Store store(t.build);
  store.enter(1);
  t.build.unwind(1);
  store.enter(1);

  EXPECT_EQ(t.finished(), "store(1, 0x5000, 3)                              = <unwound>\n"
                          "store(1, 0x5000, 3 <no return ...>\n");
}

TEST(SplitForm, completes_a_line_with_the_arguments_from_the_first_out_parameter_on) {
  LogFixture t(split_form(), false, Buffering::Immediate);
  Store store(t.build);
  store.enter(1);
  EXPECT_EQ(t.visible(), "store(1");
  store.set(42);
  t.build.leave(1, 0);

  EXPECT_EQ(t.finished(), "store(1, 42, 3)                                  = 0\n");
}

TEST(SplitForm, resumes_with_the_arguments_from_the_first_out_parameter_on) {
  LogFixture t(split_form());
  Store store(t.build);
  store.enter(1);
  t.build.call(2, t.build.function("int f();"));
  store.set(42);
  t.build.leave(1, 0);

  EXPECT_EQ(t.finished(), R"(store(1 <unfinished ...>
f()                                              = 0
<... store resumed> , 42, 3)                     = 0
)");
}

TEST(SplitForm, resumes_with_all_arguments_where_the_first_is_an_out_parameter) {
  LogFixture t(split_form());
  auto& b = t.build;
  b.memory.map(0x6000, std::string("\x07\0\0\0\0\0\0\0", 8));
  b.enter(1, b.function("int pthread_create(+ulong*, addr);"), {0x6000, 0x10});
  b.signal(1, SIGUSR1);
  b.leave(1, 0);

  EXPECT_EQ(t.finished(), R"(pthread_create( <unfinished ...>
--- SIGUSR1 (User defined signal 1) ---
<... pthread_create resumed> 7, 0x10)            = 0
)");
}

TEST(SplitForm, shows_out_parameters_of_a_child_that_returns_from_its_parents_call) {
  LogFixture t(split_form());
  Store store(t.build);
  t.build.thread(10, true);
  store.enter(10);
  t.build.fork(10, 11);
  store.set(9);
  t.build.leave(11, 0);
  t.build.leave(10, 11);

  EXPECT_EQ(t.finished(), R"(store(1 <unfinished ...>
<... store resumed> , 9, 3)                      = 0
<... store resumed> , 9, 3)                      = 11
)");
}

TEST(SystemCall, is_marked_as_one) {
  LogFixture t(split_form());
  auto& b = t.build;
  b.call(1, b.syscall("long close(int);"), {3}, 0);
  b.enter(1, b.syscall("long wait4(int);"), {7});
  b.call(2, b.syscall("long close(int);"), {4}, 0);
  b.leave(1, 7);

  EXPECT_EQ(t.finished(), R"(close@SYS(3)                                     = 0
wait4@SYS(7 <unfinished ...>
close@SYS(4)                                     = 0
<... wait4 resumed> )                            = 7
)");
}

TEST(SystemCall, is_named_as_ltrace_does) {
  LogFixture t(ltrace_form());
  auto& b = t.build;
  b.enter(1, b.syscall("long wait4(int);"), {7});
  b.call(2, b.syscall("long access(addr);"), {0x1000}, static_cast<std::uint64_t>(-2));
  b.leave(1, 7);
  b.call(1, b.syscall("long SYS_318();"), {}, 0);

  EXPECT_EQ(t.finished(), R"(SYS_wait4(7 <unfinished ...>
SYS_access(0x1000)                               = -2
<... SYS_wait4 resumed> )                        = 7
SYS_318()                                        = 0
)");
}

TEST(SystemCall, says_its_error_by_name) {
  LogFixture t(whole_form());
  auto& b = t.build;
  b.call(1, b.syscall("long access(addr);"), {0x1000}, static_cast<std::uint64_t>(-2));
  b.call(1, b.syscall("int close(int);"), {9}, static_cast<std::uint32_t>(-9));
  b.call(1, b.function("int access(addr);"), {0x1000}, static_cast<std::uint32_t>(-2));

  EXPECT_EQ(t.finished(),
            "access@SYS(0x1000)                               = -1 ENOENT (No such file or "
            "directory)\n"
            "close@SYS(9)                                     = -1 EBADF (Bad file descriptor)\n"
            "access(0x1000)                                   = -2\n");
}

TEST(SystemCall, is_in_no_module_and_counts_as_a_function_of_its_own) {
  TextOptions options = whole_form();
  options.closing_lines = true;
  options.show_caller = true;
  LogFixture t(options, true);
  auto& b = t.build;
  const auto libc = b.module("libc.so.6"), prog = b.module("prog");
  b.call(1, b.function("long close(int);", {libc, prog}), {3}, 0);
  b.call(1, b.syscall("long close(int);"), {3}, 0);

  const std::string log = t.finished();
  EXPECT_EQ(log, "prog->close(3)                                   = 0\n"
                 "close@SYS(3)                                     = 0\n"
                 "+++ close is in libc.so.6 +++\n" +
                     t.sink.closing_line() + "\n");
  EXPECT_NE(t.sink.closing_line().find(", 2 functions, "), std::string::npos);
}

TEST(Banner, is_a_remark_in_the_first_line) {
  TextOptions options = whole_form();
  options.banner = "tracing 7 (service)";
  LogFixture t(options);
  t.build.thread(7, true);
  t.build.thread(8);

  EXPECT_EQ(t.finished(), "+++ tracing 7 (service) +++\n");
}

} // namespace
} // namespace sonictrace
