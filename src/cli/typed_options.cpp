#include "cli/typed_options.hpp"

#include <CLI/CLI.hpp>

namespace sonictrace {

namespace {

/// An option with a value that may be given once; of several the last counts.
CLI::Option* add_value(CLI::App& app, const char* names, const char* value,
                       std::optional<std::string>& into, const char* description) {
  return app
      .add_option(
          names,
          [&into](const CLI::results_t& values) {
            into = values.back();
            return true;
          },
          description)
      ->type_name(value)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

CLI::Option* add_values(CLI::App& app, const char* names, const char* value,
                        std::vector<std::string>& into, const char* description) {
  return app
      .add_option(
          names,
          [&into](const CLI::results_t& values) {
            into = values;
            return true;
          },
          description)
      ->type_name(value)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

CLI::Option* add_switch(CLI::App& app, const char* names, bool& into, const char* description) {
  return app.add_flag_function(
      names, [&into](std::int64_t) { into = true; }, description);
}

void add_selecting(CLI::App& app, TypedOptions& typed) {
  const char* group = "Which calls";
  add_values(app, "-e", "FILTER", typed.calls,
             "trace calls that FILTER selects: [CALLER->]SYMBOL@LIBRARY, rules separated by a "
             "comma; -RULE subtracts; e.g. '*@libtorch*' or 'malloc,free'")
      ->group(group);
  add_values(app, "-l,--library", "LIB", typed.libraries,
             "trace calls to functions that LIB implements, as -e '*@LIB'")
      ->group(group);
  add_values(app, "-x", "FILTER", typed.entries,
             "trace functions at their entry, whoever calls them, local ones too: SYMBOL@LIBRARY")
      ->group(group);
  add_switch(app, "-L", typed.no_default, "no calls but those of -l and -x")->group(group);
  add_switch(app, "-S", typed.system_calls, "system calls as well; with -L only these")
      ->group(group);
  add_value(app, "--min-time", "DUR", typed.min_time,
            "leave out calls shorter than DUR (10us, 1ms)")
      ->group(group);
  add_value(app, "--max-depth", "N", typed.max_depth, "leave out calls nested deeper than N")
      ->group(group);
  add_value(app, "--sample", "N", typed.sample, "write every Nth call of each function")
      ->group(group);
}

void add_processes(CLI::App& app, TypedOptions& typed) {
  const char* group = "Which processes";
  add_values(app, "-p", "PID", typed.attach, "attach to the process PID; may be repeated")
      ->group(group);
  add_value(app, "--match", "REGEX", typed.match,
            "attach to the process whose command line matches; more than one are listed")
      ->group(group);
  add_switch(app, "-f", typed.follow,
             "trace child processes, too; with -p also those that it has already")
      ->group(group);
  add_value(app, "-u", "USER", typed.user, "run COMMAND as USER, with the groups of that user")
      ->group(group);
}

void add_log(CLI::App& app, TypedOptions& typed) {
  const char* group = "The log";
  add_value(app, "-o,--output", "FILE", typed.output,
            "write the log to FILE, one whole line a call; default is stderr")
      ->group(group);
  app.add_flag_function(
         "-t", [&typed](std::int64_t count) { typed.time = count; },
         "time of day before each line; -tt with microseconds, -ttt as seconds since 1970")
      ->group(group);
  add_switch(app, "-r", typed.relative, "time since the line before, before each line")
      ->group(group);
  add_switch(app, "-T", typed.durations, "time spent in each call, in <> behind it")->group(group);
  add_switch(app, "--ns", typed.nanoseconds, "nine digits instead of six in times")->group(group);
  add_switch(app, "-i", typed.instruction_pointer, "address that each call returns to")
      ->group(group);
  add_value(app, "-n,--indent", "N", typed.indent, "indent by N blanks for each level of nesting")
      ->group(group);
  add_value(app, "-a,--align", "COLUMN", typed.align, "put results at COLUMN")->group(group);
  add_value(app, "-s", "N", typed.string_limit, "show at most N characters of a string (32)")
      ->group(group);
  add_value(app, "-A", "N", typed.array_limit,
            "show at most N elements of an array, and levels of a struct in itself (4)")
      ->group(group);
  add_value(app, "-w,--where", "N", typed.frames,
            "show where each call was made: at most N frames of its stack")
      ->group(group);
  add_switch(app, "--python", typed.python,
             "show the Python function, file and line that made each call")
      ->group(group);
  add_values(app, "-F,--config", "FILE", typed.conf_files,
             "read prototypes from FILE, or from the *.conf files of a directory, too")
      ->group(group);
  add_values(app, "--debug-directory", "DIR", typed.debug_directories,
             "look for separate debug files in DIR, too; /usr/lib/debug is always looked in")
      ->group(group);
  add_switch(app, "--no-debug-info", typed.no_debug_info,
             "read no prototypes from the debug information of programs and libraries")
      ->group(group);
  add_switch(app, "-b,--no-signals", typed.no_signals, "no lines for signals")->group(group);
  app.add_flag("-C,--demangle", typed.demangle,
               "form of C++ and Rust names; short is the default, -C is full")
      ->type_name("short|full|none")
      ->group(group);
  add_switch(app, "--caller", typed.caller, "name the calling module: CALLER->NAME")->group(group);
  add_switch(app, "--split-lines", typed.split_lines,
             "ltrace's form, in a file, too: a call with others inside takes two lines, one when "
             "it begins and one when it returns")
      ->group(group);
  add_switch(app, "--whole-lines", typed.whole_lines,
             "one line a call, written when it returns, on stderr, too")
      ->group(group);
  add_value(app, "--thin-after", "SIZE", typed.thin_after,
            "from SIZE on (1G) leave out short calls of functions that are called much, and count "
            "them; 0: never")
      ->group(group);
  add_value(app, "--output-format", "text|json", typed.output_format,
            "json: an object a line; its schema is in docs/JSON.md")
      ->group(group);
  add_switch(app, "--quiet", typed.quiet, "no status line, nothing at the end")->group(group);
}

void add_counting(CLI::App& app, TypedOptions& typed) {
  const char* group = "A table instead of a log";
  add_switch(app, "-c", typed.count, "count calls and time for each function, and print a table")
      ->group(group);
  add_switch(app, "--percentiles", typed.percentiles, "with -c: p50, p90, p99 and max as well")
      ->group(group);
  add_value(app, "--interval", "DUR", typed.interval, "with -c: a table each DUR (5s), too")
      ->group(group);
}

void add_limits(CLI::App& app, TypedOptions& typed) {
  add_value(app, "--start-on", "FILTER", typed.start_on,
            "record nothing before the first call that FILTER selects, as with -e")
      ->group("Which calls");
  const char* group = "When to stop tracing (the program goes on)";
  add_value(app, "--stop-on", "FILTER", typed.stop_on,
            "when the next call that FILTER selects, as with -e, has returned")
      ->group(group);
  add_value(app, "--duration", "DUR", typed.duration, "after DUR (500ms, 30s, 2m)")->group(group);
  add_value(app, "--max-calls", "N", typed.max_calls, "after N calls")->group(group);
  add_value(app, "--max-log-size", "SIZE", typed.max_log_size,
            "when the log has SIZE bytes (64K, 100M, 2G)")
      ->group(group);
}

void add_others(CLI::App& app, TypedOptions& typed) {
  const char* group = "Other";
  add_switch(app, "--explain", typed.explain,
             "print what would be traced, a line a module, and run nothing")
      ->group(group);
  add_value(app, "--engine", "NAME", typed.engine,
            "how calls are caught: auto (default), breakpoint, inline")
      ->group(group);
  add_switch(app, "--no-cache", typed.no_cache,
             "keep nothing in $XDG_CACHE_HOME/sonictrace, and take nothing from there")
      ->group(group);
  add_switch(app, "--doctor", typed.doctor,
             "say what would keep a program, or the process PID behind it, from being traced")
      ->group(group);
  add_switch(
      app, "--list-prototypes", typed.list_prototypes,
      "print the prototypes that are known, and where each is from; of the library LIB behind "
      "it only: a soname, a path, a pattern")
      ->group(group);
  add_value(app, "-D,--debug", "MASK", typed.debug,
            "tell on stderr what sonictrace itself does; -Dh lists the bits of the octal MASK")
      ->group(group);
  add_switch(app, "--ltrace", typed.ltrace, "behave as ltrace does, for scripts and comparison")
      ->group(group);
  add_switch(app, "-h,--help", typed.help, "show this")->group(group);
  add_switch(app, "-V,--version", typed.version, "show the version, and those of the libraries")
      ->group(group);
}

} // namespace

void TypedOptions::add_to(CLI::App& app) {
  app.set_help_flag(); // ours is one of the options below, in its group
  add_selecting(app, *this);
  add_processes(app, *this);
  add_log(app, *this);
  add_counting(app, *this);
  add_limits(app, *this);
  add_others(app, *this);
}

} // namespace sonictrace
