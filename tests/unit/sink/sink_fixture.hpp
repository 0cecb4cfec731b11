#pragma once

#include <string>

#include "support/log_fixture.hpp"

namespace sonictrace {

/// A sink that writes to memory, and records to fill it with.
template <class Kind>
class SinkFixture {
public:
  /// `arguments`: of the sink's constructor, behind the writer.
  template <class... Arguments>
  explicit SinkFixture(const Arguments&... arguments)
      : file_(memory_file()), sink(Writer(UniqueFd(::dup(file_.get()))), arguments...),
        build(sink) {}

  std::string visible() const { return content_of(file_.get()); }

  /// All that was written, at the end.
  std::string finished(SessionSummary summary = {}) {
    if (summary.time_ns == 0) summary.time_ns = build.now_ns;
    EXPECT_TRUE(sink.finish(summary));
    return visible();
  }

  /// A call that takes so long.
  void call(pid_t tid, FunctionId function, std::uint64_t duration_ns) {
    const std::uint64_t call = next_call_++;
    build.enter_as(tid, function, call, 1, {});
    build.leave_as(tid, function, call, 1, 0, duration_ns);
  }

private:
  UniqueFd file_;
  std::uint64_t next_call_ = 1'000'000;

public:
  Kind sink;
  RecordBuilder build;
};

} // namespace sonictrace
