#include "sonictrace/sink/json_sink.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <string>

#include "sink_fixture.hpp"

namespace sonictrace {
namespace {

using Fixture = SinkFixture<JsonSink>;

JsonOptions plain() {
  JsonOptions options;
  options.host = "here";
  options.summary = false;
  return options;
}

/// What the objects of these tests begin with, at so many microseconds.
std::string head(const std::string& kind, int pid, int tid, int microseconds) {
  const std::string us = std::to_string(1'000'000 + microseconds).substr(1);
  return R"({"v":1,"kind":")" + kind + R"(","host":"here","pid":)" + std::to_string(pid) +
         R"(,"tid":)" + std::to_string(tid) + R"(,"time":"2026-11-30T03:26:58.)" + us +
         R"(000Z","time_ns":1796009218)" + us + "000";
}

TEST(JsonSink, writes_a_call_at_its_return) {
  Fixture t(plain());
  auto& b = t.build;
  const auto libc = b.module("libc.so.6"), prog = b.module("prog");
  b.enter(7, b.function("int strcmp(string, string);", {libc, prog}),
          {b.memory.text("a\"b"), b.memory.text("c")});
  b.leave(7, static_cast<std::uint32_t>(-2));

  EXPECT_EQ(t.finished(), head("call", 7, 7, 0) +
                              R"(,"module":"libc.so.6","caller":"prog","name":"strcmp",)"
                              R"("mangled":"strcmp","args":["a\"b","c"],"result":-2,)"
                              R"("duration_ns":1000,"depth":1,"state":"returned"})"
                              "\n");
}

TEST(JsonSink, has_the_name_demangled_and_mangled) {
  Fixture t(plain());
  t.build.call(7, t.build.function("void _ZN1g1hEv();"));

  const std::string log = t.finished();
  EXPECT_NE(log.find(R"("module":null,"caller":null,"name":"g::h","mangled":"_ZN1g1hEv",)"
                     R"("args":[],"result":null,)"),
            std::string::npos)
      << log;
}

TEST(JsonSink, follows_a_function_that_is_bound_late) {
  Fixture t(plain());
  auto& b = t.build;
  const auto libc = b.module("libc.so.6");
  const auto f = b.function("int f();");
  b.call(1, f);
  b.rebind(f, libc);
  b.call(1, f);

  const std::string log = t.finished();
  EXPECT_LT(log.find(R"("module":null)"), log.find(R"("module":"libc.so.6")"));
  EXPECT_NE(log.find(R"("module":"libc.so.6")"), std::string::npos);
}

TEST(JsonSink, says_how_a_call_ended) {
  Fixture t(plain());
  auto& b = t.build;
  const auto f = b.function("int f(int);");
  b.thread(7, true);
  b.enter(7, f, {1});
  b.unwind(7);
  b.enter(7, f, {2});
  b.killed(7, SIGKILL);

  EXPECT_EQ(t.finished(), head("thread", 7, 7, 0) + "}\n" + head("call", 7, 7, 0) +
                              R"(,"module":null,"caller":null,"name":"f","mangled":"f",)"
                              R"("args":[1],"result":null,"duration_ns":1000,"depth":1,)"
                              R"("state":"unwound"})"
                              "\n" +
                              head("call", 7, 7, 2) +
                              R"(,"module":null,"caller":null,"name":"f","mangled":"f",)"
                              R"("args":[2],"result":null,"duration_ns":null,"depth":1,)"
                              R"("state":"open"})"
                              "\n" +
                              head("exit", 7, 7, 3) +
                              R"(,"status":null,"signal":"SIGKILL","whole_process":true})"
                              "\n");
}

TEST(JsonSink, writes_system_calls_with_their_errors_by_name) {
  Fixture t(plain());
  auto& b = t.build;
  b.call(7, b.syscall("int close(int);"), {99}, static_cast<std::uint32_t>(-9));

  const std::string log = t.finished();
  EXPECT_TRUE(log.starts_with(R"({"v":1,"kind":"syscall",)")) << log;
  EXPECT_NE(log.find(R"("name":"close","mangled":"close","args":[99],"result":-1,)"
                     R"("error":"EBADF","duration_ns":1000)"),
            std::string::npos)
      << log;
}

TEST(JsonSink, writes_events) {
  Fixture t(plain());
  auto& b = t.build;
  b.thread_of(7, 8);
  b.signal(8, SIGUSR1);
  b.exec(8);
  b.remark("a \"remark\"");
  b.exited(8, 3);

  EXPECT_EQ(t.finished(),
            head("thread", 7, 8, 0) + "}\n" + head("signal", 7, 8, 0) +
                R"(,"signal":"SIGUSR1","number":10,"instruction":"0x7fa5d0c69eec"})"
                "\n" +
                head("exec", 7, 8, 0) + "}\n" +
                R"({"v":1,"kind":"remark","host":"here",)"
                R"("time":"2026-11-30T03:26:58.000000000Z","time_ns":1796009218000000000,)"
                R"("text":"a \"remark\""})"
                "\n" +
                head("exit", 7, 8, 0) +
                R"(,"status":3,"signal":null,"whole_process":true})"
                "\n");
}

TEST(JsonSink, leaves_signals_out_where_they_are_not_wanted) {
  JsonOptions options = plain();
  options.signals = false;
  Fixture t(options);
  t.build.signal(8, SIGUSR1);

  EXPECT_EQ(t.finished(), "");
}

TEST(JsonSink, writes_backtraces) {
  Fixture t(plain());
  auto& b = t.build;
  b.enter(1, b.function("int f();"));
  b.frames(1, {b.frame(0x7fe7ad105249, "libc.so.6", "qsort", 0x12), b.frame(0x10)});
  b.leave(1);

  const std::string log = t.finished();
  EXPECT_NE(log.find(R"(,"frames":[{"module":"libc.so.6","function":"qsort","offset":18,)"
                     R"("address":"0x7fe7ad105249"},{"module":null,"function":null,"offset":0,)"
                     R"("address":"0x10"}]})"),
            std::string::npos)
      << log;
}

TEST(JsonSink, writes_the_python_function_apart_from_the_stack) {
  Fixture t(plain());
  auto& b = t.build;
  b.enter(1, b.function("int f();"));
  b.frames(1, {b.python_frame("Shape.area", "/srv/shape.py", 30), b.frame(0x10)});
  b.leave(1);
  b.enter(1, b.function("int g();"));
  b.frames(1, {b.python_frame("<module>", "made up", 0)});
  b.leave(1);

  const std::string log = t.finished();
  EXPECT_NE(log.find(R"(,"python":{"function":"Shape.area","file":"/srv/shape.py","line":30},)"
                     R"("frames":[{"module":null,)"),
            std::string::npos)
      << log;
  EXPECT_NE(log.find(R"(,"python":{"function":"<module>","file":"made up","line":null}})"),
            std::string::npos)
      << log;
}

TEST(JsonSink, writes_the_call_that_a_child_was_born_in_with_the_arguments_of_its_parent) {
  Fixture t(plain());
  auto& b = t.build;
  b.thread(10, true);
  b.enter(10, b.function("int clone(int);"), {5});
  b.fork(10, 11);
  b.leave(11, 0);
  b.leave(10, 11);

  const std::string log = t.finished();
  EXPECT_NE(log.find(head("call", 11, 11, 0)), std::string::npos) << log;
  EXPECT_NE(log.find(R"("args":[5],"result":0,)"), std::string::npos) << log;
  EXPECT_NE(log.find(R"("args":[5],"result":11,)"), std::string::npos) << log;
}

TEST(JsonSink, leaves_out_what_the_text_leaves_out_and_says_so) {
  JsonOptions options = plain();
  options.summary = true;
  options.max_depth = 1;
  options.min_time_ns = 2000;
  options.sample = 2;
  Fixture t(options);
  auto& b = t.build;
  const auto outer = b.function("int outer();"), inner = b.function("int inner();");
  for (int n = 0; n < 4; ++n) {
    b.enter(1, outer);
    b.call(1, inner);
    b.leave(1);
  }
  b.call(1, outer);
  SessionSummary summary;
  summary.calls = 9;
  summary.engine = "breakpoint";
  summary.reason = "--duration";

  const std::string log = t.finished(summary);

  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 3);
  EXPECT_TRUE(log.ends_with(
      R"("calls":9,"lost":0,"modules":0,"damaged_batches":0,"engine":"breakpoint","cost_ns":0,)"
      R"("reason":"--duration","functions":2,"left_out_short":1,"left_out_deep":4,)"
      R"("left_out_sampled":2})"
      "\n"))
      << log;
  EXPECT_TRUE(t.sink.closing_line().starts_with("+++ sonictrace: 9 calls, 2 functions, "));
}

TEST(JsonSink, writes_a_call_whose_beginning_was_not_seen) {
  Fixture t(plain());
  auto& b = t.build;
  const auto f = b.function("int f(int);");
  b.enter_as(1, f, 1, 1, {1});
  b.leave_as(1, f, 1, 1, 0, 1000);
  b.leave_as(1, f, 99, 1, 4, 1000);

  const std::string log = t.finished();
  EXPECT_NE(log.find(R"("args":null,"result":4,"duration_ns":1000,)"), std::string::npos) << log;
}

TEST(JsonSink, begins_with_the_banner) {
  JsonOptions options = plain();
  options.banner = "tracing 7 (service)";
  Fixture t(options);
  t.build.thread(7, true);

  const std::string log = t.finished();
  EXPECT_TRUE(log.starts_with(R"({"v":1,"kind":"remark",)")) << log;
  EXPECT_NE(log.find("\"text\":\"tracing 7 (service)\"}\n" + head("thread", 7, 7, 0)),
            std::string::npos)
      << log;
}

} // namespace
} // namespace sonictrace
