#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "sonictrace/sink/text_sink.hpp"
#include "support/record_builder.hpp"

namespace sonictrace {

/// All that was written to a file.
inline std::string content_of(int fd) {
  std::string content(static_cast<std::size_t>(::lseek(fd, 0, SEEK_END)), '\0');
  const auto n = ::pread(fd, content.data(), content.size(), 0);
  content.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
  return content;
}

inline UniqueFd memory_file() { return UniqueFd(::memfd_create("log", MFD_CLOEXEC)); }

/// A text log in memory, and records to fill it with.
class LogFixture {
public:
  explicit LogFixture(const TextOptions& options, bool module_lines = false,
                      Buffering buffering = Buffering::Blocks)
      : file_(in_utc(memory_file())),
        sink(Writer(UniqueFd(::dup(file_.get())), buffering), options, module_lines),
        build(sink, options.string_limit) {}

  /// The log up to now.
  std::string log() {
    sink.tick(build.now_ns);
    return visible();
  }

  /// What somebody who reads the file now would see.
  std::string visible() const { return content_of(file_.get()); }

  /// The log at its end.
  std::string finished(const SessionSummary& summary = {}) {
    EXPECT_TRUE(sink.finish(summary));
    return visible();
  }

private:
  static UniqueFd in_utc(UniqueFd file) {
    ::setenv("TZ", "UTC0", 1); // before the sink reads it
    return file;
  }

  UniqueFd file_;

public:
  TextSink sink;
  RecordBuilder build;
};

/// ltrace's own form, to compare with its output.
inline TextOptions ltrace_form() {
  TextOptions options;
  options.ltrace = true;
  options.demangle = DemangleStyle::None;
  options.closing_lines = false;
  return options;
}

inline TextOptions split_form() {
  TextOptions options;
  options.closing_lines = false;
  return options;
}

inline TextOptions whole_form() {
  TextOptions options = split_form();
  options.form = LineForm::Whole;
  return options;
}

} // namespace sonictrace
