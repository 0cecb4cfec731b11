// sonicreport diff, fingerprint and trend, driven as users do.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/run_program.hpp"
#include "support/temp_dir.hpp"

namespace sonictrace::test {
namespace {

/// Has a directory of its own.
class ReportDiff : public testing::Test {
protected:
  std::string path(const std::string& name) const { return directory_ / name; }
  std::string write(const std::string& name, std::string_view text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }
  /// A log in which futex is called so often, and read ten times.
  std::string futex_log(const std::string& name, int calls) const {
    std::string text;
    for (int i = 0; i < calls; ++i)
      text += "SYS_futex(0x7f00, 0, 2) = 0 <0.000010>\n";
    for (int i = 0; i < 10; ++i)
      text += "SYS_read(3, \"\", 1) = 1 <0.000020>\n";
    return write(name, text);
  }
  static Ended report(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), SONICREPORT);
    return run_program({arguments});
  }

private:
  TempDir directory_;
};

bool has(const Ended& ended, std::string_view text) {
  return ended.out.find(text) != std::string::npos;
}

TEST_F(ReportDiff, gates_a_count_against_a_fingerprint) {
  const auto base = futex_log("base.log", 100);
  ASSERT_TRUE(report({"fingerprint", base, "-o", path("base.sfp")}).exited_with(0));
  const struct {
    int calls;
    int status;
  } cases[] = {{129, 0}, {130, 0}, {131, 1}};
  for (const auto& one : cases) {
    const auto ended =
        report({"diff", "--old", path("base.sfp"), "--new", futex_log("new.log", one.calls),
                "--max-increase", "calls:futex=30%"});

    EXPECT_TRUE(ended.exited_with(one.status)) << one.calls << ended.out << ended.err;
    EXPECT_TRUE(has(ended, fmt::format("100 -> {}", one.calls))) << ended.out;
  }
}

TEST_F(ReportDiff, prints_the_total_of_system_calls) {
  const auto ended =
      report({"diff", futex_log("old.log", 90), futex_log("new.log", 130)}); // and 10 reads each

  EXPECT_TRUE(ended.exited_with(0)) << ended.err; // no gate
  EXPECT_TRUE(has(ended, "all syscalls")) << ended.out;
  EXPECT_TRUE(has(ended, "100 -> 140")) << ended.out;
  EXPECT_TRUE(has(ended, "+40.0 %")) << ended.out;
  EXPECT_TRUE(has(ended, "not enough runs for time")) << ended.out;
}

TEST_F(ReportDiff, makes_the_same_fingerprint_of_the_same_log) {
  const auto log = futex_log("a.log", 5);
  const auto make = [&](const std::string& from, const std::string& to) {
    return report(
        {"fingerprint", from, from, "--param", "steps=20", "--machine", "m", "-o", path(to)});
  };

  ASSERT_TRUE(make(log, "1.sfp").exited_with(0));
  ASSERT_TRUE(make(log, "2.sfp").exited_with(0));
  ASSERT_TRUE(run_program({{"/bin/sh", "-c", "gzip -k " + log}}).exited_with(0));
  ASSERT_TRUE(make(log + ".gz", "3.sfp").exited_with(0));

  EXPECT_FALSE(read("1.sfp").empty());
  EXPECT_EQ(read("1.sfp"), read("2.sfp"));
  EXPECT_EQ(read("1.sfp"), read("3.sfp")); // the hash is that of what is packed
  const auto hash = run_program({{"/bin/sh", "-c", "sha256sum < " + log}});
  EXPECT_NE(read("1.sfp").find(hash.out.substr(0, 64)), std::string::npos);
  EXPECT_TRUE(run_program({{"/usr/bin/python3", "-m", "json.tool", path("1.sfp")}}).exited_with(0));
}

TEST_F(ReportDiff, of_a_fingerprint_is_that_of_its_logs) {
  const auto old_log = futex_log("old.log", 7);
  const auto new_log = futex_log("new.log", 9);
  ASSERT_TRUE(report({"fingerprint", old_log, "-o", path("old.sfp")}).exited_with(0));

  const auto of_logs = report({"diff", "--format", "json", old_log, new_log});
  const auto of_both = report({"diff", "--format", "json", path("old.sfp"), new_log});

  EXPECT_TRUE(of_logs.exited_with(0)) << of_logs.err;
  EXPECT_EQ(of_logs.out, of_both.out);
}

TEST_F(ReportDiff, shows_one_row_for_each_version_in_a_trend) {
  for (const int version : {1, 2, 3})
    ASSERT_TRUE(
        report({"fingerprint", futex_log("x.log", 10 * version), "--param",
                fmt::format("version=1.{}", version), "-o", path(fmt::format("{}.sfp", version))})
            .exited_with(0));

  const auto ended = report({"trend", "--format", "csv", "--label", "version", "-n", "1",
                             path("1.sfp"), path("2.sfp"), path("3.sfp")});

  EXPECT_TRUE(ended.exited_with(0)) << ended.err;
  EXPECT_EQ(ended.out,
            "version,runs,calls,calls_change_percent,syscalls,wall_ns,futex.calls,futex.time_ns,"
            "futex.time_change_percent\n"
            "1.1,1,20,,20,,10,100000,\n"
            "1.2,1,30,50,30,,20,200000,100\n"
            "1.3,1,40,33.3333,40,,30,300000,50\n");
}

TEST_F(ReportDiff, ends_with_2_and_one_line_where_it_cannot_judge) {
  const auto log = futex_log("a.log", 5);
  const std::vector<std::vector<std::string>> wrong = {
      {"diff", log},
      {"diff", log, path("not there")},
      {"diff", log, log, "--max-increase", "time=5%"},
      {"diff", log, log, "--max-increase", "speed=5%"},
      {"diff", log, write("cut.sfp", "{\n\"sonicreport_fingerprint\": 1,\n\"tool\"")},
      {"diff", "--old", log},
      {"fingerprint", "-"},
      {"fingerprint", log, "--param", "steps"},
      {"trend", log, "--label", "version"}};
  for (const auto& arguments : wrong) {
    const auto ended = report(arguments);

    EXPECT_TRUE(ended.exited_with(2)) << arguments.back() << ended.end();
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  }
  EXPECT_TRUE(
      report({"diff", log, log, "--max-increase", "time=5%", "--allow-single"}).exited_with(0));
}

TEST_F(ReportDiff, the_example_for_ci_fails_on_the_slower_version) {
  Command command{
      {SOURCE_DIR "/examples/compare_two_runs/compare.sh"},
      {"SONICTRACE=" SONICTRACE, "SONICREPORT=" SONICREPORT, "WORK=" + path("work"), "SLOWER=50"}};
  command.limit = std::chrono::seconds(120);

  const auto ended = run_program(command);

  EXPECT_TRUE(ended.exited_with(1)) << ended.out << ended.err;
  EXPECT_TRUE(has(ended, "REGRESSION (time)")) << ended.out;
  EXPECT_EQ(ended.out.compare(0, 8, "function"), 0) << ended.out;
  EXPECT_NE(ended.out.find("\nframe_blend "), std::string::npos) << ended.out;
  EXPECT_TRUE(has(ended, "gate: FAILED (1)")) << ended.out;
  EXPECT_NE(read("work/new.sfp").find("frame_blend"), std::string::npos);
}

} // namespace
} // namespace sonictrace::test
