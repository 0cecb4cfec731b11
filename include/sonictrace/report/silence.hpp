#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "sonictrace/log/call.hpp"
#include "sonictrace/report/call_filter.hpp"
#include "sonictrace/report/longest.hpp"

namespace sonictrace::report {

/// A time in which no traced call ran.
struct SilentSpan {
  std::uint64_t from_ns = 0, to_ns = 0;
  std::uint32_t tid = log::kNoTid;
  log::FunctionId before = 0; ///< the call that ended at its beginning
  log::FunctionId after = 0;  ///< the call that began at its end

  std::uint64_t length_ns() const { return to_ns - from_ns; }
  bool operator<(const SilentSpan& other) const {
    return from_ns != other.from_ns ? from_ns < other.from_ns : tid < other.tid;
  }
  bool operator==(const SilentSpan&) const = default;
};

struct SilenceOptions {
  std::uint64_t min_ns = 1'000'000;
  bool any_thread = false; ///< times in which no thread had a call, not one thread by itself
  std::size_t limit = 10;
};

/// Finds the silent spans of one log, between a thread's first call and its last one. Calls are
/// known when they end, those inside of others first: what was silent may turn out to be inside of
/// a call, so that spans stay open until there are too many.
class SilenceFinder final : public log::CallVisitor {
public:
  static constexpr std::size_t kMostOpen = 65'536;

  SilenceFinder(const SilenceOptions& options, CallFilter& filter,
                const log::FunctionTable& functions, std::size_t most_open = kMostOpen)
      : options_(options), filter_(filter), functions_(functions), most_open_(most_open),
        longest_(options.limit) {}

  void on_call(const log::Call& call) override;
  void on_event(const log::Event& event) override;
  /// At the end of the log.
  void finish();

  std::uint64_t spans() const { return spans_; }
  std::uint64_t total_ns() const { return total_ns_; }
  std::uint64_t timed_calls() const { return timed_calls_; }
  /// Calls that began before spans that were counted already: those may be inside of them.
  std::uint64_t late_calls() const { return late_calls_; }
  std::vector<SilentSpan> take_longest() { return longest_.take(); }

private:
  struct Thread {
    std::uint64_t last_end_ns = 0;
    log::FunctionId last = 0;
    bool begun = false;
    std::uint64_t settled_to_ns = 0;
    std::vector<SilentSpan> spans; ///< by time
  };

  void settle(Thread& thread, std::size_t count);

  SilenceOptions options_;
  CallFilter& filter_;
  const log::FunctionTable& functions_;
  std::size_t most_open_;
  std::unordered_map<std::uint32_t, Thread> threads_;
  Longest<SilentSpan> longest_;
  std::uint64_t spans_ = 0, total_ns_ = 0, timed_calls_ = 0, late_calls_ = 0;
};

} // namespace sonictrace::report
