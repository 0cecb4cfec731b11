#include "sonicreport/common_options.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <new>
#include <sstream>

#include "sonicreport/command.hpp"
#include "sonictrace/base/say.hpp"
#include "sonictrace/base/unique_fd.hpp"
#include "sonictrace/report/quantity.hpp"

namespace sonictrace::sonicreport {
namespace {

Result<void> write_all(int fd, std::string_view text, const std::string& name) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error::from_errno("can't write " + name);
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

} // namespace

void tell(std::string_view text) { say(STDERR_FILENO, fmt::format("sonicreport: {}\n", text)); }

void CommonOptions::add_to(CLI::App& app, const std::string& formats) {
  app.add_option("LOG", logs, "logs of sonictrace or ltrace: files, plain, .gz or .zst; - is stdin")
      ->required()
      ->type_name("");
  if (!formats.empty()) {
    std::istringstream words(formats);
    const std::vector<std::string> names{std::istream_iterator<std::string>(words), {}};
    format = names.front();
    app.add_option("--format", format, "how it is written: " + formats)
        ->check(CLI::IsMember(names).description(""))
        ->type_name("FORMAT");
  }
  app.add_option("-o,--output", output, "a file instead of stdout")->type_name("FILE");
  app.add_option("--func", functions, "only functions that the glob matches")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  app.add_option("--lib", libraries, "only functions of libraries that the glob matches")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  app.add_option("--map", map,
                 "a file that says which library a function is in, for logs that don't: lines "
                 "LIBRARY FUNCTION, or a log of sonictrace")
      ->type_name("FILE");
  app.add_option("--exclude", excluded, "no functions that the glob matches")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  app.add_option("--tid,--pid", tid,
                 "only the thread of this number; a log does not tell processes from threads")
      ->type_name("N");
  app.add_option("--class", one_class, "only calls of this class: cpu, wait, io, mem")
      ->check(CLI::IsMember({"cpu", "wait", "io", "mem"}).description(""))
      ->type_name("CLASS");
  app.add_option("--window", window,
                 "only calls that began between two times: 0s:5s from the first line on, or "
                 "14:23:05:14:23:10")
      ->type_name("T0:T1");
  app.add_option("--min-time", min_time, "only calls that took at least as long: 100us, 5ms")
      ->type_name("DUR");
  app.add_flag("--demangle,!--no-demangle", demangle,
               "demangle names that the log has as they are in the symbol table");
  app.add_option("--jobs", jobs, "threads; the cores there are by default")->type_name("N");
  app.add_option("--max-mem", max_memory,
                 "at most so much memory: 64M, 2G; what needs more ends with exit status 2")
      ->type_name("SIZE");
  app.add_flag("--strict", strict, "a line that can't be used is a failure (exit status 3)");
  app.add_option("--min-coverage", min_coverage,
                 "part of the lines with a time that has to be used, or the exit status is 3; 0.99 "
                 "by default")
      ->check(CLI::Range(0.0, 1.0).description(""))
      ->type_name("PART");
}

Result<void> CommonOptions::limit_memory() const {
  if (max_memory.empty()) return {};
  constexpr std::uint64_t kLeast = 16U << 20; // for what every program needs
  const auto bytes = report::parse_size(max_memory);
  if (!bytes || *bytes < kLeast)
    return Error::saying(
        fmt::format("--max-mem '{}': not a size like 64M or 2G, of 16M at least", max_memory));
  // Stacks of threads count with all that they might take.
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, 512U << 10);
  ::pthread_setattr_default_np(&attributes);
  ::pthread_attr_destroy(&attributes);
  const rlimit limit = {*bytes, *bytes};
  if (::setrlimit(RLIMIT_DATA, &limit) != 0) return Error::from_errno("can't set --max-mem");
  std::set_new_handler([] { // in whatever thread it happens
    say(STDERR_FILENO, "sonicreport: more memory than --max-mem is needed: give more, or less to "
                       "do: --window, --func, --max-events\n");
    ::_exit(kUnusable);
  });
  return {};
}

Result<log::ReaderOptions> CommonOptions::reader_options(bool keep_arguments) const {
  if (auto limited = limit_memory(); !limited) return limited.error();
  log::ReaderOptions options;
  options.jobs = jobs == 0 ? log::usable_cores() : std::min(jobs, 64U);
  options.keep_arguments = keep_arguments;
  if (map.empty()) return options;
  auto modules = log::ModuleMap::read(map);
  if (!modules) return modules.error();
  options.modules = std::make_shared<const log::ModuleMap>(std::move(*modules));
  return options;
}

Result<log::LogReader> CommonOptions::open(const std::string& path, bool keep_arguments) const {
  auto options = reader_options(keep_arguments);
  if (!options) return options.error();
  return log::LogReader::open(path, *options);
}

Result<log::LogReader> CommonOptions::open_knowing_modules(const std::string& path,
                                                           bool keep_arguments) const {
  if (libraries.empty()) return open(path, keep_arguments);
  auto options = reader_options(keep_arguments);
  if (!options) return options.error();
  if (path == "-") {
    if (options->modules == nullptr)
      return Error::saying("--lib: standard input can't be read twice, and a log says only at its "
                           "end which library a function is in: give a file, or --map");
    return log::LogReader::open(path, *options);
  }
  struct Nobody final : log::CallVisitor {
    void on_call(const log::Call& /*call*/) override {}
  } nobody;
  auto reader = open(path);
  if (!reader) return reader.error();
  if (auto read = reader->pump(nobody); !read) return read.error();
  auto modules = reader->functions().told_modules();
  if (options->modules != nullptr) modules.add(*options->modules); // the log knows better
  options->modules = std::make_shared<const log::ModuleMap>(std::move(modules));
  return log::LogReader::open(path, *options);
}

Result<report::FilterOptions> CommonOptions::filter() const {
  report::FilterOptions filter;
  filter.functions = functions;
  filter.libraries = libraries;
  filter.excluded = excluded;
  filter.tid = tid;
  if (!one_class.empty()) filter.one_class = report::parse_call_class(one_class);
  filter.window = window;
  if (!min_time.empty()) {
    const auto ns = report::parse_duration_ns(min_time);
    if (!ns)
      return Error::saying(fmt::format("--min-time '{}': not a time like 100us or 5ms", min_time));
    filter.min_time_ns = *ns;
  }
  return filter;
}

int CommonOptions::judge(const std::string& name, const log::Accounting& account,
                         int status) const {
  if (strict && account.skipped + account.unmatched > 0) {
    tell(fmt::format("{}: {} lines could not be used (--strict)", name,
                     account.skipped + account.unmatched));
    return kPoorCoverage;
  }
  if (account.coverage() < min_coverage) {
    tell(fmt::format("{}: only {:.1f} % of the lines that end in a time could be used, less than "
                     "--min-coverage {}",
                     name, 100 * account.coverage(), min_coverage));
    return kPoorCoverage;
  }
  return status;
}

Result<void> CommonOptions::write(std::string_view text) const {
  if (output.empty()) return write_all(STDOUT_FILENO, text, "standard output");
  const UniqueFd fd(::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!fd) return Error::from_errno("can't write " + output);
  return write_all(fd.get(), text, output);
}

} // namespace sonictrace::sonicreport
