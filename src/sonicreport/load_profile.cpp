#include "sonicreport/load_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <utility>

#include "sonicreport/command.hpp"
#include "sonictrace/log/log_input.hpp"
#include "sonictrace/report/sha256.hpp"

namespace sonictrace::sonicreport {
namespace {

/// One log, or one fingerprint.
struct Loaded {
  report::Profile profile;
  std::optional<report::Fingerprint> fingerprint;
  std::optional<log::Accounting> account; ///< of a log
  std::string name;
};

constexpr std::size_t kMostOfFingerprint = std::size_t{1} << 30; ///< bytes

Result<std::string> read_beginning(log::LogInput& input, std::size_t most) {
  std::string text;
  std::array<char, 65536> buffer;
  while (text.size() < most) {
    auto got = input.read(buffer);
    if (!got) return got.error();
    if (*got == 0) break;
    text.append(buffer.data(), *got);
  }
  return text;
}

Result<std::string> hash_of(const std::string& path) {
  auto input = log::LogInput::open(path);
  if (!input) return input.error();
  report::Sha256 hash;
  std::vector<char> buffer(std::size_t{1} << 18);
  while (true) {
    auto got = input->read(buffer);
    if (!got) return got.error();
    if (*got == 0) return hash.finish();
    hash.add(std::span(buffer.data(), *got));
  }
}

report::Profile filtered(const report::Profile& profile, const report::CallFilter& filter) {
  std::vector<report::FunctionProfile> kept;
  for (const auto& one : profile.functions()) {
    log::Function function;
    function.name = one.name;
    function.module = one.module;
    function.is_syscall = one.is_syscall;
    if (filter.accepts_function(function) && filter.accepts_module(one.module)) kept.push_back(one);
  }
  return report::Profile::of(profile.runs(), std::move(kept));
}

/// Nothing where it is a log.
Result<std::optional<report::Fingerprint>> load_fingerprint(const std::string& path) {
  // What is read of stdin to look at it would be missing afterwards.
  if (path == "-") return std::optional<report::Fingerprint>();
  auto input = log::LogInput::open(path);
  if (!input) return input.error();
  auto text = read_beginning(*input, 64); // longer than how one begins; a read may give less
  if (!text) return text.error();
  if (!report::is_fingerprint(*text)) return std::optional<report::Fingerprint>();
  auto rest = read_beginning(*input, kMostOfFingerprint);
  if (!rest) return rest.error();
  auto parsed = report::parse_fingerprint(*text + *rest, input->name());
  if (!parsed) return parsed.error();
  return std::optional<report::Fingerprint>(std::move(*parsed));
}

Result<Loaded> load_one(const std::string& path, const CommonOptions& options, bool hash) {
  auto filter_options = options.filter();
  if (!filter_options) return filter_options.error();
  auto filter = report::CallFilter::make(*filter_options);
  if (!filter) return filter.error();
  Loaded loaded;
  auto fingerprint = load_fingerprint(path);
  if (!fingerprint) return fingerprint.error();
  if (*fingerprint) {
    if (filter->depends_on_calls())
      return Error::saying(fmt::format("{}: a fingerprint has no single calls: --tid, --window and "
                                       "--min-time need the logs",
                                       path));
    loaded.profile = filtered((*fingerprint)->profile, *filter);
    loaded.fingerprint = std::move(**fingerprint);
    loaded.fingerprint->profile = {};
    return loaded;
  }
  std::string sha256;
  if (hash) {
    if (path == "-")
      return Error::saying("standard input can't be read twice, and a fingerprint has the hash of "
                           "its logs: write it to a file first");
    auto hashed = hash_of(path);
    if (!hashed) return hashed.error();
    sha256 = std::move(*hashed);
  }
  auto reader = options.open(path);
  if (!reader) return reader.error();
  auto read = loaded.profile.add(*reader, *filter, options.demangle_style(), std::move(sha256));
  if (!read) return read.error();
  loaded.name = reader->name();
  if (reader->accounting().lines == 0)
    return Error::saying(fmt::format("{}: the log is empty; was anything traced?", loaded.name));
  loaded.account = reader->accounting();
  return loaded;
}

} // namespace

Result<LoadedProfile> load_profile(const std::vector<std::string>& paths,
                                   const CommonOptions& options, bool hash) {
  std::vector<std::optional<Result<Loaded>>> loaded(paths.size());
  const auto cores = options.jobs == 0 ? log::usable_cores() : options.jobs;
  const auto workers = std::min<std::size_t>(std::min(cores, 64U), paths.size());
  CommonOptions each = options;
  if (workers > 1) each.jobs = 1; // a log a core
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < paths.size(); i = next++)
      loaded[i].emplace(load_one(paths[i], each, hash));
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < workers; ++i)
      threads.emplace_back(work);
    work();
  }
  LoadedProfile all;
  for (auto& one : loaded) {
    Result<Loaded>& result = *one;
    if (!result) return result.error();
    all.profile.add(result->profile);
    if (result->fingerprint) all.fingerprints.push_back(std::move(*result->fingerprint));
    if (result->account) all.status = options.judge(result->name, *result->account, all.status);
  }
  return all;
}

} // namespace sonictrace::sonicreport
