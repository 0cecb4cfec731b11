#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sink/closing_line.hpp"
#include "sonictrace/stream/definition.hpp"
#include "sonictrace/stream/sink.hpp"

namespace sonictrace {

/// Which of the recorded calls a log leaves out.
struct SelectionOptions {
  std::uint64_t min_time_ns = 0; ///< --min-time
  unsigned max_depth = 0;        ///< --max-depth; 0: no limit
  std::uint64_t sample = 1;      ///< --sample; 0 and 1: every call
};

/// Decides it, call by call, and counts what is left out. An engine's function ids are small
/// numbers; those of damaged records may be anything, and share one place.
class CallSelection {
public:
  explicit CallSelection(const SelectionOptions& options)
      : options_(options),
        takes_all_(options.min_time_ns == 0 && options.max_depth == 0 && options.sample <= 1) {}

  /// No call is left out: none of the questions below needs to be asked now.
  bool takes_all() const { return takes_all_; }

  /// A call's first question, at its entry.
  bool is_too_deep(std::uint16_t depth) const {
    return options_.max_depth != 0 && depth > options_.max_depth;
  }
  void leave_out_deep() { ++left_out_.deep_calls; }

  /// Whether a call that took so long is left out; counted if it is.
  bool leaves_out_short(std::uint64_t duration_ns) {
    if (duration_ns >= options_.min_time_ns) return false;
    ++left_out_.short_calls;
    return true;
  }

  /// Whether a call is none of each Nth of its function; counted if so. To be asked once a call.
  bool leaves_out_of_sample(FunctionId function) {
    if (options_.sample <= 1) return false;
    if (++counts_of(function).sampled % options_.sample == 0) return false;
    ++left_out_.sampled_calls;
    return true;
  }

  // Thinning. A function's calls are those of one FunctionId.

  static constexpr std::uint32_t kThinFirst = 10'000; ///< calls of a function written in any case
  static constexpr std::uint64_t kThinShort = kThinnedBelowNs; ///< longer calls are written

  void start_thinning();
  bool is_thinning() const { return is_thinning_; }
  /// Whether short calls of this function are not written any more.
  bool thins(FunctionId function) {
    return is_thinning_ && counts_of(function).written >= kThinFirst;
  }
  /// Whether a call is left out; counted if it is.
  bool leaves_out_frequent(FunctionId function, std::uint64_t duration_ns);
  /// Calls that were left out already, by the engine.
  void count_thinned(FunctionId function, std::uint64_t calls, std::uint64_t time_ns);
  void wrote(FunctionId function) {
    std::uint32_t& written = counts_of(function).written;
    if (written >= kThinFirst) return;
    if (++written == kThinFirst && is_thinning_) newly_thinned_.push_back(function);
  }
  /// The functions that became so frequent since this was asked last, once thinning has begun.
  std::vector<FunctionId> take_newly_thinned() { return std::exchange(newly_thinned_, {}); }

  struct Thinned {
    FunctionId function;
    std::uint64_t calls;
    std::uint64_t time_ns;
  };
  bool has_thinned() const { return !thinned_.empty(); }
  /// What was thinned since this was asked last, by FunctionId.
  std::vector<Thinned> take_thinned();

  /// `by_engine`: what did not come here.
  LeftOut left_out(const LeftOutCalls& by_engine) const {
    LeftOut sum = left_out_;
    sum.short_calls += by_engine.short_calls;
    sum.deep_calls += by_engine.deep_calls;
    return sum;
  }

private:
  struct Counts {
    std::uint32_t written = 0; ///< up to kThinFirst
    bool has_thinned = false;  ///< something to be told
    std::uint64_t sampled = 0;
    std::uint64_t thinned_calls = 0;
    std::uint64_t thinned_ns = 0;
  };
  static constexpr FunctionId kMaxFunctions = FunctionId{1} << 20;

  Counts& counts_of(FunctionId function) {
    if (function < counts_.size()) return counts_[function];
    return new_counts_of(function);
  }
  Counts& new_counts_of(FunctionId function);

  SelectionOptions options_;
  bool takes_all_;
  LeftOut left_out_;
  bool is_thinning_ = false;
  std::vector<Counts> counts_; ///< by FunctionId
  Counts unknown_;
  std::vector<FunctionId> thinned_; ///< those with has_thinned
  std::vector<FunctionId> newly_thinned_;
};

} // namespace sonictrace
