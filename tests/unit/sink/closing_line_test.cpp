#include "sink/closing_line.hpp"

#include <gtest/gtest.h>

#include "support/log_fixture.hpp"

namespace sonictrace {
namespace {

TEST(ClosingLine, counts_what_was_seen) {
  EXPECT_EQ(make_closing_line({55412, 0, 7, 14'249, "breakpoint", "", 0}, 83, {}, {}),
            "+++ sonictrace: 55412 calls, 83 functions, 7 modules, 0 lost calls, breakpoint "
            "engine, 14.2 us own cost a call +++");
}

TEST(ClosingLine, knows_the_singular) {
  EXPECT_EQ(make_closing_line({1, 1, 1, 850, "inline", "", 0}, 1, {0, 0, 1}, {}),
            "+++ sonictrace: 1 call, 1 function, 1 module, 1 lost call, 1 damaged batch, inline "
            "engine, 850 ns own cost a call +++");
}

TEST(ClosingLine, gives_the_reason) {
  EXPECT_EQ(make_closing_line({0, 0, 2, 0, "breakpoint", "no call matched -e 'foo'", 0}, 0, {}, {}),
            "+++ sonictrace: 0 calls, 0 functions, 2 modules, 0 lost calls, breakpoint engine; no "
            "call matched -e 'foo' +++");
}

TEST(ClosingLine, writes_the_shortest_time_as_the_option_has_it) {
  const struct {
    std::uint64_t ns;
    const char* expected;
  } cases[] = {{10'000, "10us"},
               {1'000'000, "1ms"},
               {500'000'000, "500ms"},
               {2'000'000'000, "2s"},
               {1'500, "1500ns"}};
  for (const auto& [ns, expected] : cases) {
    TextOptions options;
    options.min_time_ns = ns;
    EXPECT_NE(make_closing_line({}, 0, {1, 0, 0}, options)
                  .find(std::string("1 call shorter than ") + expected + " not written"),
              std::string::npos)
        << expected;
  }
}

TEST(ClosingLine, is_the_last_line_of_the_log_and_offered_to_the_caller) {
  TextOptions options = whole_form();
  options.closing_lines = true;
  options.time = TimeStamp::Microseconds;
  LogFixture t(options);
  t.build.enter(1, t.build.function("int f();"));

  const std::string log = t.finished({1, 0, 0, 0, "breakpoint", "", 0});

  EXPECT_EQ(log, "03:26:58.000000 f( <no return ...>\n" + t.sink.closing_line() + "\n");
  EXPECT_EQ(t.sink.closing_line(), "+++ sonictrace: 1 call, 1 function, 0 modules, 0 lost calls, "
                                   "breakpoint engine +++");
}

TEST(ClosingLine, is_offered_also_where_the_log_has_none) {
  LogFixture t(split_form());
  t.build.call(1, t.build.function("int f();"));

  EXPECT_EQ(t.finished({1, 0, 0, 0, "", "", 0}),
            "f()                                              = 0\n");
  EXPECT_NE(t.sink.closing_line(), "");
}

TEST(ClosingLine, tells_of_a_damaged_batch) {
  TextOptions options = whole_form();
  options.closing_lines = true;
  LogFixture t(options);
  const std::vector<std::byte> damaged(60, std::byte{0xff});

  t.sink.write(damaged);

  EXPECT_NE(t.finished().find(", 1 damaged batch"), std::string::npos);
}

} // namespace
} // namespace sonictrace
