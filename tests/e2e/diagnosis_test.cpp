// --doctor, --match and -D: what helps to find out why something is not traced.
#include <sys/prctl.h>

#include "support/temp_dir.hpp"
#include "trace.hpp"

namespace sonictrace::test {
namespace {

const std::vector<std::string> kAsNobody = {"setpriv", "--reuid=65534", "--regid=65534",
                                            "--clear-groups"};

Ended run(const std::vector<std::string>& arguments, const std::vector<std::string>& before = {}) {
  return run_program({before + std::vector<std::string>{SONICTRACE} + arguments});
}

bool nobody_can_run_it() {
  return ::geteuid() == 0 && run({"--version"}, kAsNobody).exited_with(0);
}

/// Each line is a check, but the last, which says what to change.
std::string conclusion_of(const Ended& ended) {
  const auto lines = lines_of(ended.out);
  for (std::size_t i = 0; i + 1 < lines.size(); ++i)
    EXPECT_TRUE(std::regex_match(lines[i], std::regex("(ok|!!|\\?\\?)  .+"))) << lines[i];
  EXPECT_FALSE(lines.empty()) << ended.err;
  return lines.empty() ? "" : lines.back();
}

constexpr const char* kNothing = "to change: nothing: it can be traced";

TEST(ListPrototypes, prints_those_of_one_library_and_where_they_are_from) {
  const Ended ended = run({"--list-prototypes", "libcrypt.so.1"});

  EXPECT_TRUE(ended.exited_with(0)) << ended.err;
  EXPECT_EQ(ended.out.rfind("; built in: libcrypt.conf\n", 0), 0U) << ended.out;
  EXPECT_NE(ended.out.find("\nstring[zero] crypt(string[zero], string[zero]);\n"),
            std::string::npos)
      << ended.out;
  EXPECT_EQ(ended.out.find("malloc"), std::string::npos) << ended.out;
}

TEST(ListPrototypes, takes_a_pattern_and_the_users_own_files) {
  const TempDir directory;
  const std::string conf = directory / "libmine.so.conf";
  write_file(conf, "int mine(int);\n");

  const Ended ended = run({"-F", directory / "", "--list-prototypes", "libm*"});

  EXPECT_TRUE(ended.exited_with(0)) << ended.err;
  EXPECT_NE(ended.out.find("libmine.so.conf\nint mine(int);\n"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("double sin(double);\n"), std::string::npos) << ended.out;
}

TEST(ListPrototypes, tells_of_a_pack_what_it_says) {
  const Ended ended = run({"--list-prototypes", "libopencv_imgproc.so.406"});

  EXPECT_TRUE(ended.exited_with(0)) << ended.err;
  EXPECT_EQ(ended.out.rfind("; built in: opencv.pack\n", 0), 0U) << ended.out.substr(0, 200);
  EXPECT_NE(ended.out.find("\nvoid cv::resize(...);\n"), std::string::npos);
}

TEST(ListPrototypes, looks_at_what_a_file_exports) {
  const Ended ended = run({"--list-prototypes", tracee("libnames.so")});

  EXPECT_TRUE(ended.exited_with(0)) << ended.err;
  EXPECT_EQ(ended.out.rfind("; the mangled name\n", 0), 0U) << ended.out;
  EXPECT_NE(ended.out.find(" named::reals(double, float, int);"), std::string::npos) << ended.out;
}

TEST(ListPrototypes, says_that_nothing_is_known) {
  const Ended unknown = run({"--list-prototypes", "libnone.so"});
  EXPECT_TRUE(unknown.exited_with(1));
  EXPECT_EQ(unknown.err, "sonictrace: no prototypes are known of a library 'libnone.so'; give a "
                         "soname, a path or a pattern\n");
  EXPECT_TRUE(run({"--list-prototypes", "/nowhere/libz.so"}).exited_with(1));
}

TEST(Doctor, finds_nothing_to_change_where_a_trace_works) {
  const Ended traced = run({"-o", "/dev/null", "/bin/true"});
  if (!traced.exited_with(0)) GTEST_SKIP() << "nothing can be traced here: " << traced.err;
  const Ended ended = run({"--doctor"});
  EXPECT_TRUE(ended.exited_with(0)) << ended.out << ended.err;
  EXPECT_EQ(conclusion_of(ended), kNothing);
}

TEST(Doctor, looks_at_a_process_and_leaves_it_running) {
  RunningProgram service({{tracee("service-pie-lazy"), "1"}}, true);
  ASSERT_TRUE(service.read_until("ready"));

  const Ended ended = run({"--doctor", std::to_string(service.pid())});

  EXPECT_TRUE(ended.exited_with(0)) << ended.out << ended.err;
  EXPECT_EQ(conclusion_of(ended), kNothing);
  EXPECT_NE(ended.out.find("service-pie-lazy"), std::string::npos) << ended.out;
  service.write_line("ping");
  EXPECT_TRUE(service.read_until("alive"));
  service.write_line("stop");
  EXPECT_TRUE(service.wait().exited_with(0));
}

TEST(Doctor, tells_nobody_that_roots_processes_are_roots) {
  if (!nobody_can_run_it()) GTEST_SKIP() << "needs root, and a directory that nobody may read";
  RunningProgram service({{tracee("service-pie-lazy"), "1"}}, true);
  ASSERT_TRUE(service.read_until("ready"));

  const Ended ended = run({"--doctor", std::to_string(service.pid())}, kAsNobody);

  EXPECT_TRUE(ended.exited_with(1)) << ended.out << ended.err;
  EXPECT_NE(ended.out.find("!!  user"), std::string::npos) << ended.out;
  EXPECT_NE(conclusion_of(ended).find("run sonictrace as root"), std::string::npos) << ended.out;
}

TEST(Doctor, sees_that_a_process_of_ones_own_is_not_dumpable) {
  if (!nobody_can_run_it()) GTEST_SKIP() << "needs root, and a directory that nobody may read";
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t secret = ::fork();
  if (secret == 0) {
    if (::setresgid(65534, 65534, 65534) < 0 || ::setresuid(65534, 65534, 65534) < 0) ::_exit(1);
    ::prctl(PR_SET_DUMPABLE, 0);
    if (::write(ready[1], "r", 1) != 1) ::_exit(1);
    for (;;)
      ::pause();
  }
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);

  const Ended ended = run({"--doctor", std::to_string(secret)}, kAsNobody);
  const Ended as_root = run({"--doctor", std::to_string(secret)});
  ::kill(secret, SIGKILL);
  ::waitpid(secret, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);

  EXPECT_TRUE(ended.exited_with(1)) << ended.out << ended.err;
  EXPECT_NE(ended.out.find("!!  dumpable"), std::string::npos) << ended.out;
  EXPECT_EQ(conclusion_of(ended), "to change: run sonictrace as root");
  EXPECT_TRUE(as_root.exited_with(0)) << as_root.out;
}

TEST(Doctor, names_another_tracer) {
  RunningProgram service({{tracee("service-pie-lazy"), "1"}}, true);
  ASSERT_TRUE(service.read_until("ready"));
  const auto pid = std::to_string(service.pid());
  Command first;
  first.argv = {SONICTRACE, "-o", "/dev/null", "-p", pid};
  RunningProgram tracer(first);
  ASSERT_TRUE(wait_until(
      [&] { return status_field(service.pid(), "TracerPid") != "0" || !tracer.is_running(); }));

  const Ended ended = run({"--doctor", pid});

  EXPECT_TRUE(ended.exited_with(1)) << ended.out << ended.err;
  EXPECT_EQ(conclusion_of(ended),
            "to change: end process " + std::to_string(tracer.pid()) + ", which is tracing it");
  tracer.send_signal(SIGINT);
  EXPECT_TRUE(tracer.wait().exited_with(0));
  service.write_line("stop");
  EXPECT_TRUE(service.wait().exited_with(0));
}

TEST(Doctor, names_a_process_that_is_not_there) {
  const Ended ended = run({"--doctor", "4194303"});
  EXPECT_TRUE(ended.exited_with(1));
  EXPECT_NE(ended.out.find("!!  process 4194303"), std::string::npos) << ended.out;
  EXPECT_FALSE(run({"--doctor", "x"}).exited_with(0));
}

TEST(Match, attaches_to_the_one_process_whose_command_line_matches) {
  TemporaryDirectory directory;
  const auto program = directory.path("the-only-service");
  std::filesystem::create_symlink(tracee("service-pie-lazy"), program);
  RunningProgram service({{program, "1"}}, true);
  ASSERT_TRUE(service.read_until("ready"));
  Command how;
  how.argv = {SONICTRACE,      "--match", "the-only-s[a-e]rvice 1$", "-e", "tr_*",
              "--max-calls=3", "-o",      directory.path("log")};
  RunningProgram tracer(how);

  EXPECT_TRUE(tracer.wait().exited_with(0)) << tracer.errors_so_far();
  EXPECT_EQ(parse_log(read_file(directory.path("log"))).calls.size(), 3u);
  service.write_line("stop");
  EXPECT_TRUE(service.wait().exited_with(0));
}

TEST(Match, lists_several_and_attaches_to_none) {
  TemporaryDirectory directory;
  const auto program = directory.path("one-of-two");
  std::filesystem::create_symlink(tracee("service-pie-lazy"), program);
  RunningProgram one({{program, "1"}}, true), other({{program, "1"}}, true);
  ASSERT_TRUE(one.read_until("ready") && other.read_until("ready"));

  const Ended several = run({"--match=one-of-two"});
  const Ended none = run({"--match=one-of-none"});

  EXPECT_TRUE(several.exited_with(1)) << several.end();
  for (const auto pid : {one.pid(), other.pid()})
    EXPECT_NE(several.err.find(std::to_string(pid) + " " + program + " 1"), std::string::npos)
        << several.err;
  EXPECT_TRUE(none.exited_with(1));
  EXPECT_EQ(lines_of(none.err).size(), 1u) << none.err;
  EXPECT_TRUE(none.err.starts_with("sonictrace: ")) << none.err;
}

TEST(Debug, explains_its_bits_and_says_what_was_asked_for) {
  const Ended help = run({"-Dh"});
  EXPECT_TRUE(help.exited_with(0)) << help.err;
  EXPECT_NE(help.out.find("octal"), std::string::npos) << help.out;
  EXPECT_TRUE(run({"-D", "9", "/bin/true"}).exited_with(1));

  const Ended modules = run({"-D4", "-o", "/dev/null", "/bin/true"});
  EXPECT_TRUE(modules.exited_with(0));
  EXPECT_NE(modules.err.find("sonictrace: debug: "), std::string::npos) << modules.err;
  EXPECT_NE(modules.err.find("libc.so.6"), std::string::npos) << modules.err;
}

} // namespace
} // namespace sonictrace::test
