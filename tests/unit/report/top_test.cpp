#include "sonictrace/report/top.hpp"

#include <gtest/gtest.h>

#include "sonictrace/report/footer.hpp"
#include "sonictrace/report/frame_calls.hpp"
#include "unit/log/read_text.hpp"

namespace sonictrace::report {
namespace {

struct Made {
  Top top;
  FilterTally tally;
};

Made top_of(std::string_view text, TopOptions options = {},
            const FilterOptions& filter_options = {}) {
  Made made{Top(options), {}};
  const log::test::TextFile file(text);
  auto reader = log::LogReader::open(file.path(), {1, true});
  auto filter = CallFilter::make(filter_options);
  EXPECT_TRUE(reader && filter);
  EXPECT_TRUE(made.top.add(*reader, *filter));
  made.tally = filter->tally();
  return made;
}

std::string csv(const Made& made, std::string_view columns = "self,calls,function") {
  return render(*top_table(made.top, 100, columns), TableFormat::Csv);
}

TEST(Top, sorts_by_self_time) {
  const auto made =
      top_of("00:00:01.000000 inner() = 0 <0.300000>\n00:00:00.000000 outer() = 0 <2.000000>\n"
             "00:00:03.000000 inner() = 0 <1.500000>\n");

  EXPECT_EQ(csv(made, "self,total,calls,function"),
            "self_ns,total_ns,calls,function\n1800000000,1800000000,2,inner\n"
            "1700000000,2000000000,1,outer\n");
  EXPECT_EQ(made.top.total().self_ns, 3'500'000'000U);
}

TEST(Top, sorts_by_calls_where_there_are_no_times) {
  EXPECT_EQ(csv(top_of("a() = 0\nb() = 0\nb() = 0\n"), "calls,function"),
            "calls,function\n2,b\n1,a\n");
}

TEST(Top, tells_who_calls_from_where_the_function_is) {
  const std::string_view text = "prog->puts() = 1 <0.000004>\nlibfoo.so->puts() = 1 <0.000001>\n"
                                "libfoo.so->malloc() = 1 <0.000002>\nfree() = 1 <0.000008>\n"
                                "+++ puts is in libc.so.6 +++\n";
  TopOptions by_caller, by_library;
  by_caller.by = TopBy::Caller;
  by_library.by = TopBy::Library;

  EXPECT_EQ(csv(top_of(text, by_caller)),
            "self_ns,calls,caller\n8000,1,(not told by the log)\n4000,1,prog\n3000,2,libfoo.so\n");
  EXPECT_EQ(csv(top_of(text, by_library)),
            "self_ns,calls,lib\n10000,2,(not told by the log)\n5000,2,libc.so.6\n");
}

// The sample of the field note.
TEST(Top, prints_what_the_notes_script_prints) {
  const auto made = top_of(
      "14:23:05.123 malloc(1048576) = 0x55aabbccdd00 <0.000010>\n"
      "14:23:05.124 memcpy(0x55aabbccdd00, 0x7f99eeff1230, 1048576) = 0x55aabbccdd00 <0.000230>\n"
      "14:23:05.130 torch::jit::load(\"sonic_model.pt\") = 0x55aaccee1100 <0.150000>\n"
      "14:23:05.290 av_frame_alloc() = 0x55aaddee2200 <0.000005>\n");

  EXPECT_EQ(top_plain(made.top, 10),
            "Top 10耗时函数:\ntorch::jit::load: 0.1500s\nmemcpy: 0.0002s\nmalloc: 0.0000s\n"
            "av_frame_alloc: 0.0000s\n");
}

TEST(Top, prints_the_table_of_ltrace) {
  const auto made = top_of("a() = 0 <0.000300>\nb() = 0 <0.000100>\na() = 0 <0.000200>\n");

  EXPECT_EQ(top_ltrace(made.top, 100),
            "% time     seconds  usecs/call     calls      function\n"
            "------ ----------- ----------- --------- --------------------\n"
            " 83.33    0.000500         250         2 a\n"
            " 16.67    0.000100         100         1 b\n"
            "------ ----------- ----------- --------- --------------------\n"
            "100.00    0.000600                     3 total\n");
}

TEST(Top, takes_a_function_with_and_without_its_module_for_one) {
  const auto made =
      top_of("f() = 0 <0.000001>\nf@libb.so() = 0 <0.000002>\nf@liba.so() = 0 <0.000004>\n"
             "+++ f is in liba.so +++\n+++ f is in libb.so +++\n");

  EXPECT_EQ(csv(made, "self,lib,function"),
            "self_ns,lib,function\n5000,liba.so,f\n2000,libb.so,f\n");
}

TEST(Top, groups_by_library_thread_and_class) {
  constexpr std::string_view kLog =
      "1 malloc() = 0 <0.000001>\n2 usleep() = 0 <0.000002>\n2 f@libx.so() = 0 <0.000004>\n"
      "+++ malloc is in libc.so.6 +++\n+++ usleep is in libc.so.6 +++\n";

  EXPECT_EQ(csv(top_of(kLog, {TopBy::Library})),
            "self_ns,calls,lib\n4000,1,libx.so\n3000,2,libc.so.6\n");
  EXPECT_EQ(csv(top_of(kLog, {TopBy::Thread})), "self_ns,calls,thread\n6000,2,2\n1000,1,1\n");
  EXPECT_EQ(csv(top_of(kLog, {TopBy::Class})),
            "self_ns,calls,class\n4000,1,cpu\n2000,1,wait\n1000,1,mem\n");
}

TEST(Top, groups_by_stage_so_that_the_sum_is_that_of_all) {
  const auto stages = Stages::parse("[first]\nfunc = \"a*\"\n[second]\nlib = \"libx*\"\n", "x");
  ASSERT_TRUE(stages);
  TopOptions options{TopBy::Stage};
  options.stages = &*stages;
  const auto made = top_of(
      "a1() = 0 <0.000001>\na2() = 0 <0.000002>\nb@libx.so() = 0 <0.000004>\nc() = 0 <0.000008>\n",
      options);

  EXPECT_EQ(csv(made), "self_ns,calls,stage\n8000,1,other\n4000,1,second\n3000,2,first\n");
}

TEST(Top, counts_what_a_filter_leaves_out) {
  FilterOptions filter;
  filter.functions = {"a*"};
  filter.excluded = {"a2"};
  const auto made =
      top_of("a1() = 0 <0.000001>\na2() = 0 <0.000002>\nb() = 0 <0.000004>\n", {}, filter);

  EXPECT_EQ(csv(made), "self_ns,calls,function\n1000,1,a1\n");
  EXPECT_EQ(made.tally, (FilterTally{2, 6000, 6000}));
  EXPECT_EQ(footer(made.tally), "filtered: 2 calls, 0.0000 s\n");
}

TEST(Top, filters_by_a_library_that_the_log_names_at_its_end) {
  FilterOptions filter;
  filter.libraries = {"libx*"};
  const auto made = top_of(
      "a() = 0 <0.000001>\nb() = 0 <0.000002>\n+++ a is in libx.so +++\n+++ b is in liby.so +++\n",
      {}, filter);

  EXPECT_EQ(csv(made), "self_ns,calls,function\n1000,1,a\n");
  EXPECT_EQ(made.tally, (FilterTally{1, 2000, 2000}));
}

TEST(Top, filters_by_window_thread_time_and_kind) {
  constexpr std::string_view kLog =
      "1 00:00:10.000000 a() = 0 <0.000001>\n2 00:00:14.000000 b() = 0 <0.000200>\n"
      "1 00:00:15.000000 read@SYS() = 0 <0.000300>\n";
  const auto names = [&](auto set) {
    FilterOptions filter;
    set(filter);
    return csv(top_of(kLog, {}, filter), "function");
  };

  EXPECT_EQ(names([](auto& one) { one.window = "0s:5s"; }), "function\nb\na\n");
  EXPECT_EQ(names([](auto& one) { one.window = "00:00:14:00:00:15"; }), "function\nb\n");
  EXPECT_EQ(names([](auto& one) { one.tid = 2; }), "function\nb\n");
  EXPECT_EQ(names([](auto& one) { one.min_time_ns = 200'000; }), "function\nread\nb\n");
  EXPECT_EQ(names([](auto& one) { one.syscalls_only = true; }), "function\nread\n");
  EXPECT_EQ(names([](auto& one) { one.one_class = CallClass::Io; }), "function\nread\n");
}

TEST(Top, refuses_a_window_that_is_none) {
  for (const char* wrong : {"5s", "a:b", "1:2:3", "5:6", "99:00:00:1:2:x"}) {
    FilterOptions filter;
    filter.window = wrong;
    EXPECT_FALSE(CallFilter::make(filter)) << wrong;
  }
}

TEST(Top, sorts_system_calls_by_number) {
  std::string text;
  const std::pair<const char*, int> kCounts[] = {{"openat", 92},  {"futex", 14'763},
                                                 {"close", 89},   {"mmap", 134},
                                                 {"read", 9'102}, {"write", 7'831}};
  for (const auto& [name, count] : kCounts)
    for (int i = 0; i < count; ++i)
      text += fmt::format("{}@SYS() = 0\n", name);
  FilterOptions filter;
  filter.syscalls_only = true;

  EXPECT_EQ(csv(top_of(text, {}, filter), "calls,function"),
            "calls,function\n14763,futex\n9102,read\n7831,write\n134,mmap\n92,openat\n89,close\n");
}

TEST(Top, adds_up_what_read_has_returned) {
  TopOptions options;
  options.sum_results = true;
  const auto made = top_of(
      "read@SYS(3, \"a\", 4096) = 100\nread@SYS(3, \"\", 4096) = 0\nread@SYS(3) = -1 EBADF (x)\n"
      "SYS_read(3, 0x7f, 832) = 832\n",
      options);

  EXPECT_EQ(csv(made, "calls"), "calls,sum_ret\n4,932\n");
}

TEST(Top, counts_by_the_first_argument_and_by_the_path_of_openat) {
  const auto made = top_of("openat@SYS(AT_FDCWD, \"/m\", O_RDONLY, 00) = 3\nopenat@SYS(AT_FDCWD, "
                           "\"/m\", O_RDONLY, 00) = 3\n"
                           "open(\"/x\", 0) = 3\nopenat@SYS(AT_FDCWD <unfinished ...>\n<... openat "
                           "resumed> , \"/m\", O_RDONLY, 00) = 3\n",
                           {TopBy::FirstArgument});

  EXPECT_EQ(csv(made, "calls,function"),
            "calls,function,arg1\n3,openat,\"\"\"/m\"\"\"\n1,open,\"\"\"/x\"\"\"\n");
}

TEST(Top, adds_thinned_calls_to_calls_and_times_only) {
  const auto made =
      top_of("f() = 0 <0.000010>\n+++ f: 9 more calls, 0.000045 s, not written +++\n");

  EXPECT_EQ(csv(made, "self,calls,p50,function"),
            "self_ns,calls,p50_ns,function\n55000,10,10000,f\n");
}

TEST(Top, hints_at_waits) {
  FilterOptions filter;
  filter.one_class = CallClass::Wait;
  const auto made = top_of("usleep() = 0 <0.300000>\nf() = 0 <0.100000>\n", {}, filter);

  EXPECT_EQ(top_hint(made.top, made.tally).substr(0, 61),
            "wait: 0.3000 s in 1 calls, 75.0 % of the self time of all cal");
  EXPECT_EQ(top_hint(top_of("f() = 0 <0.100000>\n").top, {}), "");
}

TEST(Top, says_which_columns_there_are) {
  const auto table = top_table(top_of("a() = 0\n").top, 1, "calls,what");

  ASSERT_FALSE(table);
  EXPECT_NE(table.error().message().find("-U 'what'"), std::string::npos);
}

TEST(Footer, explains_the_lines) {
  const auto log =
      log::test::read_text("00:00:01 a() = 0 <0.000001>\nwhat\n00:00:03 b( <unfinished ...>\n");

  EXPECT_EQ(footer(log.account), "lines 3 = calls 1 + skipped 1 + unmatched 0 + markers 1\n"
                                 "unfinished 1  no return 0  unwound 0  threads 1  span 2.00s\n"
                                 "skipped line 2: what\n");
}

std::string per_frame(std::string_view text) {
  const log::test::TextFile file(text);
  auto reader = log::LogReader::open(file.path(), {});
  auto filter = CallFilter::make({});
  FrameCalls frames(*Glob::compile("frame*"), reader->functions(), *filter);
  EXPECT_TRUE(reader->pump(frames));
  frames.finish();
  return render(frames.table(), TableFormat::Csv);
}

TEST(FrameCalls, counts_what_is_inside_of_each_frame) {
  EXPECT_EQ(per_frame("00:00:00 read() = 0 <0.000001>\n"
                      "00:00:02 read() = 0 <0.000001>\n00:00:03 futex() = 0 <0.000001>\n00:00:02 "
                      "step() = 0 <1.500000>\n"
                      "00:00:01 frame() = 0 <3.000000>\n"
                      "00:00:06 read() = 0 <0.000001>\n00:00:07 read() = 0 <0.000001>\n00:00:08 "
                      "read() = 0 <0.000001>\n"
                      "00:00:05 frame() = 0 <4.000000>\n"
                      "00:00:10 frame() = 0 <0.100000>\n"
                      "00:00:11 read() = 0 <0.000001>\n"),
            "median,p99,max,worst_frame,in_frames,outside,calls,function\n"
            "1,3,3,2,4,2,6,read\n0,1,1,1,1,0,1,futex\n0,1,1,1,1,0,1,step\n3,3,3,1,6,2,8,(all)\n");
}

TEST(FrameCalls, counts_in_split_lines_too) {
  EXPECT_EQ(per_frame("frame( <unfinished ...>\nread() = 0\n<... frame resumed> ) = 0\nread() = "
                      "0\nexit( <no return ...>\n"),
            "median,p99,max,worst_frame,in_frames,outside,calls,function\n"
            "1,1,1,1,1,1,2,read\n0,0,0,0,0,1,1,exit\n1,1,1,1,1,2,3,(all)\n");
}

} // namespace
} // namespace sonictrace::report
