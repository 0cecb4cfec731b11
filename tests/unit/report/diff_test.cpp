#include "sonictrace/report/diff.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace sonictrace::report {
namespace {

/// A function in runs whose calls all take the same time.
FunctionProfile function(std::string name, const std::vector<std::uint64_t>& calls,
                         const std::vector<std::uint64_t>& per_call_ns, std::string module = {}) {
  FunctionProfile one;
  log::Function known;
  known.name = name;
  one.call_class = class_of(known);
  one.name = std::move(name);
  one.module = std::move(module);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto sum = calls[i] * per_call_ns[i];
    one.runs.push_back({calls[i], sum, sum, static_cast<double>(per_call_ns[i])});
    one.all.calls += calls[i];
    one.all.timed += calls[i];
    one.all.sum_ns += sum;
    one.all.self_ns += sum;
    one.all.durations.add(per_call_ns[i]);
  }
  return one;
}

Profile profile(std::vector<FunctionProfile> functions, std::uint64_t span_ns = 0) {
  std::vector<ProfiledRun> runs(functions.empty() ? 1 : functions.front().runs.size());
  for (auto& run : runs)
    run.span_ns = span_ns;
  return Profile::of(runs, std::move(functions));
}

DiffOptions limits(const std::vector<std::string>& texts) {
  DiffOptions options;
  for (const auto& text : texts) {
    auto limit = parse_limit(text);
    EXPECT_TRUE(limit) << text;
    if (limit) options.limits.push_back(*limit);
  }
  return options;
}

Diff diff_of(const Profile& before, const Profile& after, const DiffOptions& options = {}) {
  auto diff = compare(before, after, options);
  EXPECT_TRUE(diff) << (diff ? "" : diff.error().message());
  return diff ? *diff : Diff();
}

const DiffRow& row(const std::vector<DiffRow>& rows, std::string_view name) {
  static const DiffRow kNone;
  for (const auto& one : rows)
    if (one.name == name) return one;
  ADD_FAILURE() << "no row " << name;
  return kNone;
}

TEST(DiffLimit, is_exceeded_by_31_per_cent_and_not_by_30_or_29) {
  const struct {
    std::uint64_t after;
    std::size_t failures;
  } cases[] = {{129, 0}, {130, 0}, {131, 1}, {99, 0}};
  for (const auto& one : cases) {
    const auto diff =
        diff_of(profile({function("futex", {100}, {10})}),
                profile({function("futex", {one.after}, {10})}), limits({"calls:futex=30%"}));

    EXPECT_EQ(diff.failures(), one.failures) << one.after;
  }
}

TEST(DiffLimit, on_one_function_goes_before_that_on_all) {
  const auto before = profile({function("futex", {100}, {10}), function("read", {10}, {10})});
  const auto after = profile({function("futex", {130}, {10}), function("read", {11}, {10})});

  const auto diff = diff_of(before, after, limits({"calls:futex=30%", "calls=0"}));

  EXPECT_EQ(diff.failures(), 1u);
  EXPECT_EQ(verdict(row(diff.rows, "read")), "REGRESSION (calls > 0)");
  EXPECT_TRUE(row(diff.rows, "futex").broken.empty());
}

TEST(DiffLimit, says_what_is_wrong_with_it) {
  for (const auto* const text : {"", "time", "time=", "time=x%", "time=5", "calls=-1%", "speed=5%",
                                 "scale:f=5%", "new=5%", "time=1.2345%", "time=5%%"})
    EXPECT_FALSE(parse_limit(text)) << text;
  const auto limit = parse_limit("calls:std::operator==*=12.5%");
  ASSERT_TRUE(limit);
  EXPECT_EQ(limit->thousandths, 12500u);
  EXPECT_TRUE(limit->function->matches("std::operator==(a)"));
}

TEST(Diff, tells_more_calls_from_slower_calls) {
  // 30 inference steps in place of 20: half as many calls again, each as long as before.
  const auto steps = [](std::uint64_t n) {
    return profile({function("diffusion_step_loop", {n}, {50'000'000}, "libsonic.so"),
                    function("at::native::conv2d", {n * 10}, {2'000'000}, "libtorch_cpu.so"),
                    function("at::native::add", {n * 20}, {300'000}, "libtorch_cpu.so"),
                    function("av_frame_alloc", {30}, {9'000}, "libavutil.so.57")});
  };

  const auto diff = diff_of(steps(20), steps(30));

  const auto& loop = row(diff.rows, "diffusion_step_loop");
  EXPECT_EQ(loop.calls, (Change{20, 30}));
  EXPECT_DOUBLE_EQ(*loop.calls.part(), 0.5);
  EXPECT_EQ(verdict(loop), "more calls, not slower calls");
  const auto& torch = row(diff.totals, "all of libtorch_cpu.so");
  EXPECT_DOUBLE_EQ(*torch.calls.part(), 0.5);
  EXPECT_NEAR(*torch.time_change, 0.5, 1e-9);
  ASSERT_TRUE(diff.scale);
  EXPECT_NEAR(*diff.scale->part(), 0, 1e-9);
}

TEST(Diff, of_single_runs_says_improved_when_a_lock_is_gone) {
  // 14,763 futex calls and 22 s before, 3,990 and 9 s after.
  const auto before = profile({function("futex", {14763}, {900'000})}, 22'000'000'000);
  const auto after = profile({function("futex", {3990}, {100'000})}, 9'000'000'000);
  DiffOptions options;
  options.allow_single = true;

  const auto diff = diff_of(before, after, options);

  const auto& futex = row(diff.rows, "futex");
  EXPECT_NEAR(*futex.calls.part(), -0.730, 0.0005);
  EXPECT_EQ(verdict(futex), "improved (calls, time)");
  EXPECT_EQ(verdict(row(diff.totals, "wall")), "improved (time)");
}

TEST(Diff, has_a_row_for_all_system_calls) {
  const auto syscalls = [](std::uint64_t reads, std::uint64_t futexes) {
    auto read = function("read", {reads}, {10}, "SYS");
    auto futex = function("futex", {futexes}, {10}, "SYS");
    read.is_syscall = futex.is_syscall = true;
    return profile({read, futex, function("memcpy", {7}, {10}, "libc.so.6")});
  };

  const auto diff = diff_of(syscalls(600, 400), syscalls(800, 600), limits({"syscalls=40%"}));

  EXPECT_NEAR(*row(diff.totals, "all syscalls").calls.part(), 0.4, 1e-12);
  EXPECT_EQ(diff.failures(), 0u); // 40.0 % is not above 40 %
  EXPECT_EQ(diff_of(syscalls(600, 400), syscalls(801, 600), limits({"syscalls=40%"})).failures(),
            1u);
}

/// Seven runs of nine functions that compute; `speed` of the machine in per cent, and how much
/// longer `blend` takes, in per cent.
Profile seven_runs(std::uint64_t speed, std::uint64_t blend) {
  std::vector<FunctionProfile> functions;
  const std::vector<std::uint64_t> calls(7, 100);
  for (int i = 0; i < 9; ++i) {
    std::vector<std::uint64_t> times;
    for (std::uint64_t run = 0; run < 7; ++run) {
      // A little noise that no two functions share.
      const std::uint64_t noise = (run * 37 + static_cast<std::uint64_t>(i) * 53) % 11;
      times.push_back((100'000 + noise * 100) * speed / 100 * (i == 4 ? 100 + blend : 100) / 100);
    }
    functions.push_back(function(i == 4 ? "blend" : fmt::format("step{}", i), calls, times));
  }
  return profile(std::move(functions));
}

TEST(Diff, finds_the_one_slower_function_on_a_machine_that_became_slower_too) {
  const auto diff =
      diff_of(seven_runs(100, 0), seven_runs(130, 10), limits({"time=5%", "calls=0"}));

  EXPECT_EQ(diff.tested, 9u);
  EXPECT_EQ(diff.failures(), 1u);
  ASSERT_FALSE(diff.rows.empty());
  EXPECT_EQ(diff.rows.front().name, "blend"); // what failed stands first
  EXPECT_EQ(verdict(diff.rows.front()), "REGRESSION (time)");
  EXPECT_NEAR(*diff.rows.front().time_change, 0.10, 0.01);
  EXPECT_NEAR(*diff.rows.front().p, 2.0 / 3432, 1e-12);
  EXPECT_NEAR(*diff.rows.front().q, 9 * 2.0 / 3432, 1e-12);
  EXPECT_EQ(verdict(row(diff.rows, "step1")), "~");
  ASSERT_TRUE(diff.scale);
  EXPECT_NEAR(*diff.scale->part(), 0.30, 0.01);
}

TEST(Diff, gates_the_run_scale_apart) {
  EXPECT_EQ(
      diff_of(seven_runs(100, 0), seven_runs(130, 0), limits({"time=5%", "scale=10%"})).broken,
      std::vector<std::string>{"run scale > 10%"});
  EXPECT_EQ(diff_of(seven_runs(100, 0), seven_runs(105, 0), limits({"scale=10%"})).failures(), 0u);
}

TEST(Diff, does_not_let_a_gate_on_time_pass_that_it_cannot_judge) {
  const auto one = profile({function("f", {1}, {10})});

  EXPECT_FALSE(compare(one, one, limits({"time=5%"})));
  EXPECT_FALSE(compare(one, one, limits({"scale=5%"})));
  EXPECT_FALSE(compare(seven_runs(100, 0), one, limits({"time=5%"})));
  EXPECT_TRUE(compare(one, one, limits({"calls=5%"})));
  auto single = limits({"time=5%"});
  single.allow_single = true;
  EXPECT_EQ(diff_of(one, profile({function("f", {1}, {13})}), single).failures(), 1u);
}

TEST(Diff, judges_waits_by_the_time_of_a_call_and_without_the_run_scale) {
  auto before = seven_runs(100, 0);
  auto after = seven_runs(200, 0);
  const std::vector<std::uint64_t> waits(7, 1'000'000);
  before = Profile::of(before.runs(), [&] {
    auto all = before.functions();
    all.push_back(function("usleep", std::vector<std::uint64_t>(7, 20), waits));
    return all;
  }());
  after = Profile::of(after.runs(), [&] {
    auto all = after.functions();
    all.push_back(function("usleep", std::vector<std::uint64_t>(7, 20), waits));
    return all;
  }());

  const auto diff = diff_of(before, after);

  const auto& usleep = row(diff.rows, "usleep");
  EXPECT_TRUE(usleep.is_per_call);
  EXPECT_DOUBLE_EQ(*usleep.time_change, 0);
  EXPECT_EQ(usleep.time_ns, (Change{1e6, 1e6}));
}

TEST(Diff, takes_counts_that_vary_for_changed_only_beyond_their_own_range) {
  const std::vector<std::uint64_t> t(3, 10);
  const auto before = profile({function("futex", {90, 100, 130}, t)});

  const auto within =
      diff_of(before, profile({function("futex", {120, 125, 140}, t)}), limits({"calls=10%"}));
  const auto beyond =
      diff_of(before, profile({function("futex", {131, 135, 140}, t)}), limits({"calls=10%"}));

  EXPECT_EQ(within.failures(), 0u);
  EXPECT_EQ(row(within.rows, "futex").calls_trend, Trend::Same);
  EXPECT_EQ(beyond.failures(), 1u);
}

TEST(Diff, lists_missing_and_new_functions_and_gates_new_ones_where_asked) {
  const auto before = profile({function("usleep", {3}, {10}), function("read", {1}, {10})});
  const auto after = profile({function("read", {1}, {10}), function("poll", {9}, {10})});

  const auto diff = diff_of(before, after, limits({"calls=0"}));

  ASSERT_EQ(diff.missing.size(), 1u);
  EXPECT_EQ(diff.missing[0].name, "usleep");
  ASSERT_EQ(diff.added.size(), 1u);
  EXPECT_EQ(diff.added[0].name, "poll");
  EXPECT_EQ(diff.failures(), 0u);
  EXPECT_EQ(diff_of(before, after, limits({"new=0"})).failures(), 1u);
  EXPECT_EQ(diff_of(before, after, limits({"new=1"})).failures(), 0u);
  EXPECT_EQ(diff_of(before, after, limits({"calls:poll=30%"})).failures(), 1u);
}

TEST(Diff, pairs_a_function_whose_library_has_another_name_now) {
  const auto diff = diff_of(profile({function("f", {3}, {10}, "libf.so.1")}),
                            profile({function("f", {4}, {10}, "libf.so.2")}));

  EXPECT_TRUE(diff.added.empty());
  EXPECT_EQ(row(diff.rows, "f").calls, (Change{3, 4}));
}

TEST(Profile, has_a_number_for_each_run_also_where_a_function_is_not_called) {
  auto all = profile({function("b", {1}, {10}), function("d", {2}, {10})});
  all.add(profile({function("a", {3}, {10}), function("d", {4}, {10}), function("e", {5}, {10})}));
  all.add(profile({function("b", {6}, {10})}));

  std::string text;
  for (const auto& one : all.functions()) {
    text += one.name;
    for (const auto& run : one.runs)
      text += fmt::format(" {}", run.calls);
    text += fmt::format(" = {}\n", one.all.calls);
  }
  EXPECT_EQ(text, "a 0 3 0 = 3\nb 1 0 6 = 7\nd 2 4 0 = 6\ne 0 5 0 = 5\n");
}

TEST(Typical, is_the_mean_of_the_shorter_half) {
  DurationHistogram durations;
  EXPECT_DOUBLE_EQ(typical_ns(durations), 0);
  for (const std::uint64_t ns : {10U, 20U, 30U, 1'000'000U})
    durations.add(ns);
  EXPECT_DOUBLE_EQ(typical_ns(durations), 15);
}

} // namespace
} // namespace sonictrace::report
