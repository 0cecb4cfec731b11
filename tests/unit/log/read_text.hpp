#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "sonictrace/base/unique_fd.hpp"
#include "sonictrace/log/log_reader.hpp"

namespace sonictrace::log::test {

/// A file without a name.
class TextFile {
public:
  explicit TextFile(std::string_view text) : fd_(::memfd_create("log", MFD_CLOEXEC)) {
    EXPECT_EQ(::write(fd_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::string path() const { return fmt::format("/proc/self/fd/{}", fd_.get()); }

private:
  UniqueFd fd_;
};

/// A call with texts of its own.
struct ReadCall {
  std::string name;
  std::string module;
  Call call;
  std::string caller, arguments, result;

  std::uint64_t self_us() const { return call.self_ns / 1000; }
  std::uint64_t outermost_us() const { return call.outermost_ns / 1000; }
};

/// All that a log says.
struct ReadLog : CallVisitor {
  const FunctionTable* functions = nullptr;
  std::vector<ReadCall> calls;
  std::vector<std::string> events, frames;
  std::vector<Function> all_functions;
  Accounting account;
  std::string error;

  void on_call(const Call& call) override {
    ReadCall read{(*functions)[call.function].name,
                  {},
                  call,
                  std::string(call.caller),
                  std::string(call.arguments()),
                  std::string(call.result())};
    read.call.text = read.call.split_arguments = read.call.caller = {};
    calls.push_back(read);
  }
  void on_event(const Event& event) override { events.emplace_back(event.text); }
  void on_frame(std::string_view frame) override { frames.emplace_back(frame); }

  const ReadCall& only(std::string_view name) const {
    const ReadCall* found = nullptr;
    for (const auto& one : calls)
      if (one.name == name) {
        EXPECT_EQ(found, nullptr) << name << " is called twice";
        found = &one;
      }
    static const ReadCall kNone;
    EXPECT_NE(found, nullptr) << name << " is not called";
    return found == nullptr ? kNone : *found;
  }
  const Function* function(std::string_view name, std::string_view module = {}) const {
    for (const auto& one : all_functions)
      if (one.name == name && (module.empty() || one.module == module)) return &one;
    return nullptr;
  }
};

inline ReadLog read_path(const std::string& path, ReaderOptions options = {}) {
  ReadLog log;
  auto reader = LogReader::open(path, options);
  if (!reader) {
    log.error = reader.error().message();
    return log;
  }
  log.functions = &reader->functions();
  if (auto read = reader->pump(log); !read) log.error = read.error().message();
  log.account = reader->accounting();
  for (FunctionId id = 0; id < reader->functions().size(); ++id)
    log.all_functions.push_back(reader->functions()[id]);
  EXPECT_TRUE(log.account.adds_up());
  return log;
}

inline ReadLog read_text(std::string_view text, ReaderOptions options = {}) {
  options.keep_arguments = true;
  const TextFile file(text);
  return read_path(file.path(), options);
}

} // namespace sonictrace::log::test
