#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "sonictrace/base/glob.hpp"
#include "sonictrace/log/log_reader.hpp"
#include "sonictrace/report/call_filter.hpp"
#include "sonictrace/report/histogram.hpp"
#include "sonictrace/report/table.hpp"

namespace sonictrace::report {

/// How many calls each frame caused: those inside a call of a function that makes one frame, in its
/// thread, at any depth. A frame within a frame counts for itself.
class FrameCalls final : public log::CallVisitor {
public:
  FrameCalls(Glob frame_function, const log::FunctionTable& functions, CallFilter& filter)
      : frame_function_(std::move(frame_function)), functions_(functions), filter_(filter) {}

  void on_call(const log::Call& call) override;
  void on_event(const log::Event& event) override;
  /// To be called at the end of the log.
  void finish();

  std::uint64_t frames() const { return frames_; }
  /// A row for each function, and one for all: calls a frame (median, p99, max), the number of the
  /// frame with most, calls in all frames, outside of them, and all. The frames' own calls are not
  /// counted.
  Table table() const;

private:
  using Counts = std::unordered_map<log::FunctionId, std::uint64_t>;
  /// A call that has ended, with those inside of it; until a call around it ends.
  struct Pending {
    log::FunctionId function = 0;
    bool counts = false;      ///< it is one of those that are asked for
    std::uint32_t inside = 0; ///< place in `insides_` plus one; 0: nothing inside
  };
  /// Calls by frame, of one function.
  struct PerFrame {
    DurationHistogram counts; ///< of the frames that have any
    std::uint64_t in_frames = 0, outside = 0, most = 0, worst = 0;
  };
  static constexpr std::size_t kMostPending = 1'000'000; ///< a thread

  bool is_frame(log::FunctionId function);
  void take(const Pending& pending, Counts& counts);
  void leave_outside(std::vector<Pending>& pending, std::size_t count);
  void note_frame(const Counts& counts);
  static void add_to(PerFrame& sums, std::uint64_t count, std::uint64_t frame);

  Glob frame_function_;
  const log::FunctionTable& functions_;
  CallFilter& filter_;
  std::vector<std::int8_t> is_frame_; ///< by function: 0 not asked, 1 yes, -1 no
  std::unordered_map<std::uint32_t, std::vector<Pending>> threads_;
  std::vector<Counts> insides_;
  std::vector<std::uint32_t> free_;
  std::unordered_map<log::FunctionId, PerFrame> functions_of_frames_;
  PerFrame all_;
  std::uint64_t frames_ = 0;
};

} // namespace sonictrace::report
