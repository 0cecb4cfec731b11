#include <gtest/gtest.h>

#include <cerrno>

#include "sonictrace/process/attach.hpp"

namespace sonictrace {
namespace {

struct Case {
  const char* name;
  AttachRefusal refusal;
  const char* expected; ///< a part of the line
};

void PrintTo(const Case& tested, std::ostream* out) { *out << tested.name; }

AttachRefusal refusal(int error) {
  AttachRefusal facts;
  facts.pid = 4711;
  facts.error = error;
  return facts;
}
AttachRefusal with_yama(const char* scope, bool root = false) {
  auto facts = refusal(EPERM);
  facts.yama = scope;
  facts.we_are_root = root;
  return facts;
}
AttachRefusal traced() {
  auto facts = refusal(EPERM);
  facts.other_tracer = 99;
  facts.other_tracer_name = "gdb -p 4711";
  return facts;
}
AttachRefusal kernel_thread() {
  auto facts = refusal(EPERM);
  facts.kernel_thread = true;
  return facts;
}
AttachRefusal of_somebody_else() {
  auto facts = refusal(EPERM);
  facts.own_user = false;
  return facts;
}
AttachRefusal as_root() {
  auto facts = refusal(EPERM);
  facts.we_are_root = true;
  return facts;
}

class ExplainRefusal : public testing::TestWithParam<Case> {};

TEST_P(ExplainRefusal, names_the_process_the_cause_and_what_to_do) {
  const auto line = explain(GetParam().refusal);
  EXPECT_EQ(line.find("can't attach to process 4711: "), 0u) << line;
  EXPECT_NE(line.find(GetParam().expected), std::string::npos) << line;
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Attach, ExplainRefusal,
    testing::Values(Case{"no_process", refusal(ESRCH), "no such process"},
                    Case{"kernel_thread", kernel_thread(), "kernel thread"},
                    Case{"other_tracer", traced(), "process 99 (gdb -p 4711) is tracing it"},
                    Case{"yama_1", with_yama("1"), "sysctl kernel.yama.ptrace_scope=0"},
                    Case{"yama_3", with_yama("3", true), "until the next boot"},
                    Case{"yama_off", with_yama("0"), "root only"},
                    Case{"other_user", of_somebody_else(), "as root"},
                    Case{"root", as_root(), "CAP_SYS_PTRACE"}),
    [](const auto& tested) { return std::string(tested.param.name); });

} // namespace
} // namespace sonictrace
