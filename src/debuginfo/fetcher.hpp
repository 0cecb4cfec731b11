#pragma once

#include <chrono>
#include <string>

namespace sonictrace::debuginfo {

/// Fetches debug files from the servers of DEBUGINFOD_URLS by libdebuginfod, if it is installed. It
/// keeps what it has fetched in a cache of its own (debuginfod_find_debuginfo(3)).
class Fetcher {
public:
  /// `time`: for all files together.
  explicit Fetcher(std::chrono::milliseconds time) : left_(time) {}

  /// The path of the file; empty where there is none, or the time is over.
  std::string fetch(const std::string& build_id);
  bool is_over() const { return left_ <= Clock::duration::zero(); }

private:
  using Clock = std::chrono::steady_clock;
  Clock::duration left_;
};

/// Are there servers to ask?
bool has_servers();

} // namespace sonictrace::debuginfo
