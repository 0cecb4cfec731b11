// sonicreport, driven as users do.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "support/run_program.hpp"
#include "support/temp_dir.hpp"

namespace sonictrace::test {
namespace {

/// Has a directory of its own.
class Report : public testing::Test {
protected:
  std::string write(const std::string& name, std::string_view text) const {
    const auto path = directory_ / name;
    std::ofstream(path) << text;
    return path;
  }
  std::string path(const std::string& name) const { return directory_ / name; }

  static Ended report(std::vector<std::string> arguments, const std::string& input = {}) {
    arguments.insert(arguments.begin(), SONICREPORT);
    Command command{arguments};
    command.input = input;
    return run_program(command);
  }
  static Ended shell(const std::string& line) { return run_program({{"/bin/sh", "-c", line}}); }

private:
  TempDir directory_;
};

constexpr std::string_view kNote =
    "malloc(1048576) = 0x55aabbccdd00 <0.000010>\n"
    "memcpy(0x55aabbccdd00, 0x7f99eeff1230, 1048576) = 0x55aabbccdd00 <0.000230>\n"
    "torch::jit::load(\"sonic_model.pt\") = 0x55aaccee1100 <0.150000>\n"
    "av_frame_alloc() = 0x55aaddee2200 <0.000005>\n";

TEST_F(Report, prints_the_field_notes_sample) {
  const auto log = write("log", kNote);
  const auto ended = report({"top", "--format", "csv", "-U", "total,calls,function", log});

  EXPECT_TRUE(ended.exited_with(0)) << ended.err;
  EXPECT_EQ(
      ended.out,
      "total_ns,calls,function\n150000000,1,torch::jit::load\n230000,1,memcpy\n10000,1,malloc\n"
      "5000,1,av_frame_alloc\n");
}

TEST_F(Report, prints_the_field_notes_top_ten_byte_for_byte) {
  const std::vector<std::pair<std::string, int>> kSums = {
      {"torch::jit::Operator::run", 21450},
      {"at::native::upsample_bilinear2d", 18760},
      {"avcodec_decode_audio4", 9430},
      {"at::native::conv2d", 7210},
      {"memcpy", 5120},
      {"malloc", 3010},
      {"c10::cuda::CUDACachingAllocator::allocate", 2880},
      {"pthread_cond_wait", 2100},
      {"av_frame_alloc", 1550},
      {"c10::InferenceMode::InferenceMode", 1030},
      {"free", 1020}};
  std::string text, expected = "Top 10耗时函数:\n";
  for (int part = 0; part < 10; ++part) // a tenth each time
    for (const auto& [name, sum] : kSums)
      text += fmt::format("14:23:05.{:06} {}(1) = 0 <0.{:06}>\n", part * 1000, name, sum * 10);
  for (std::size_t i = 0; i < 10; ++i)
    expected += fmt::format("{}: {}.{:04}s\n", kSums[i].first, kSums[i].second / 10000,
                            kSums[i].second % 10000);

  EXPECT_EQ(report({"top", "-n", "10", "--format", "plain", write("log", text)}).out, expected);
}

/// The field note's script, by its regular expression.
constexpr const char* kScript = R"(
import re, sys
pattern = re.compile(r"^[^ ]+\s+([^(]+)\(.*?<(\d+\.\d+)>$")
sums = {}
for line in open(sys.argv[1]):
    found = pattern.match(line.strip())
    if found:
        sums[found.group(1)] = sums.get(found.group(1), 0.0) + float(found.group(2))
print("Top 10耗时函数:")
for name, total in sorted(sums.items(), key=lambda one: one[1], reverse=True)[:10]:
    print(f"{name}: {total:.4f}s")
)";

TEST_F(Report, adds_up_as_the_field_notes_script_does) {
  std::mt19937_64 random(1);
  std::string text;
  const char* const kNames[] = {"malloc",
                                "free",
                                "memcpy",
                                "at::native::conv2d",
                                "std::vector<int>::push_back",
                                "pthread_cond_wait",
                                "av_frame_alloc",
                                "strlen",
                                "usleep",
                                "operator new",
                                "f",
                                "g"};
  for (int i = 0; i < 20'000; ++i)
    text += fmt::format("00:00:{:02}.{:06} {}(0x1, \"<0.5>\") = {} <{}.{:06}>\n", i / 1000,
                        i % 1000 * 1000, kNames[random() % 12], random() % 100,
                        random() % 50 == 0 ? 1 : 0, random() % 1'000'000);
  const auto log = write("log", text);

  EXPECT_EQ(report({"top", "--format", "plain", log}).out,
            run_program({{"/usr/bin/python3", "-c", kScript, log}}).out);
}

TEST_F(Report, reads_stdin_and_packed_logs_whatever_their_names) {
  const auto log = write("log", kNote);
  const auto plain = report({"top", "--format", "csv", log}).out;
  ASSERT_NE(plain, "");

  EXPECT_EQ(shell(fmt::format("{} top --format csv - < {}", SONICREPORT, log)).out, plain);
  EXPECT_EQ(shell(fmt::format("gzip -c {} | {} top --format csv -", log, SONICREPORT)).out, plain);
  ASSERT_TRUE(
      shell(fmt::format("gzip -c {0} > {0}.1 && gzip -c {0} >> {0}.1", log)).exited_with(0));
  EXPECT_NE(report({"top", log + ".1"}).out.find("lines 8 = calls 8"), std::string::npos);
}

TEST_F(Report, adds_several_logs_up) {
  const auto log = write("log", kNote);
  const auto ended = report({"top", "--format", "csv", "-U", "calls,function", log, log});

  EXPECT_EQ(ended.out.substr(0, 44), "calls,function\n2,torch::jit::load\n2,memcpy\n2");
}

TEST_F(Report, ends_with_2_and_says_what_to_do_where_a_log_can_not_be_read) {
  const std::pair<std::string, std::string> kCases[] = {
      {path("missing"), "No such file or directory; give the log that"},
      {path(""), "it is a directory; give the log files in it"},
      {write("empty", ""), "the log is empty; was anything traced?"},
      {write("table", "% time     seconds\n------ ---\n"), "a table of -c is none"},
  };
  for (const auto& [log, message] : kCases) {
    const auto ended = report({"top", log});

    EXPECT_TRUE(ended.exited_with(2)) << log;
    EXPECT_EQ(ended.out, "");
    EXPECT_NE(ended.err.find(message), std::string::npos) << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  }
}

TEST_F(Report, ends_with_2_where_it_is_used_wrongly) {
  const auto log = write("log", kNote);
  const std::vector<std::vector<std::string>> kWrong = {{},
                                                        {"nothing"},
                                                        {"top"},
                                                        {"top", "--what", log},
                                                        {"top", "--format", "xml", log},
                                                        {"top", "--by", "x", log},
                                                        {"top", "-s", "x", log},
                                                        {"top", "-U", "x", log},
                                                        {"top", "--window", "x", log},
                                                        {"top", "--min-time", "x", log},
                                                        {"top", "--by", "stage", log},
                                                        {"top", "--stages", "/no/such", log},
                                                        {"top", "--per-frame", log},
                                                        {"top", "--func", "[", log},
                                                        {"top", "--output", "/no/such/file", log}};
  for (const auto& arguments : kWrong) {
    const auto ended = report(arguments);

    EXPECT_TRUE(ended.exited_with(2))
        << fmt::format("{}: {}", arguments.size() > 1 ? arguments[1] : "", ended.end());
    EXPECT_TRUE(ended.err.starts_with("sonicreport: ")) << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  }
}

TEST_F(Report, ends_with_3_where_too_little_of_a_log_is_of_use) {
  const auto log = write("log", std::string(kNote) + "what is this <0.000010>\n");

  EXPECT_TRUE(report({"top", log}).exited_with(3));
  EXPECT_TRUE(report({"top", "--min-coverage", "0.5", log}).exited_with(0));
  const auto strict = write("strict", std::string(kNote) + "what is this\n");
  EXPECT_TRUE(report({"top", strict}).exited_with(0));
  EXPECT_TRUE(report({"top", "--strict", strict}).exited_with(3));
}

TEST_F(Report, is_silent_when_nobody_reads_on) {
  std::string text;
  for (int i = 0; i < 20'000; ++i)
    text += fmt::format("a_function_with_a_long_name_{}() = 0 <0.000001>\n", i);
  const auto ended = shell(fmt::format("{} top --format csv {} | head -n 1; echo ${{PIPESTATUS}}",
                                       SONICREPORT, write("log", text)));

  EXPECT_EQ(ended.err, "");
  EXPECT_TRUE(ended.out.starts_with("self_percent,"));
}

TEST_F(Report, writes_to_a_file) {
  const auto out = path("out");
  const auto ended = report({"top", "--format", "plain", "--output", out, write("log", kNote)});

  EXPECT_TRUE(ended.exited_with(0));
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(shell("cat " + out).out, report({"top", "--format", "plain", write("log", kNote)}).out);
}

TEST_F(Report, knows_the_five_stages_of_the_example) {
  const auto log =
      write("log", "00:00:01 swr_convert() = 0 <0.000001>\n00:00:02 "
                   "at::native::mkldnn_convolution() = 0 <0.000002>\n"
                   "00:00:03 sgemm_() = 0 <0.000004>\n00:00:04 at::native::upsample_bilinear2d() = "
                   "0 <0.000008>\n"
                   "00:00:05 sws_scale() = 0 <0.000016>\n00:00:06 strlen() = 0 <0.000032>\n");
  const auto ended =
      report({"top", "--by", "stage", "--stages", SOURCE_DIR "/examples/sonic/sonic.stages",
              "--format", "csv", "-U", "self,function", log});

  EXPECT_EQ(
      ended.out,
      "self_ns,stage\n32000,other\n16000,post-processing\n8000,frame generation\n4000,alignment\n"
      "2000,image encoding\n1000,audio features\n");
}

TEST_F(Report, counts_every_completed_call_of_a_real_log) {
  if (!std::filesystem::exists("/usr/bin/ltrace")) GTEST_SKIP() << "no ltrace";
  const auto log = path("ltrace.log");
  const auto program = path("program");
  // ltrace 0.7.3 sees calls through a lazily bound PLT only.
  const auto built = shell(fmt::format(
      "cc -O0 -fno-builtin -w -pthread -no-pie -Wl,-z,lazy {}/tests/e2e/report_program.c -o {}",
      SOURCE_DIR, program));
  ASSERT_TRUE(built.exited_with(0)) << built.err;
  const auto traced = run_program({{"/usr/bin/ltrace", "-f", "-T", "-tt", "-o", log, program}});
  if (!std::filesystem::exists(log)) GTEST_SKIP() << "ltrace can't trace here: " << traced.err;
  const auto completed = shell("grep -cE ' <[0-9]+\\.[0-9]+>$' " + log).out;
  const auto ended =
      report({"top", "--format", "csv", "-U", "calls,p50,function", "--strict", log});
  std::istringstream lines(ended.out);
  std::string line;
  std::uint64_t with_time = 0;
  std::getline(lines, line);
  while (std::getline(lines, line))
    if (line.find(",,") == std::string::npos) with_time += std::stoull(line);

  EXPECT_TRUE(ended.exited_with(0)) << ended.err;
  EXPECT_EQ(std::to_string(with_time) + "\n", completed);
}

} // namespace
} // namespace sonictrace::test
