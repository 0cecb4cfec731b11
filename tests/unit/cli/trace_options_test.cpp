#include "cli/trace_options.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sonictrace {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<const char*>;

constexpr Terminal kNoTerminal;

std::variant<TraceOptions, Reply> parse(const Words& words,
                                        const Terminal& terminal = kNoTerminal) {
  return parse_trace_options(words, terminal);
}

/// Of a command line that must be right.
TraceOptions options(const Words& words, const Terminal& terminal = kNoTerminal) {
  auto parsed = parse(words, terminal);
  if (const auto* reply = std::get_if<Reply>(&parsed)) {
    ADD_FAILURE() << reply->text;
    return {};
  }
  return std::get<TraceOptions>(std::move(parsed));
}

/// What is said to a command line that must be wrong.
std::string error(const Words& words) {
  auto parsed = parse(words);
  const auto* reply = std::get_if<Reply>(&parsed);
  if (reply == nullptr) return "(taken)";
  EXPECT_EQ(reply->exit_status, 1);
  return reply->text;
}

std::vector<std::string> strings(std::vector<std::string> list) { return list; }

TEST(TraceOptions, have_the_documented_defaults) {
  const TraceOptions defaults = options({"sonictrace", "./prog"});
  EXPECT_EQ(defaults.session.command, strings({"./prog"}));
  EXPECT_EQ(defaults.output, "");
  EXPECT_FALSE(defaults.session.follow_children);
  EXPECT_EQ(defaults.session.engine, SessionOptions::Engine::Auto);
  TextOptions text;
  text.thread_after_time = true;
  EXPECT_EQ(defaults.text, text);
}

TEST(TraceOptions, end_at_the_first_word_that_is_no_option) {
  EXPECT_EQ(options({"sonictrace", "./prog", "-V", "--frob", "-o", "x"}).session.command,
            strings({"./prog", "-V", "--frob", "-o", "x"}));
  EXPECT_EQ(options({"sonictrace", "-T", "--", "-x", "--", "-V"}).session.command,
            strings({"-x", "--", "-V"}));
  EXPECT_EQ(options({"sonictrace", "-", "-V"}).session.command, strings({"-", "-V"}));
  EXPECT_EQ(options({"sonictrace", "p", "", "--", "[a]"}).session.command,
            strings({"p", "", "--", "[a]"}));
}

TEST(TraceOptions, take_short_options_glued_together) {
  const TraceOptions glued = options({"sonictrace", "-ttTfefoo", "-a20", "-olog", "p"});
  EXPECT_EQ(glued.text.time, TimeStamp::Microseconds);
  EXPECT_TRUE(glued.text.durations);
  EXPECT_TRUE(glued.session.follow_children);
  EXPECT_EQ(glued.session.selectors.calls, strings({"foo"}));
  EXPECT_EQ(glued.text.align, 20u);
  EXPECT_EQ(glued.output, "log");
}

TEST(TraceOptions, take_every_value_as_it_is) {
  for (const char* filter :
       {"", "[ab]", "-*", "--", "-V", "a,b", "{}", "a=b", "\"q\"", "%%", "-e"}) {
    EXPECT_EQ(options({"sonictrace", "-e", filter, "p"}).session.selectors.calls,
              strings({filter}));
    const std::string equals = std::string("--library=") + filter;
    EXPECT_EQ(options({"sonictrace", equals.c_str(), "p"}).session.selectors.libraries,
              strings({filter}));
    EXPECT_EQ(options({"sonictrace", "--library", filter, "p"}).session.selectors.libraries,
              strings({filter}));
  }
}

TEST(TraceOptions, collect_what_may_be_repeated) {
  const TraceOptions all = options({"sonictrace", "-e", "a", "-x", "c", "-e", "b", "-l", "d", "-x",
                                    "f", "-l", "g", "-p", "1", "-p", "0x10"});
  EXPECT_EQ(all.session.selectors.calls, strings({"a", "b"}));
  EXPECT_EQ(all.session.selectors.entries, strings({"c", "f"}));
  EXPECT_EQ(all.session.selectors.libraries, strings({"d", "g"}));
  EXPECT_EQ(all.session.attach, (std::vector<pid_t>{1, 16}));
  EXPECT_TRUE(all.session.command.empty());
}

TEST(TraceOptions, take_the_last_of_what_counts_once) {
  const TraceOptions last =
      options({"sonictrace", "-a", "10", "-a", "20", "-o", "x", "-o", "y", "p"});
  EXPECT_EQ(last.text.align, 20u);
  EXPECT_EQ(last.output, "y");
}

TEST(TraceOptions, know_long_options_by_an_unambiguous_beginning) {
  EXPECT_EQ(options({"sonictrace", "--lib", "x", "p"}).session.selectors.libraries, strings({"x"}));
  EXPECT_FALSE(options({"sonictrace", "--no-sig", "p"}).text.signals);
  EXPECT_EQ(error({"sonictrace", "--max", "1", "p"}),
            "sonictrace: --max: begins more than one option: --max-depth, --max-calls, "
            "--max-log-size\n");
}

TEST(TraceOptions, reach_the_text_log) {
  const TextOptions text =
      options({"sonictrace", "-T", "--ns", "-i", "-n", "4", "-a", "0x10", "-s", "010", "-b",
               "--caller", "--min-time=10us", "--max-depth=3", "--quiet", "p"})
          .text;
  EXPECT_TRUE(text.durations);
  EXPECT_TRUE(text.nanoseconds);
  EXPECT_TRUE(text.instruction_pointer);
  EXPECT_EQ(text.indent, 4u);
  EXPECT_EQ(text.align, 16u);
  EXPECT_EQ(text.string_limit, 8u);
  EXPECT_FALSE(text.signals);
  EXPECT_TRUE(text.show_caller);
  EXPECT_EQ(text.min_time_ns, 10000u);
  EXPECT_EQ(text.max_depth, 3u);
  EXPECT_FALSE(text.closing_lines);
}

TEST(TraceOptions, count_the_t) {
  EXPECT_EQ(options({"sonictrace", "-t", "p"}).text.time, TimeStamp::Seconds);
  EXPECT_EQ(options({"sonictrace", "-tt", "p"}).text.time, TimeStamp::Microseconds);
  EXPECT_EQ(options({"sonictrace", "-t", "-t", "p"}).text.time, TimeStamp::Microseconds);
  EXPECT_EQ(options({"sonictrace", "-ttt", "p"}).text.time, TimeStamp::Epoch);
  EXPECT_EQ(options({"sonictrace", "-ttttt", "p"}).text.time, TimeStamp::Epoch);
  EXPECT_EQ(options({"sonictrace", "-r", "p"}).text.time, TimeStamp::Relative);
}

TEST(TraceOptions, reach_the_session) {
  const SessionOptions session =
      options({"sonictrace", "-f", "-u", "nobody", "-s", "100", "--duration", "0.5s",
               "--max-calls=1000", "--start-on=begin*", "--stop-on", "end@lib*",
               "--max-log-size=64K", "--engine=breakpoint", "p"})
          .session;
  EXPECT_TRUE(session.follow_children);
  EXPECT_EQ(session.user, "nobody");
  EXPECT_EQ(session.string_limit, 100u);
  EXPECT_EQ(session.duration, 500ms);
  EXPECT_EQ(session.max_calls, 1000u);
  EXPECT_EQ(session.start_on, "begin*");
  EXPECT_EQ(session.stop_on, "end@lib*");
  EXPECT_EQ(session.max_log_size, 65536u);
  EXPECT_EQ(session.engine, SessionOptions::Engine::Breakpoint);
  EXPECT_EQ(options({"sonictrace", "--engine=inline", "p"}).session.engine,
            SessionOptions::Engine::Inline);
  EXPECT_TRUE(options({"sonictrace", "-L", "p"}).session.selectors.no_default);
  EXPECT_TRUE(options({"sonictrace", "--explain", "p"}).explain);
}

TEST(TraceOptions, tell_the_engine_of_the_form_of_the_log) {
  using Form = RecordingOptions::Form;
  const auto recording = [](const Words& words) { return options(words).session.recording; };
  EXPECT_EQ(recording({"sonictrace", "p"}).form, Form::Split);
  EXPECT_EQ(recording({"sonictrace", "--whole-lines", "p"}).form, Form::Whole);
  EXPECT_EQ(recording({"sonictrace", "-o", "f", "p"}).form, Form::Whole);
  EXPECT_EQ(recording({"sonictrace", "-o", "f", "--split-lines", "p"}).form, Form::Split);
  EXPECT_EQ(recording({"sonictrace", "--ltrace", "-o", "f", "p"}).form, Form::Split);
  EXPECT_EQ(recording({"sonictrace", "--output-format=json", "p"}).form, Form::Whole);
  EXPECT_EQ(recording({"sonictrace", "-c", "-o", "f", "p"}).form, Form::Count);

  const RecordingOptions counted =
      recording({"sonictrace", "-c", "--percentiles", "--interval=2s", "--min-time=1ms", "p"});
  EXPECT_EQ(counted, (RecordingOptions{.form = Form::Count,
                                       .percentiles = true,
                                       .min_time_ns = 1'000'000,
                                       .interval_ns = 2'000'000'000}));
  const RecordingOptions few =
      recording({"sonictrace", "-o", "f", "--max-depth=3", "--sample=5", "p"});
  EXPECT_EQ(few,
            (RecordingOptions{.form = Form::Whole, .thins = true, .max_depth = 3, .sample = 5}));
  EXPECT_FALSE(recording({"sonictrace", "-o", "f", "--thin-after=0", "p"}).thins);
}

TEST(TraceOptions, say_what_to_capture_and_to_count) {
  const TraceOptions all = options({"sonictrace", "-S", "-A", "7", "-w", "5", "-F", "a:b", "-F",
                                    "c", "-D", "17", "--sample=3", "--thin-after=2K", "p"});
  EXPECT_TRUE(all.session.system_calls);
  EXPECT_TRUE(all.session.library_calls);
  EXPECT_EQ(all.session.array_limit, 7u);
  EXPECT_EQ(all.session.frames, 5u);
  EXPECT_FALSE(all.session.python);
  EXPECT_TRUE(options({"sonictrace", "--python", "p"}).session.python);
  EXPECT_EQ(all.session.conf_files, strings({"a:b", "c"}));
  EXPECT_EQ(all.session.debug, DebugLog(15));
  EXPECT_TRUE(all.session.captures_values);
  EXPECT_EQ(all.text.sample, 3u);
  EXPECT_EQ(all.text.thin_after, 2048u);
  EXPECT_FALSE(options({"sonictrace", "-S", "-L", "p"}).session.library_calls);
  EXPECT_TRUE(options({"sonictrace", "-S", "-L", "-x", "f", "p"}).session.library_calls);
  EXPECT_EQ(options({"sonictrace", "--ltrace", "p"}).text.thin_after, 0u);

  const TraceOptions table =
      options({"sonictrace", "-c", "--percentiles", "--interval=5s", "-p", "1"});
  EXPECT_TRUE(table.count);
  EXPECT_TRUE(table.percentiles);
  EXPECT_EQ(table.interval, 5s);
  EXPECT_FALSE(table.session.captures_values);
  EXPECT_TRUE(table.session.follow_children);
  EXPECT_TRUE(options({"sonictrace", "--output-format=json", "p"}).json);
}

TEST(TraceOptions, take_one_library_whose_prototypes_are_listed) {
  EXPECT_FALSE(options({"sonictrace", "ls"}).list_prototypes);
  EXPECT_TRUE(options({"sonictrace", "--list-prototypes"}).list_prototypes);
  EXPECT_EQ(options({"sonictrace", "--list-prototypes"}).listed_library, "");
  EXPECT_EQ(options({"sonictrace", "--list-prototypes", "libz.so.1"}).listed_library, "libz.so.1");
  EXPECT_TRUE(options({"sonictrace", "--list-prototypes", "libz*"}).session.command.empty());
}

TEST(TraceOptions, take_one_process_for_the_doctor) {
  EXPECT_EQ(options({"sonictrace", "--doctor"}).patient, std::nullopt);
  EXPECT_EQ(options({"sonictrace", "--doctor", "12"}).patient, 12);
  EXPECT_EQ(options({"sonictrace", "--doctor", "-p", "12"}).patient, 12);
  EXPECT_TRUE(options({"sonictrace", "--doctor", "12"}).session.command.empty());
  EXPECT_EQ(options({"sonictrace", "--match=x.*y"}).match, "x.*y");
}

TEST(TraceOptions, write_whole_lines_to_a_file_and_split_ones_elsewhere) {
  const auto form = [](const Words& words) { return options(words).text.form; };
  EXPECT_EQ(form({"sonictrace", "p"}), LineForm::Split);
  EXPECT_EQ(form({"sonictrace", "--whole-lines", "p"}), LineForm::Whole);
  EXPECT_EQ(form({"sonictrace", "-o", "x", "p"}), LineForm::Whole);
  EXPECT_EQ(form({"sonictrace", "-o", "x", "--split-lines", "p"}), LineForm::Split);
  EXPECT_EQ(form({"sonictrace", "-o", "x", "--ltrace", "p"}), LineForm::Split);
  EXPECT_EQ(form({"sonictrace", "-o", "x", "--ltrace", "--whole-lines", "p"}), LineForm::Whole);
}

TEST(TraceOptions, say_which_thread_as_the_mode_asks) {
  struct Case {
    Words words;
    bool prefix, brackets, after_time;
  };
  const Case cases[] = {
      {{"sonictrace", "p"}, false, true, true},
      {{"sonictrace", "-f", "p"}, true, true, false},
      {{"sonictrace", "-f", "-o", "x", "p"}, true, false, false},
      {{"sonictrace", "-o", "x", "-p", "1"}, false, false, true},
      {{"ltrace", "p"}, false, true, false},
      {{"ltrace", "-p", "1"}, false, true, false},
      {{"ltrace", "-o", "x", "-p", "1"}, true, false, false},
      {{"ltrace", "-f", "-o", "x", "p"}, true, false, false},
  };
  for (const Case& one : cases) {
    const TextOptions text = options(one.words).text;
    EXPECT_EQ(text.pid_prefix, one.prefix);
    EXPECT_EQ(text.brackets, one.brackets);
    EXPECT_EQ(text.thread_after_time, one.after_time);
  }
}

TEST(TraceOptions, demangle_in_the_form_that_is_asked_for) {
  const auto style = [](const Words& words) { return options(words).text.demangle; };
  EXPECT_EQ(style({"sonictrace", "p"}), DemangleStyle::Short);
  EXPECT_EQ(style({"sonictrace", "-C", "p"}), DemangleStyle::Full);
  EXPECT_EQ(style({"sonictrace", "-C", "-C", "p"}), DemangleStyle::Full);
  EXPECT_EQ(style({"sonictrace", "--demangle", "p"}), DemangleStyle::Full);
  EXPECT_EQ(style({"sonictrace", "--demangle=short", "p"}), DemangleStyle::Short);
  EXPECT_EQ(style({"sonictrace", "--demangle=none", "p"}), DemangleStyle::None);
  EXPECT_EQ(style({"sonictrace", "-C", "--demangle=none", "p"}), DemangleStyle::None);
  EXPECT_EQ(style({"ltrace", "p"}), DemangleStyle::None);
  EXPECT_EQ(style({"ltrace", "-C", "p"}), DemangleStyle::Full);
  EXPECT_EQ(error({"sonictrace", "--demangle=long", "p"}),
            "sonictrace: --demangle 'long': no such form; there are short, full, none\n");
}

TEST(TraceOptions, show_the_caller_when_a_filter_selects_by_it) {
  EXPECT_FALSE(options({"sonictrace", "-e", "a", "p"}).text.show_caller);
  EXPECT_TRUE(options({"sonictrace", "-e", "liba*->a", "p"}).text.show_caller);
  EXPECT_TRUE(options({"ltrace", "-e", "a", "p"}).text.show_caller);
  EXPECT_FALSE(options({"ltrace", "-x", "a", "p"}).text.show_caller);
}

TEST(TraceOptions, behave_as_ltrace_under_its_name_or_when_told_to) {
  for (const Words& words :
       {Words{"ltrace", "p"}, Words{"/usr/local/bin/ltrace", "p"},
        Words{"sonictrace", "--ltrace", "p"}, Words{"sonictrace", "--lt", "p"}}) {
    const TraceOptions as_ltrace = options(words);
    EXPECT_TRUE(as_ltrace.session.ltrace);
    EXPECT_TRUE(as_ltrace.session.selectors.ltrace);
    EXPECT_TRUE(as_ltrace.text.ltrace);
    EXPECT_FALSE(as_ltrace.text.closing_lines);
  }
  EXPECT_FALSE(options({"my-ltrace", "p"}).session.ltrace);
  EXPECT_FALSE(options({"sonictrace", "p", "--ltrace"}).session.ltrace);
}

TEST(TraceOptions, align_by_the_width_of_the_terminal) {
  const auto align = [](const char* columns, unsigned width) {
    return options({"sonictrace", "p"}, Terminal{columns, width}).text.align;
  };
  EXPECT_EQ(align(nullptr, 0), 50u);
  EXPECT_EQ(align(nullptr, 100), 62u);
  EXPECT_EQ(align("40", 100), 25u);
  EXPECT_EQ(align("200", 0), 125u);
  EXPECT_EQ(align("0", 100), 50u);
  EXPECT_EQ(align("junk", 100), 50u);
  EXPECT_EQ(options({"sonictrace", "-a", "7", "p"}, Terminal{"40", 100}).text.align, 7u);
}

TEST(TraceOptions, are_refused_in_one_line_that_says_what_why_and_what_to_do) {
  struct Case {
    Words words;
    const char* expected;
  };
  const Case cases[] = {
      {{"sonictrace"},
       "sonictrace: nothing to trace: give a command to run, or -p PID to attach; "
       "see sonictrace --help\n"},
      {{"sonictrace", "-Z", "p"}, "sonictrace: -Z: no such option; see sonictrace --help\n"},
      {{"sonictrace", "-TZ", "p"}, "sonictrace: -Z: no such option; see sonictrace --help\n"},
      {{"sonictrace", "--frob=1", "p"},
       "sonictrace: --frob: no such option; see sonictrace --help\n"},
      {{"sonictrace", "-e"}, "sonictrace: -e: needs a value; see sonictrace --help\n"},
      {{"sonictrace", "--align"}, "sonictrace: --align: needs a value; see sonictrace --help\n"},
      {{"sonictrace", "--quiet=1", "p"},
       "sonictrace: --quiet: takes no value; leave out = and what follows\n"},
      {{"sonictrace", "-a", "x", "p"}, "sonictrace: -a 'x': not a whole number from 0 to 4096\n"},
      {{"sonictrace", "-n", "21", "p"}, "sonictrace: -n '21': not a whole number from 0 to 20\n"},
      {{"sonictrace", "-s", "", "p"}, "sonictrace: -s '': not a whole number from 0 to 65519\n"},
      {{"sonictrace", "-p", "0"}, "sonictrace: -p '0': not a whole number from 1 to 2147483647\n"},
      {{"sonictrace", "--max-calls=0", "p"},
       "sonictrace: --max-calls '0': not a whole number from 1 on\n"},
      {{"sonictrace", "--duration=5", "p"},
       "sonictrace: --duration '5': not a duration; give a number with its unit, as 10us, 1ms, "
       "0.5s, 2m\n"},
      {{"sonictrace", "--max-log-size=1KB", "p"},
       "sonictrace: --max-log-size '1KB': not a size; give bytes, or a number with K, M, G or T "
       "behind it, as 64K, 100M\n"},
      {{"sonictrace", "--start-on=", "p"},
       "sonictrace: --start-on '': selects no call; give a filter as for -e\n"},
      {{"sonictrace", "--stop-on=a->b->c", "p"},
       "sonictrace: --stop-on 'a->b->c': a->b->c: more than one ->\n"},
      {{"sonictrace", "--engine=fast", "p"},
       "sonictrace: --engine 'fast': no such engine; there are auto, breakpoint, inline\n"},
      {{"sonictrace", "-o", "", "p"}, "sonictrace: -o '': needs the name of a file\n"},
      {{"sonictrace", "-A", "-1", "p"}, "sonictrace: -A '-1': not a whole number from 0 to 1000\n"},
      {{"sonictrace", "-w", "0", "p"}, "sonictrace: -w '0': not a whole number from 1 to 256\n"},
      {{"sonictrace", "-D", "9", "p"},
       "sonictrace: -D '9': not an octal number; -Dh lists the bits\n"},
      {{"sonictrace", "--sample=0", "p"},
       "sonictrace: --sample '0': not a whole number from 1 on\n"},
      {{"sonictrace", "--thin-after=much", "p"},
       "sonictrace: --thin-after 'much': not a size; give bytes, or a number with K, M, G or T "
       "behind it, as 100M; 0 for never\n"},
      {{"sonictrace", "--output-format=xml", "p"},
       "sonictrace: --output-format 'xml': no such format; there are text, json\n"},
      {{"sonictrace", "--percentiles", "p"},
       "sonictrace: --percentiles without -c: it adds columns to the table of -c; give both\n"},
      {{"sonictrace", "--interval=5s", "p"},
       "sonictrace: --interval without -c: it is the time between two tables; give both\n"},
      {{"sonictrace", "-c", "--interval=0", "p"},
       "sonictrace: --interval=0: a table after no time; give a duration, as 5s\n"},
      {{"sonictrace", "--match=", "-T"},
       "sonictrace: --match '': every process would match; give a part of its command line\n"},
      {{"sonictrace", "--doctor", "ls", "-l"},
       "sonictrace: --doctor 'ls -l': give the number of a process, or nothing\n"},
      {{"sonictrace", "--list-prototypes", "libz.so", "libm.so"},
       "sonictrace: --list-prototypes 'libz.so libm.so': give one library, or nothing\n"},
      {{"sonictrace", "-r", "-t", "p"},
       "sonictrace: -r with -t: there is room for one time before "
       "a line; leave one of them out\n"},
      {{"sonictrace", "-L", "-e", "a", "p"},
       "sonictrace: -L with -e: -L asks for no calls by a filter, -e for some; leave one of them "
       "out\n"},
      {{"sonictrace", "-e", "a[b", "p"},
       "sonictrace: -e 'a[b': Unmatched [, [^, [:, [., or [=; write \\[ for a bracket that is part "
       "of a name\n"},
  };
  for (const Case& one : cases)
    EXPECT_EQ(error(one.words), one.expected);
}

TEST(TraceOptions, are_refused_in_ltraces_words_in_its_mode) {
  const std::string hint = "Try `ltrace --help' for more information.\n";
  struct Case {
    Words words;
    std::string expected;
  };
  const Case cases[] = {
      {{"ltrace"}, "ltrace: too few arguments\n" + hint},
      {{"ltrace", "-Z", "p"}, "ltrace: invalid option -- 'Z'\n" + hint},
      {{"ltrace", "--frob", "p"}, "ltrace: unrecognized option '--frob'\n" + hint},
      {{"ltrace", "-a"}, "ltrace: option requires an argument -- 'a'\n" + hint},
      {{"ltrace", "--align"}, "ltrace: option '--align' requires an argument\n" + hint},
      {{"ltrace", "--no-signals=3", "p"},
       "ltrace: option '--no-signals' doesn't allow an argument\n" + hint},
      {{"ltrace", "-L", "-e", "a", "p"}, "ltrace: Option -L can't be used with -e or -l.\n" + hint},
      {{"ltrace", "-r", "-t", "p"}, "ltrace: Options -r and -t can't be used together\n" + hint},
      {{"ltrace", "-a", "x", "p"}, "Invalid argument to -a: 'x'.  Use integer >=0.\n"},
      {{"ltrace", "--align=x", "p"}, "Invalid argument to -a: 'x'.  Use integer >=0.\n"},
      {{"ltrace", "-n", "21", "p"}, "Invalid argument to -n: '21'.  Use integer 0..20.\n"},
      {{"ltrace", "-p", "0"}, "Invalid argument to -p: '0'.  Use integer >=1.\n"},
      {{"ltrace", "--output=", "p"}, "can't open  for writing: No such file or directory\n"},
      {{"/opt/x/ltrace", "-Z"},
       "/opt/x/ltrace: invalid option -- 'Z'\nTry `/opt/x/ltrace --help' for more information.\n"},
      {{"sonictrace", "--ltrace"},
       "sonictrace: too few arguments\nTry `sonictrace --help' for more information.\n"},
  };
  for (const Case& one : cases)
    EXPECT_EQ(error(one.words), one.expected);
}

TEST(TraceOptions, take_what_ltrace_takes_in_its_mode) {
  EXPECT_EQ(options({"ltrace", "-a", "99999999999999999999", "p"}).text.align, 4096u);
  EXPECT_TRUE(options({"ltrace", "-L", "-l", "liba*", "p"}).session.selectors.no_default);
  EXPECT_TRUE(options({"ltrace", "-T", "-T", "p"}).text.durations);
  EXPECT_EQ(options({"ltrace", "-e", "[", "p"}).warnings,
            strings({"Rule near '' will be ignored: Unmatched [, [^, [:, [., or [=."}));
}

TEST(TraceOptions, refuse_what_would_silently_do_nothing) {
  struct Case {
    Words words;
    std::string expected;
  };
  const Case cases[] = {
      {{"sonictrace", "-c", "--sample=2", "p"},
       "sonictrace: --sample with -c: a table counts every call; leave one of them out\n"},
      {{"sonictrace", "-c", "--thin-after=1M", "p"},
       "sonictrace: --thin-after with -c: a table does not grow; leave one of them out\n"},
      {{"sonictrace", "--output-format=json", "--thin-after=1M", "p"},
       "sonictrace: --thin-after with --output-format=json: such a log is never thinned; leave it "
       "out, or bound the log with --max-log-size\n"},
      {{"sonictrace", "-c", "-w", "3", "p"},
       "sonictrace: -w with -c: a table has no room for stacks; leave one of them out\n"},
      {{"sonictrace", "-c", "--python", "p"},
       "sonictrace: --python with -c: a table has no room for places; leave one of them out\n"},
      {{"sonictrace", "--output-format=json", "--split-lines", "p"},
       "sonictrace: --split-lines with --output-format=json: an object is a whole call; leave one "
       "of them out\n"},
  };
  for (const Case& one : cases)
    EXPECT_EQ(error(one.words), one.expected);
}

TEST(TraceOptions, take_options_of_the_text_log_with_other_forms_where_they_do_no_harm) {
  for (const char* form : {"-c", "--output-format=json"}) {
    options({"sonictrace", form, "-T", "-tt", "-n", "2", "-a", "20", "-i", "--ns", "p"});
    options({"sonictrace", form, "--thin-after=0", "--max-depth=2", "--min-time=1ms", "p"});
  }
  EXPECT_EQ(options({"sonictrace", "--output-format=json", "--sample=2", "p"}).text.sample, 2u);
  EXPECT_EQ(options({"ltrace", "-c", "-w", "3", "p"}).session.frames, 3u);
}

TEST(TraceOptions, give_help_and_version_whatever_comes_behind) {
  for (const Words& words : {Words{"sonictrace", "-h", "-Z"}, Words{"sonictrace", "--help"},
                             Words{"ltrace", "-Th", "-a"}}) {
    auto parsed = parse(words);
    ASSERT_TRUE(std::holds_alternative<Reply>(parsed));
    EXPECT_FALSE(std::get<Reply>(parsed).is_error());
    EXPECT_NE(std::get<Reply>(parsed).text.find("Usage: sonictrace"), std::string::npos);
  }
  auto parsed = parse({"sonictrace", "-V", "--frob"});
  ASSERT_TRUE(std::holds_alternative<Reply>(parsed));
  const std::string& text = std::get<Reply>(parsed).text;
  for (const char* name : {"sonictrace ", "libelf ", "libunwind ", "fmt ", "CLI11 ", "Zydis ",
                           "zlib ", "zstd ", "missing: "})
    EXPECT_NE(text.find(name), std::string::npos) << name;
}

TEST(TraceOptions, print_help_in_80_columns) {
  auto parsed = parse({"sonictrace", "--help"});
  const std::string text = std::get<Reply>(parsed).text;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    ASSERT_NE(end, std::string::npos);
    EXPECT_LE(end - begin, 80u) << text.substr(begin, end - begin);
    begin = end + 1;
  }
}

} // namespace
} // namespace sonictrace
