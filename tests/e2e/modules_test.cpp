// Libraries that come and go, and files that are not where the tracer would look for them.
#include "trace.hpp"

namespace sonictrace::test {
namespace {

class Modules : public TracedProgram {};

TEST_P(Modules, loaded_dropped_and_loaded_elsewhere_are_traced_each_time) {
  const Traced run =
      traced({"--split-lines", "-e", "tr_*"}, {program("plugins"), tracee("libplug.so")});

  EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  expect_calls(run.log.calls, printed_calls(run.ended.out));
}

TEST_P(Modules, loaded_by_the_program_are_traced_by_default) {
  const Traced run = traced({"--split-lines"}, {program("plugins"), tracee("libplug.so")});

  EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  EXPECT_EQ(run.log.of("tr_add").size(), 23u);
  EXPECT_GE(run.log.of("dlopen").size(), 22u);
  EXPECT_GE(run.log.of("dlclose").size(), 22u);
}

TEST_P(Modules, entry_probes_follow_a_library_to_each_place) {
  const Traced run = traced({"--split-lines", "-L", "-x", "plug_run@libplug.so"},
                            {program("plugins"), tracee("libplug.so")});

  EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  ASSERT_EQ(run.log.calls.size(), 23u);
  for (std::size_t i = 0; i < 23; ++i) {
    EXPECT_EQ(run.log.calls[i].name, "plug_run");
    EXPECT_EQ(run.log.calls[i].arguments.at(0), std::to_string(i + 1));
    EXPECT_EQ(run.log.calls[i].result, std::to_string(i + 8));
  }
}

TEST_P(Modules, bound_to_their_own_libraries_first_are_said_to_call_those) {
  const Traced run = traced({"-e", "tr_*"}, {program("deep_bind"), tracee("libplug_deep.so")});

  EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  EXPECT_TRUE(run.log.has_event("\\+\\+\\+ tr_nothing is in libtracee\\.so \\+\\+\\+")) << run.text;
  EXPECT_TRUE(run.log.has_event("\\+\\+\\+ tr_add is in libtracee_again\\.so \\+\\+\\+"))
      << run.text;
}

// The library that is assumed has its own idea of what the arguments are.
TEST_P(Modules, taken_for_others_are_shown_by_what_is_known_of_them) {
  const TemporaryDirectory confs;
  write_file(confs.path() + "/libtracee.so.conf", "octal tr_add(hex(int), hex(int));\n");
  write_file(confs.path() + "/libtracee_again.so.conf", "hex(int) tr_add(int, int);\n");
  const Traced run = traced({"-F", confs.path(), "-e", "tr_add"},
                            {program("deep_bind"), tracee("libplug_deep.so")});

  EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  const auto calls = run.log.of("tr_add");
  ASSERT_EQ(calls.size(), 2u) << run.text;
  if (engine() == "inline") return; // it tells where calls go a while after they went there
  EXPECT_EQ(run.text.rfind("tr_add(...)", 0), 0u) << run.text;
  EXPECT_EQ(calls[1].result, "0x9") << run.text;
  EXPECT_EQ(run.text.find("0x1"), std::string::npos) << run.text;
}

/// A root directory with a program and the libraries that it needs.
void fill_root(const std::string& root, const std::string& program) {
  namespace fs = std::filesystem;
  const std::string libraries[] = {"/lib64/ld-linux-x86-64.so.2",
                                   "/lib/x86_64-linux-gnu/libc.so.6"};
  for (const auto& library : libraries) {
    fs::create_directories(root + fs::path(library).parent_path().string());
    fs::copy_file(library, root + library);
  }
  fs::create_directories(root + "/inside");
  fs::copy_file(program, root + "/inside/program");
  fs::copy_file(tracee("libtracee.so"), root + "/inside/libtracee.so");
}

TEST_P(Modules, of_another_root_directory_are_read_from_there) {
  if (::geteuid() != 0) GTEST_SKIP() << "chroot is for root";
  const TemporaryDirectory root;
  fill_root(root.path(), program("calls"));
  Command how;
  how.environment = {"LD_LIBRARY_PATH=/inside"}; // $ORIGIN needs a /proc

  const Traced run =
      traced({"--split-lines", "-e", "tr_*"}, {"chroot", root.path(), "/inside/program", "5"}, how);

  EXPECT_TRUE(run.ended.exited_with(3)) << run.ended.end() << "\n" << run.ended.err;
  expect_calls(run.log.calls, printed_calls(run.ended.out));
}

TEST_P(Modules, of_another_mount_name_space_are_read_from_there) {
  if (::geteuid() != 0) GTEST_SKIP() << "unshare -m is for root";
  const TemporaryDirectory root;
  fill_root(root.path(), program("calls"));
  std::filesystem::create_directories(root.path("seen"));
  const std::string script = "mount --bind '" + root.path("inside") + "' '" + root.path("seen") +
                             "' && exec '" + root.path("seen") + "/program' 5";

  const Traced run = traced({"--split-lines", "-e", "tr_*"}, {"unshare", "-m", "sh", "-c", script});

  EXPECT_TRUE(run.ended.exited_with(3)) << run.ended.end() << "\n" << run.ended.err;
  expect_calls(run.log.calls, printed_calls(run.ended.out));
}

TEST_P(Modules, whose_file_is_deleted_meanwhile_are_still_read) {
  const TemporaryDirectory directory;
  std::filesystem::copy_file(program("calls"), directory.path("program"));
  std::filesystem::copy_file(tracee("libtracee.so"), directory.path("libtracee.so"));
  // The interpreter's own file goes before its exec; the program's goes while it is held open.
  const std::string script = "exec 9<'" + directory.path("program") + "'; rm '" +
                             directory.path("program") + "'; LD_LIBRARY_PATH='" + directory.path() +
                             "' exec /proc/self/fd/9 5";

  const Traced run = traced({"--split-lines", "-e", "tr_*"}, {"sh", "-c", script});

  EXPECT_TRUE(run.ended.exited_with(3)) << run.ended.end() << "\n" << run.ended.err;
  expect_calls(run.log.calls, printed_calls(run.ended.out));
}

INSTANTIATE_OVER_ENGINES_AND_VARIANTS(Modules);

// With breakpoints nobody knows how long a stop has lasted before a tracer that was stopped sees
// it.
TEST(InlineModules, that_a_tracer_looks_at_take_no_time_of_dlopen) {
  const Traced run = trace("inline", {"-T", "-e", "dlopen"},
                           {tracee("slow_dlopen-pie-now"), tracee("libplug.so")});

  ASSERT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  EXPECT_GE(std::stod(run.ended.out), 250) << "the tracer was not stopped";
  std::smatch took;
  ASSERT_TRUE(std::regex_search(run.text, took, std::regex("dlopen\\(.*<([0-9.]+)>"))) << run.text;
  EXPECT_LT(std::stod(took[1]), 0.15);
}

class HugePlt : public WithEngine {};

TEST_P(HugePlt, of_10500_slots_is_traced_name_by_name) {
  for (const std::string binding : {"lazy", "now"}) {
    SCOPED_TRACE(binding);
    if (!exists(tracee("huge-" + binding))) GTEST_SKIP() << "awk is not installed";
    const Traced run = traced({"-e", "hp_*"}, {tracee("huge-" + binding)});

    ASSERT_TRUE(run.ended.exited_with(0)) << run.ended.end() << run.ended.err;
    EXPECT_EQ(run.ended.out, "sum 55151250\n");
    ASSERT_EQ(run.log.calls.size(), 10500u);
    for (int i = 0; i < 10500; ++i) {
      const auto& call = run.log.calls[static_cast<std::size_t>(i)];
      char name[16];
      std::snprintf(name, sizeof name, "hp_%05d", i);
      ASSERT_EQ(call.name, name);
      ASSERT_EQ(call.arguments.at(0), std::to_string(i % 7));
      ASSERT_EQ(std::stoi(call.result, nullptr, 0), i + i % 7);
    }
  }
}

INSTANTIATE_OVER_ENGINES(HugePlt);

} // namespace
} // namespace sonictrace::test
