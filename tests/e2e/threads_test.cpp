// Threads that call at the same time, and those that come and go.
#include <map>

#include "trace.hpp"

namespace sonictrace::test {
namespace {

class Threads : public TracedProgram {};

TEST_P(Threads, that_call_at_once_get_right_results_and_are_logged_completely) {
  const Traced run = traced({"-e", "tr_*"}, {program("threads"), "4", "20000"});

  ASSERT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  EXPECT_EQ(run.ended.out, "sum 40080000\n");
  EXPECT_TRUE(run.log.strange.empty()) << run.log.strange.front();
  ASSERT_EQ(run.log.calls.size(), 80000u);
  std::map<std::string, int> of_thread; // each has its own second argument
  std::map<std::string, std::string> argument_of;
  for (const auto& call : run.log.calls) {
    const auto& [it, is_new] = argument_of.try_emplace(call.thread, call.arguments.at(1));
    ASSERT_EQ(it->second, call.arguments[1]) << "a call in the wrong thread " << call.thread;
    ASSERT_EQ(std::stoi(call.arguments[0]) + std::stoi(call.arguments[1]), std::stoi(call.result));
    ASSERT_EQ(std::stoi(call.arguments[0]), of_thread[call.thread] % 1000) << "out of order";
    ++of_thread[call.thread];
  }
  EXPECT_EQ(of_thread.size(), 4u);
  for (const auto& [thread, calls] : of_thread)
    EXPECT_EQ(calls, 20000) << thread;
}

TEST_P(Threads, that_come_and_go_are_all_logged) {
  const Traced run = traced({"-f", "-e", "tr_*"}, {program("churn"), "30"});

  ASSERT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  ASSERT_EQ(run.log.calls.size(), 3000u);
  std::map<std::string, int> of_id;
  for (const auto& call : run.log.calls) {
    ASSERT_EQ(std::stoi(call.arguments.at(0)) + std::stoi(call.arguments.at(1)),
              std::stoi(call.result));
    ++of_id[call.arguments[0]];
  }
  EXPECT_EQ(of_id.size(), 300u);
  for (const auto& [id, calls] : of_id)
    EXPECT_EQ(calls, 10) << id;
}

TEST_P(Threads, behind_the_first_have_their_number_behind_the_time) {
  const Traced run = traced({"-tt", "-e", "tr_*"}, {program("threads"), "2", "10"});

  ASSERT_TRUE(run.ended.exited_with(0));
  ASSERT_EQ(run.log.calls.size(), 20u);
  const std::regex form(R"(^\d\d:\d\d:\d\d\.\d{6}/\d+ tr_add\()");
  for (const auto& line : lines_of(run.text)) {
    const bool is_call = line.find("tr_add(") != std::string::npos;
    EXPECT_TRUE(!is_call || std::regex_search(line, form)) << line;
  }
}

INSTANTIATE_OVER_ENGINES_AND_VARIANTS(Threads);

} // namespace
} // namespace sonictrace::test
