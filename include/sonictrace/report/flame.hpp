#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sonictrace/base/result.hpp"
#include "sonictrace/log/log_reader.hpp"
#include "sonictrace/names/demangle.hpp"
#include "sonictrace/report/call_class.hpp"
#include "sonictrace/report/call_filter.hpp"
#include "sonictrace/report/log_part.hpp"

namespace sonictrace::report {

/// A frame of a flame graph, and what stands on it.
struct FlameNode {
  enum class Kind : std::uint8_t {
    All,
    Thread,
    Caller, ///< of a backtrace
    Call,   ///< traced
    Rest,   ///< taken together
  };

  std::string name;
  std::string module; ///< empty where the log does not say it
  Kind kind = Kind::All;
  CallClass call_class = CallClass::Cpu; ///< of a Call
  std::uint64_t self_ns = 0;
  std::uint64_t calls = 0;       ///< that ended with this very stack
  std::uint64_t total_ns = 0;    ///< its own and that of all on it: the sum of their self times
  std::uint64_t total_calls = 0; ///< likewise
  std::vector<std::uint32_t> children; ///< places in Flame::nodes(), the largest first

  bool operator==(const FlameNode&) const = default;
};

/// What the width of a frame is.
enum class FlameWeight : std::uint8_t { Time, Calls };

/// Which calls the time passed in, and inside of which others: by thread, by the nesting of traced
/// calls, and of calls with a backtrace (-w) by that. May be filled from several logs.
class Flame {
public:
  static constexpr std::size_t kDeepest = 500; ///< frames; what is deeper is taken together

  explicit Flame(DemangleStyle demangle) : demangle_(demangle) {
    nodes_.emplace_back().name = "all";
  }

  /// Adds the calls of one log that the filter accepts. One that it does not accept is no frame,
  /// its own time is left out, and what is inside of it stands on what it is inside of.
  Result<void> add(log::LogReader& reader, CallFilter& filter);
  /// The same of a log that is read for others too. The part borrows both, and this.
  std::unique_ptr<LogPart> begin(const log::FunctionTable& functions, CallFilter& filter);
  /// To be called when all logs were added: totals and order.
  void finish();

  /// The first is the root.
  const std::vector<FlameNode>& nodes() const { return nodes_; }
  bool has_times() const { return has_times_; }
  /// There were more different stacks than could be told apart.
  bool has_folded() const { return has_folded_; }

private:
  class Collector;

  void take(Collector& collector, CallFilter& filter, const log::FunctionTable& functions);
  std::uint32_t child(std::uint32_t parent, FlameNode::Kind kind, std::string_view name,
                      std::string_view module);

  DemangleStyle demangle_;
  std::vector<FlameNode> nodes_;
  bool has_times_ = false;
  bool has_folded_ = false;
};

/// `thread 4711;qsort;strcmp 42`: stacks from the outermost frame on, with microseconds of self
/// time, or calls. The sum of the numbers is that of the self times, rounded once.
std::string flame_folded(const Flame& flame, FlameWeight weight);
/// The file format of speedscope: one profile for each thread.
std::string flame_speedscope(const Flame& flame, FlameWeight weight, std::string_view title);

struct FlameSvgOptions {
  FlameWeight weight = FlameWeight::Time;
  std::string title = "Flame graph";
  std::string note;         ///< lines below the picture
  unsigned width = 1200;    ///< pixels
  double least_width = 0.1; ///< pixels: narrower frames are left out, and counted
  bool icicle = false;      ///< the root on top
  bool script = true;       ///< zoom and search
};
/// One picture that needs nothing else.
std::string flame_svg(const Flame& flame, const FlameSvgOptions& options);

} // namespace sonictrace::report
