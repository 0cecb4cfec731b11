#include "sonictrace/sink/status_line.hpp"

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>

#include <string>

#include "support/log_fixture.hpp"

namespace sonictrace {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST(ProgressText, tells_calls_rate_size_and_the_longest_open_call) {
  EXPECT_EQ(progress_text({1'234'567, 55'412, 12'345'678, "sleep", 3'290'000'000}, 200),
            "sonictrace: 1234567 calls, 55412/s, log 12.3 MB, open for 3.2 s: sleep");
  EXPECT_EQ(progress_text({1, 0, 999, "", 0}, 200), "sonictrace: 1 call, 0/s, log 999 B");
  EXPECT_EQ(progress_text({0, 0, 1'500, "", 0}, 200), "sonictrace: 0 calls, 0/s, log 1.5 kB");
  EXPECT_EQ(progress_text({0, 0, 2'000'000'000, "", 0}, 200),
            "sonictrace: 0 calls, 0/s, log 2.0 GB");
}

TEST(ProgressText, keeps_to_the_width_and_to_printable_characters) {
  EXPECT_EQ(progress_text({1, 0, 0, "a_very_long_name", 0}, 20), "sonictrace: 1 call, ");
  EXPECT_EQ(progress_text({0, 0, 0, "a\nb\x1b", 0}, 200),
            "sonictrace: 0 calls, 0/s, log 0 B, open for 0.0 s: a\\012b\\033");
}

/// A status line on a file that stands for the terminal, over a log that nobody reads.
struct StatusFixture {
  UniqueFd terminal = memory_file();
  StatusLine line{std::make_unique<TextSink>(Writer(memory_file()), whole_form(), false),
                  terminal.get()};
  RecordBuilder build{line};

  std::string shown() const { return content_of(terminal.get()); }
};

TEST(StatusLine, counts_whole_calls_and_calls_that_were_only_counted) {
  StatusFixture t;
  const auto f = t.build.function("int f();");
  const auto start = t.build.now_ns;
  t.line.tick(start);
  t.build.whole_call(1, f);
  t.build.counts(1, f, {41, 1, 1, 1, 0});
  t.line.tick(start + kSecond);

  EXPECT_EQ(t.shown(), "\rsonictrace: 42 calls, 42/s, log 53 B\033[K");
  EXPECT_TRUE(t.line.take_thinned().empty());
}

TEST(StatusLine, is_renewed_each_half_second_and_erased_at_the_end) {
  StatusFixture t;
  const auto f = t.build.function("int f();");
  const auto start = t.build.now_ns;

  t.line.tick(start);
  EXPECT_EQ(t.shown(), "") << "no rate is known yet";
  t.build.call(1, f);
  t.build.call(1, f);
  t.line.tick(start + kSecond / 10);
  EXPECT_EQ(t.shown(), "") << "too early";
  t.line.tick(start + kSecond / 2);
  const std::string first = "\rsonictrace: 2 calls, 4/s, log 106 B\033[K";
  EXPECT_EQ(t.shown(), first);
  t.line.tick(start + kSecond);
  const std::string second = "\rsonictrace: 2 calls, 0/s, log 106 B\033[K";
  EXPECT_EQ(t.shown(), first + second);

  EXPECT_TRUE(t.line.finish({}));
  EXPECT_EQ(t.shown(), first + second + "\r\033[K");
}

TEST(StatusLine, names_the_innermost_call_that_has_been_open_longest) {
  StatusFixture t;
  auto& b = t.build;
  const auto start = b.now_ns;
  t.line.tick(start);
  b.enter(1, b.function("int main();"));
  b.now_ns = start + kSecond;
  b.enter(1, b.function("int _ZN2at6native6conv2dEv();"));
  b.now_ns = start + 2 * kSecond;
  b.enter(2, b.function("int late();"));

  t.line.tick(start + 4 * kSecond);

  EXPECT_NE(t.shown().find("open for 3.0 s: at::native::conv2d\033"), std::string::npos)
      << t.shown();
}

TEST(StatusLine, forgets_calls_of_threads_that_ended_and_of_programs_that_were_replaced) {
  StatusFixture t;
  auto& b = t.build;
  const auto f = b.function("int f();");
  b.thread_of(1, 1, true);
  b.thread_of(1, 2);
  b.thread_of(3, 3);
  t.line.tick(b.now_ns);
  b.enter(1, f);
  b.enter(2, f);
  b.enter(3, f);
  b.exited(3);
  b.exec(1);
  b.enter(1, f);
  b.unwind(1);

  t.line.tick(b.now_ns + kSecond);

  EXPECT_EQ(t.shown().find("open"), std::string::npos) << t.shown();
}

TEST(StatusLine, leaves_a_terminal_alone_on_which_it_never_was) {
  StatusFixture t;
  EXPECT_TRUE(t.line.finish({}));
  EXPECT_EQ(t.shown(), "");
}

TEST(StatusLine, fits_the_terminal) {
  int master = -1, slave = -1;
  winsize size = {24, 30, 0, 0};
  ASSERT_EQ(::openpty(&master, &slave, nullptr, nullptr, &size), 0);
  const UniqueFd near(master), far(slave);
  StatusLine line(std::make_unique<TextSink>(Writer(memory_file()), whole_form(), false),
                  far.get());
  line.tick(kSecond);
  line.tick(2 * kSecond);

  char text[200];
  const auto n = ::read(near.get(), text, sizeof text);
  EXPECT_EQ(std::string(text, static_cast<std::size_t>(std::max<ssize_t>(n, 0))),
            "\rsonictrace: 0 calls, 0/s, log\033[K");
}

} // namespace
} // namespace sonictrace
