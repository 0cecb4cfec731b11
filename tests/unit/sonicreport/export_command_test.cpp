#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "support/http_server.hpp"
#include "unit/sonicreport/run_command.hpp"

namespace sonictrace::sonicreport::test {
namespace {

constexpr std::string_view kLog = "4711 1796009100.000000 decode(1) = 0 <0.250000>\n"
                                  "4711 1796009100.300000 memcpy(1) = 0 <0.000010>\n"
                                  "4712 1796009100.400000 futex@SYS(1) = 0 <0.100000>\n"
                                  "4711 1796009111.000000 decode(2) = 0 <0.250000>\n"
                                  "+++ decode is in libav.so.1 +++\n";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

bool is_installed(const char* program) {
  std::istringstream places(std::getenv("PATH") == nullptr ? "" : std::getenv("PATH"));
  for (std::string place; std::getline(places, place, ':');)
    if (::access((place + "/" + program).c_str(), X_OK) == 0) return true;
  return false;
}

class Directory {
public:
  Directory() { EXPECT_NE(::mkdtemp(name_.data()), nullptr); }
  ~Directory() { std::filesystem::remove_all(name_); }
  std::string operator/(const std::string& file) const { return name_ + "/" + file; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(name_), {}));
  }

private:
  std::string name_ = testing::TempDir() + "export-XXXXXX";
};

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

TEST(ExportCommand, writes_a_record_of_each_function_for_each_interval) {
  const auto end =
      run_command({"export", "--to", "jsonl", "--run-id", "r1", "--host", "h1", "LOG"}, kLog);

  EXPECT_EQ(end.status, 0) << end.err;
  const auto lines = lines_of(end.out);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(
      lines[0],
      R"({"v":1,"run_id":"r1","seq":0,"ts":1796009100.000000000,"host":"h1","pid":4711,"lib":"libav.so.1",)"
      R"("func":"decode","class":"cpu","calls":1,"timed":1,"sum_ns":250000000,"self_ns":250000000,)"
      R"("min_ns":250000000,"max_ns":250000000,"p50_ns":250000000,"p99_ns":250000000,)"
      R"("bucket_ns":[249561088],"bucket_calls":[1],)"
      R"("hist":{"scale":5,"zero":0,"offset":892,"counts":[1]}})");
  EXPECT_NE(lines[1].find(R"("seq":1,"ts":1796009100.000000000)"), std::string::npos) << lines[1];
  EXPECT_NE(lines[1].find(R"("lib":"SYS","func":"futex","class":"wait")"), std::string::npos)
      << lines[1];
  EXPECT_NE(lines[3].find(R"("seq":3,"ts":1796009110.000000000)"), std::string::npos) << lines[3];
}

TEST(ExportCommand, writes_the_same_twice) {
  const std::vector<std::string> arguments = {"export", "--to",   "jsonl", "--run-id",
                                              "r",      "--jobs", "4",     "LOG"};

  EXPECT_EQ(run_command(arguments, kLog).out, run_command(arguments, kLog).out);
}

TEST(ExportCommand, adds_up_what_is_behind_top_n) {
  const auto end = run_command(
      {"export", "--to", "csv", "--interval", "0", "--top-n", "1", "--run-id", "r", "LOG"}, kLog);

  EXPECT_EQ(
      end.out,
      "run_id,seq,ts,host,pid,tid,lib,func,class,calls,timed,sum_ns,self_ns,min_ns,max_ns,p50_ns,"
      "p99_ns\n"
      "r,0,1796009100.000000000,,4711,,libav.so.1,decode,cpu,2,2,500000000,500000000,250000000,"
      "250000000,"
      "250000000,250000000\n"
      "r,1,1796009100.000000000,,4711,,,other,,2,2,100010000,100010000,10000,100000000,10112,"
      "100000000\n");
}

TEST(ExportCommand, writes_flat_json_with_a_key_of_calls_for_each_function) {
  const auto end = run_command({"export", "--to", "json-flat", "--run-id", "r", "LOG"}, kLog);

  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_NE(end.out.find("\"futex_calls\":1,\n"), std::string::npos) << end.out;
  EXPECT_NE(end.out.find("\"decode_calls\":2,\n"), std::string::npos) << end.out;
  EXPECT_NE(end.out.find("\"decode_seconds\":0.500000000,\n"), std::string::npos) << end.out;
}

TEST(ExportCommand, writes_metrics_of_which_each_has_help_and_type) {
  const auto end =
      run_command({"export", "--to", "prometheus", "--run-id", "r", "--host", "h", "LOG"}, kLog);

  EXPECT_EQ(end.status, 0) << end.err;
  std::set<std::string> helped, typed;
  std::size_t samples = 0;
  for (const auto& line : lines_of(end.out)) {
    std::istringstream words(line);
    std::string mark, kind, name;
    words >> mark >> kind >> name;
    if (mark == "#") {
      (kind == "HELP" ? helped : typed).insert(name);
      continue;
    }
    ++samples;
    name = line.substr(0, line.find('{'));
    for (const char* const suffix : {"_bucket", "_sum", "_count"})
      if (name.ends_with(suffix)) name.resize(name.size() - std::string(suffix).size());
    EXPECT_TRUE(helped.count(name) == 1 && typed.count(name) == 1) << line;
  }
  EXPECT_EQ(helped, typed);
  EXPECT_EQ(samples, 3U * (1 + 1 + 1 + 25 + 1) + 4);
  const std::string labels = R"({function="decode",lib="libav.so.1",class="cpu",host="h")";
  EXPECT_NE(end.out.find("sonictrace_calls_total" + labels + "} 2\n"), std::string::npos)
      << end.out;
  EXPECT_NE(end.out.find("sonictrace_call_seconds_total" + labels + "} 0.500000000\n"),
            std::string::npos);
  EXPECT_NE(end.out.find("sonictrace_call_seconds_bucket" + labels + ",le=\"0.2\"} 0\n"),
            std::string::npos);
  EXPECT_NE(end.out.find("sonictrace_call_seconds_bucket" + labels + ",le=\"0.5\"} 2\n"),
            std::string::npos);
  EXPECT_NE(end.out.find("sonictrace_call_seconds_bucket" + labels + ",le=\"+Inf\"} 2\n"),
            std::string::npos);
}

TEST(ExportCommand, writes_what_promtool_accepts) {
  if (!is_installed("promtool")) GTEST_SKIP() << "promtool is not installed";
  const Directory directory;
  // Names that have to be escaped.
  const std::string log =
      std::string(kLog) + "4711 1796009112.000000 operator\"\"_s(2) = 0 <0.25>\n";
  const auto end =
      run_command({"export", "--to", "prometheus", "--output", directory / "x.prom", "LOG"}, log);
  ASSERT_EQ(end.status, 0) << end.err;

  const int status = std::system(
      ("promtool check metrics <" + (directory / "x.prom") + " >" + (directory / "said") + " 2>&1")
          .c_str());

  EXPECT_EQ(status, 0) << read_file(directory / "said");
  EXPECT_EQ(read_file(directory / "said"), "");
}

TEST(ExportCommand, writes_openmetrics_with_an_end) {
  const auto end = run_command({"export", "--to", "openmetrics", "--run-id", "r", "LOG"}, kLog);

  EXPECT_EQ(end.status, 0);
  EXPECT_TRUE(end.out.ends_with("sonictrace_run_info{run_id=\"r\"} 1\n# EOF\n")) << end.out;
  EXPECT_NE(end.out.find("# TYPE sonictrace_calls counter\nsonictrace_calls_total{"),
            std::string::npos);
  EXPECT_NE(
      end.out.find(
          "# TYPE sonictrace_call_seconds histogram\n# UNIT sonictrace_call_seconds seconds\n"),
      std::string::npos);
  // A name is of one family.
  std::multiset<std::string> families;
  for (const auto& line : lines_of(end.out))
    if (line.starts_with("# TYPE ")) families.insert(line.substr(7, line.find(' ', 7) - 7));
  for (const auto& family : families)
    EXPECT_EQ(families.count(family), 1U) << family;
}

TEST(ExportCommand, writes_a_request_of_opentelemetry_for_each_interval) {
  const auto end = run_command({"export", "--to", "otlp-json", "--run-id", "r", "LOG"}, kLog);

  const auto lines = lines_of(end.out);
  ASSERT_EQ(lines.size(), 2U) << end.err;
  EXPECT_TRUE(lines[0].starts_with(
      R"({"resourceMetrics":[{"resource":{"attributes":[{"key":"service.name",)"));
  EXPECT_NE(
      lines[0].find(
          R"("startTimeUnixNano":"1796009100000000000","timeUnixNano":"1796009110000000000","asInt":"1")"),
      std::string::npos)
      << lines[0];
  EXPECT_NE(
      lines[1].find(
          R"("exponentialHistogram":{"aggregationTemporality":1,"dataPoints":[{"attributes":)"),
      std::string::npos);
}

TEST(ExportCommand, wants_to_know_the_day_where_a_target_needs_it) {
  const std::string log = "10:00:00.000000 f() = 0 <0.1>\n";

  const auto without = run_command({"export", "--to", "otlp-json", "LOG"}, log);
  const auto with =
      run_command({"export", "--to", "otlp-json", "--date", "2026-11-30", "LOG"}, log);
  const auto records = run_command({"export", "--to", "jsonl", "LOG"}, log);

  EXPECT_EQ(without.status, 2);
  EXPECT_NE(without.err.find("trace with -ttt, or give --date"), std::string::npos) << without.err;
  EXPECT_EQ(with.status, 0) << with.err;
  EXPECT_EQ(records.status, 0);
  EXPECT_NE(records.out.find(R"("ts":36000.000000000)"), std::string::npos) << records.out;
  EXPECT_NE(records.err.find("the times have no day"), std::string::npos) << records.err;
}

TEST(ExportCommand, replaces_a_file_whole) {
  const Directory directory;
  const auto path = directory / "x.prom";
  std::ofstream(path) << "old";
  struct stat before {};
  ::stat(path.c_str(), &before);
  std::ifstream reader(path); // who reads the old one goes on reading it

  const auto end = run_command({"export", "--to", "prometheus", "--output", path, "LOG"}, kLog);

  struct stat after {};
  ::stat(path.c_str(), &after);
  std::string seen;
  reader >> seen;
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_EQ(seen, "old");
  EXPECT_NE(before.st_ino, after.st_ino);
  EXPECT_TRUE(read_file(path).starts_with("# HELP "));
  EXPECT_EQ(directory.files(), 1U);
}

TEST(ExportCommand, leaves_no_file_where_the_log_is_none) {
  const Directory directory;

  EXPECT_EQ(run_command({"export", "--to", "jsonl", "--output", directory / "x", "LOG"}, "").status,
            2);
  EXPECT_EQ(directory.files(), 0U);
}

TEST(ExportCommand, fails_with_4_where_nothing_can_be_written) {
  const auto nowhere = run_command(
      {"export", "--to", "prometheus", "--output", "/no/such/directory/x.prom", "LOG"}, kLog);
  const auto full = run_command({"export", "--to", "jsonl", "--output", "/dev/full", "LOG"}, kLog);

  EXPECT_EQ(nowhere.status, 4);
  EXPECT_NE(nowhere.err.find("can't write /no/such/directory/x.prom.tmp: No such file"),
            std::string::npos)
      << nowhere.err;
  EXPECT_EQ(full.status, 4);
  EXPECT_NE(full.err.find("can't write /dev/full: No space left"), std::string::npos) << full.err;
}

TEST(ExportCommand, knows_its_targets) {
  EXPECT_EQ(run_command({"export", "--to", "parquet", "LOG"}, kLog).status, 2);
  EXPECT_EQ(run_command({"export", "--to", "prometheus", "--interval", "1s", "LOG"}, kLog).status,
            2);
}

TEST(ExportCommand, puts_metrics_into_a_pushgateway) {
  sonictrace::test::HttpServer server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");

  const auto end = run_command({"export", "--to", "pushgateway", "--url", server.url(), "--host",
                                "cam1", "--run-id", "r", "LOG"},
                               kLog);

  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_EQ(end.out + end.err, "");
  const auto& requests = server.requests();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_TRUE(
      requests[0].head.starts_with("PUT /metrics/job/sonictrace/instance/cam1 HTTP/1.1\r\n"))
      << requests[0].head;
  EXPECT_EQ(
      requests[0].body,
      run_command({"export", "--to", "prometheus", "--host", "cam1", "--run-id", "r", "LOG"}, kLog)
          .out);
}

TEST(ExportCommand, posts_a_request_of_opentelemetry_for_each_interval) {
  sonictrace::test::HttpServer server(
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", 2);

  const auto end = run_command({"export", "--to", "otlp-json", "--url",
                                server.url() + "/v1/metrics", "--run-id", "r", "LOG"},
                               kLog);

  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_NE(end.err.find("2 requests delivered, 0 dropped"), std::string::npos) << end.err;
  const auto& requests = server.requests();
  ASSERT_EQ(requests.size(), 2U);
  for (const auto& request : requests) {
    EXPECT_TRUE(request.head.starts_with("POST /v1/metrics ")) << request.head;
    EXPECT_NE(request.head.find("Content-Type: application/json\r\n"), std::string::npos);
    EXPECT_TRUE(request.body.starts_with(R"({"resourceMetrics":)"));
  }
}

TEST(ExportCommand, fails_with_4_where_a_pushgateway_refuses) {
  sonictrace::test::HttpServer server(
      "HTTP/1.1 400 Bad Request\r\nContent-Length: 9\r\n\r\nno, sorry");

  const auto end =
      run_command({"export", "--to", "pushgateway", "--url", server.url(), "LOG"}, kLog);

  EXPECT_EQ(end.status, 4);
  EXPECT_NE(end.err.find("answered 400: no, sorry\n"), std::string::npos) << end.err;
  EXPECT_EQ(lines_of(end.err).size(), 1U) << end.err;
}

TEST(ExportCommand, tells_the_longest_gap_as_a_metric) {
  const std::string log = "14:23:07.400000 decode() = 0 <0.010000>\n"
                          "14:23:07.480000 show() = 0 <0.001000>\n"
                          "14:23:08.000000 decode() = 0 <0.010000>\n"
                          "14:23:08.020000 show() = 0 <0.001000>\n";

  const auto with = run_command({"export", "--to", "prometheus", "--gap-from", "dec*", "--gap-to",
                                 "show", "--host", "h", "LOG"},
                                log);
  const auto none = run_command(
      {"export", "--to", "openmetrics", "--gap-from", "show", "--gap-to", "nothing", "LOG"}, log);

  EXPECT_EQ(with.status, 0) << with.err;
  EXPECT_NE(with.out.find("# TYPE sonictrace_longest_gap_seconds gauge\n"
                          "sonictrace_longest_gap_seconds{from=\"dec*\",to=\"show\",host=\"h\"} "
                          "0.070000000\n"),
            std::string::npos)
      << with.out;
  EXPECT_EQ(none.status, 0) << none.err;
  EXPECT_EQ(none.out.find("gap_seconds"), std::string::npos);
}

// librdkafka makes the brokers itself with this setting.
TEST(ExportCommand, counts_the_records_that_kafka_took) {
  const TextFile settings("test.mock.num.brokers=3\n");
  const auto end = run_command({"export", "--to", "kafka://mock/sonictrace.calls", "--run-id", "r",
                                "--kafka-config", settings.path(), "LOG"},
                               kLog);

  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_EQ(end.out, "");
  EXPECT_EQ(end.err,
            "sonicreport: kafka://mock/sonictrace.calls: 4 records delivered, 0 dropped\n");
}

TEST(ExportCommand, accounts_for_the_records_of_one_log_where_the_next_can_not_be_read) {
  const TextFile settings("test.mock.num.brokers=3\n");
  const auto end = run_command({"export", "--to", "kafka://mock/t", "--run-id", "r",
                                "--kafka-config", settings.path(), "LOG", "/no/such/log"},
                               kLog);

  EXPECT_EQ(end.status, 2);
  EXPECT_NE(end.err.find("4 records delivered, 0 dropped\n"), std::string::npos) << end.err;
  EXPECT_NE(end.err.find("can't open log /no/such/log"), std::string::npos) << end.err;
}

TEST(ExportCommand, fails_with_4_and_a_count_where_kafka_is_not_there) {
  const auto begin = std::chrono::steady_clock::now();
  const auto end = run_command(
      {"export", "--to", "kafka://127.0.0.1:1/t", "--run-id", "r", "--timeout", "300ms", "LOG"},
      kLog);

  EXPECT_EQ(end.status, 4);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  const auto lines = lines_of(end.err);
  ASSERT_EQ(lines.size(), 2U) << end.err;
  EXPECT_NE(lines[0].find("Connection refused"), std::string::npos) << end.err;
  EXPECT_NE(lines[1].find("0 records delivered, 4 dropped"), std::string::npos) << end.err;
}

TEST(ExportCommand, says_which_options_do_not_go_together) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> cases = {
      {{"--to", "pushgateway"}, "where is it?"},
      {{"--to", "kafka://b:1/t"}, "--run-id ID"},
      {{"--to", "kafka://b:1", "--run-id", "r"}, "names no topic"},
      {{"--to", "kafka://b:1/t", "--run-id", "r", "--output", "x"}, "sent away"},
      {{"--to", "kafka://b:1/t", "--run-id", "r", "--kafka-config", "/no/such"},
       "can't read /no/such"},
      {{"--to", "kafka://b:1/t", "--run-id", "r", "--timeout", "0"}, "--timeout '0'"},
      {{"--to", "jsonl", "--kafka-config", "x"}, "is for --to kafka"},
      {{"--to", "prometheus", "--gap-from", "x"}, "go together"},
      {{"--to", "jsonl", "--gap-from", "x", "--gap-to", "y"}, "--gap-from is for"},
      {{"--to", "csv", "--url", "http://x"}, "--url is for"}};
  for (auto [arguments, said] : cases) {
    arguments.insert(arguments.begin(), "export");
    arguments.emplace_back("LOG");
    const auto end = run_command(arguments, kLog);
    EXPECT_EQ(end.status, 2) << end.err;
    EXPECT_NE(end.err.find(said), std::string::npos) << end.err;
  }
}

} // namespace
} // namespace sonictrace::sonicreport::test
