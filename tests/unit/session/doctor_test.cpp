#include "sonictrace/session/doctor.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>

#include "session/doctor_facts.hpp"

namespace sonictrace {
namespace {

using Verdict = DoctorCheck::Verdict;

DoctorTarget ordinary_target() {
  DoctorTarget target;
  target.pid = 42;
  target.status = TaskStatus{};
  target.status->process = 42;
  target.status->state = 'S';
  target.user = "somebody";
  target.same_ids = true;
  target.machine = Machine::X86_64;
  target.seize = 0;
  return target;
}

struct Case {
  const char* name;
  std::function<void(DoctorFacts&)> change; ///< of a machine and a process that can be traced
  const char* subject;                      ///< the check that sees it
  Verdict verdict;
  const char* conclusion; ///< a part of it
};
void PrintTo(const Case& tested, std::ostream* out) { *out << tested.name; }

constexpr const char* kNothing = "nothing: it can be traced";

const Case kCases[] = {
    {"nothing_in_the_way", [](DoctorFacts&) {}, "Yama", Verdict::Fine, kNothing},
    {"yama_off", [](DoctorFacts& facts) { facts.yama = "0"; }, "Yama", Verdict::Fine, kNothing},
    {"yama_1_and_a_process",
     [](DoctorFacts& facts) {
       facts.yama = "1";
       facts.target->seize = EPERM;
     },
     "Yama", Verdict::Bad, "sysctl kernel.yama.ptrace_scope=0"},
    {"yama_1_and_a_command",
     [](DoctorFacts& facts) {
       facts.yama = "1";
       facts.target.reset();
     },
     "Yama", Verdict::Fine, kNothing},
    {"yama_1_and_the_capability",
     [](DoctorFacts& facts) {
       facts.yama = "1";
       facts.has_capability = true;
     },
     "Yama", Verdict::Fine, kNothing},
    {"yama_2",
     [](DoctorFacts& facts) {
       facts.yama = "2";
       facts.target.reset();
       facts.trial.seize = EPERM;
     },
     "Yama", Verdict::Bad, "run sonictrace as root"},
    {"yama_3_even_for_root",
     [](DoctorFacts& facts) {
       facts.yama = "3";
       facts.has_capability = facts.is_root = true;
       facts.trial.seize = facts.target->seize.emplace(EPERM);
     },
     "Yama", Verdict::Bad, "boot"},
    {"ptrace_forbidden_by_a_container",
     [](DoctorFacts& facts) {
       facts.seccomp = 2;
       facts.trial.seize = EPERM;
       facts.target.reset();
     },
     "ptrace", Verdict::Bad, "--cap-add=SYS_PTRACE"},
    {"a_filter_that_lets_ptrace_pass", [](DoctorFacts& facts) { facts.seccomp = 2; }, "seccomp",
     Verdict::Fine, kNothing},
    {"selinux", [](DoctorFacts& facts) { facts.selinux_denies = true; }, "security modules",
     Verdict::Bad, "setsebool"},
    {"lockdown", [](DoctorFacts& facts) { facts.lockdown = "integrity"; }, "security modules",
     Verdict::Fine, kNothing},
    {"no_system_call_info", [](DoctorFacts& facts) { facts.trial.syscall_info = EIO; },
     "system calls", Verdict::Unclear, kNothing},
    {"code_that_cannot_be_written", [](DoctorFacts& facts) { facts.trial.write_code = EIO; },
     "memory", Verdict::Bad, "proc_mem.force_override"},
    {"no_vm_readv", [](DoctorFacts& facts) { facts.trial.vm_read = ENOSYS; }, "memory",
     Verdict::Unclear, kNothing},
    {"no_executable_pages", [](DoctorFacts& facts) { facts.trial.map_code = EACCES; },
     "executable pages", Verdict::Unclear, kNothing},
    {"no_such_process", [](DoctorFacts& facts) { facts.target->status.reset(); }, "process 42",
     Verdict::Bad, "a process that runs"},
    {"a_thread", [](DoctorFacts& facts) { facts.target->status->process = 40; }, "process 42",
     Verdict::Bad, "name process 40"},
    {"a_kernel_thread", [](DoctorFacts& facts) { facts.target->status->kernel_thread = true; },
     "process 42", Verdict::Bad, "name a program"},
    {"a_zombie", [](DoctorFacts& facts) { facts.target->status->state = 'Z'; }, "process 42",
     Verdict::Bad, "a process that runs"},
    {"a_missing_process_where_ptrace_is_forbidden",
     [](DoctorFacts& facts) {
       facts.trial.seize = EPERM;
       facts.target->status.reset();
     },
     "process 42", Verdict::Bad, "a process that runs"},
    {"another_tracer",
     [](DoctorFacts& facts) {
       facts.target->status->tracer = 7;
       facts.target->tracer_command = "gdb -p 42";
       facts.target->seize.reset();
     },
     "another tracer", Verdict::Bad, "end process 7"},
    {"somebody_elses",
     [](DoctorFacts& facts) {
       facts.target->same_ids = false;
       facts.target->seize = EPERM;
     },
     "user", Verdict::Bad, "run sonictrace as somebody, or as root"},
    {"ones_own_with_more_capabilities",
     [](DoctorFacts& facts) {
       facts.target->has_more_capabilities = true;
       facts.target->seize = EPERM;
     },
     "user", Verdict::Bad, "run sonictrace as root"},
    {"somebody_elses_and_the_capability",
     [](DoctorFacts& facts) {
       facts.target->same_ids = false;
       facts.has_capability = true;
     },
     "user", Verdict::Fine, kNothing},
    {"somebody_elses_and_root_without_the_capability",
     [](DoctorFacts& facts) {
       facts.target->same_ids = false;
       facts.is_root = true;
       facts.target->seize = EPERM;
     },
     "user", Verdict::Bad, "--cap-add=SYS_PTRACE"},
    {"not_dumpable",
     [](DoctorFacts& facts) {
       facts.target->is_dumpable = false;
       facts.target->seize = EPERM;
     },
     "dumpable", Verdict::Bad, "run sonictrace as root"},
    {"in_a_container", [](DoctorFacts& facts) { facts.target->same_mount_namespace = false; },
     "namespaces", Verdict::Fine, kNothing},
    {"a_32_bit_program", [](DoctorFacts& facts) { facts.target->machine = Machine::I386; },
     "program", Verdict::Bad, "64-bit"},
    {"a_filter_of_its_own", [](DoctorFacts& facts) { facts.target->status->seccomp = 2; },
     "its seccomp", Verdict::Unclear, kNothing},
    {"refused_without_a_reason",
     [](DoctorFacts& facts) {
       facts.has_capability = true;
       facts.target->seize = EACCES;
     },
     "attach", Verdict::Bad, "SELinux or AppArmor"},
};

class JudgeFacts : public testing::TestWithParam<Case> {};

TEST_P(JudgeFacts, names_what_stands_in_the_way_and_what_to_change) {
  DoctorFacts facts;
  facts.target = ordinary_target();
  GetParam().change(facts);

  const auto report = judge(facts);

  const auto check =
      std::find_if(report.checks.begin(), report.checks.end(),
                   [](const DoctorCheck& each) { return each.subject == GetParam().subject; });
  ASSERT_NE(check, report.checks.end()) << report.text();
  EXPECT_EQ(check->verdict, GetParam().verdict) << report.text();
  EXPECT_NE(report.conclusion().find(GetParam().conclusion), std::string::npos) << report.text();
  EXPECT_EQ(report.can_trace(), report.conclusion() == kNothing) << report.text();
  EXPECT_EQ(report.conclusion().find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Doctor, JudgeFacts, testing::ValuesIn(kCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(Doctor, shows_a_line_for_each_check_and_the_conclusion_last) {
  DoctorReport report;
  report.checks = {{Verdict::Fine, "Yama", "off", {}},
                   {Verdict::Unclear, "seccomp", "a filter", {}},
                   {Verdict::Bad, "user", "another", "become it"}};

  EXPECT_EQ(report.text(), "ok  Yama              off\n"
                           "??  seccomp           a filter\n"
                           "!!  user              another\n"
                           "to change: become it\n");
}

/// A child of this test that waits to be killed.
class Child {
public:
  explicit Child(const std::function<void()>& first = [] {}) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    pid_ = fork();
    if (pid_ == 0) {
      first();
      close(ends[0]);
      EXPECT_EQ(write(ends[1], "r", 1), 1);
      for (;;)
        pause();
    }
    close(ends[1]);
    char byte;
    EXPECT_EQ(read(ends[0], &byte, 1), 1);
    close(ends[0]);
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

private:
  pid_t pid_;
};

TEST(Doctor, finds_that_a_process_can_be_traced_and_leaves_it_as_it_is) {
  const Child child;

  const auto report = diagnose(child.pid());

  EXPECT_TRUE(report.can_trace()) << report.text();
  EXPECT_NE(report.text().find("calls of "), std::string::npos) << report.text();
  const auto status = read_task_status(child.pid());
  ASSERT_TRUE(status);
  EXPECT_EQ(status->tracer, 0);
  EXPECT_EQ(status->state, 'S');
}

TEST(Doctor, names_the_process_that_traces_already) {
  const Child child;
  const Child tracer([&] { ptrace(PTRACE_SEIZE, child.pid(), 0, 0); });

  const auto report = diagnose(child.pid());

  EXPECT_EQ(report.conclusion(),
            "end process " + std::to_string(tracer.pid()) + ", which is tracing it")
      << report.text();
}

TEST(Doctor, tells_a_process_that_has_ended_from_one_that_is_not_there) {
  const pid_t zombie = fork();
  if (zombie == 0) _exit(0);
  siginfo_t ended;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(zombie), &ended, WEXITED | WNOWAIT), 0);

  const auto report = diagnose(zombie);
  waitpid(zombie, nullptr, 0);
  const auto afterwards = diagnose(zombie);

  EXPECT_NE(report.text().find("has ended"), std::string::npos) << report.text();
  EXPECT_FALSE(report.can_trace());
  EXPECT_NE(afterwards.text().find("there is none"), std::string::npos) << afterwards.text();
  EXPECT_FALSE(afterwards.can_trace());
}

TEST(Doctor, knows_a_kernel_thread) {
  const auto kthreadd = read_task_status(2);
  if (!kthreadd || !kthreadd->kernel_thread) GTEST_SKIP() << "no kernel threads in this container";
  const auto report = diagnose(2);
  EXPECT_NE(report.text().find("kernel thread"), std::string::npos) << report.text();
  EXPECT_FALSE(report.can_trace());
}

TEST(Doctor, leaves_no_children_behind) {
  (void)diagnose(std::nullopt);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), -1);
  EXPECT_EQ(errno, ECHILD);
}

} // namespace
} // namespace sonictrace
