#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonictrace/base/glob.hpp"
#include "sonictrace/base/result.hpp"
#include "sonictrace/log/call.hpp"
#include "sonictrace/report/call_class.hpp"

namespace sonictrace::report {

/// Which calls a report is about, as typed.
struct FilterOptions {
  std::vector<std::string> functions; ///< globs; empty: all
  std::vector<std::string> libraries; ///< globs on the module; empty: all
  std::vector<std::string> excluded;  ///< globs on functions
  std::optional<std::uint32_t> tid;
  std::optional<CallClass> one_class;
  std::string window; ///< `T0:T1`: durations from the log's first line on, or HH:MM:SS; empty: all
  std::uint64_t min_time_ns = 0;
  bool syscalls_only = false;
  /// What module a function is in is known when it is called first (log::ReaderOptions::modules),
  /// so that accepts() decides by it too.
  bool modules_are_known = false;
};

/// What a filter has left out.
struct FilterTally {
  std::uint64_t calls = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t self_ns = 0;

  bool operator==(const FilterTally&) const = default;
};

/// Decides about calls, and about functions when their modules are known: logs of sonictrace say at
/// their end which module a function is in. One log each.
class CallFilter {
public:
  /// Fails with one line where a glob or a window is none.
  static Result<CallFilter> make(const FilterOptions& options);

  /// By all but the module, unless modules are known. Counts what it refuses.
  bool accepts(const log::Call& call, const log::FunctionTable& functions) {
    if (accepts_all_) return true;
    if (decide(call, functions)) return true;
    ++tally_.calls;
    if (call.has_duration()) {
      tally_.total_ns += call.duration_ns;
      tally_.self_ns += call.self_ns;
    }
    return false;
  }
  /// By name, class and kind, without counting.
  bool accepts_function(const log::Function& function) const;
  /// By the module; to be asked at the end of the log.
  bool accepts_module(std::string_view module) const;
  /// Counts calls that were refused by their module.
  void refuse(std::uint64_t calls, std::uint64_t total_ns, std::uint64_t self_ns) {
    tally_.calls += calls;
    tally_.total_ns += total_ns;
    tally_.self_ns += self_ns;
  }

  bool accepts_all() const { return accepts_all_ && libraries_.empty(); }
  /// Whether calls are refused by when or where they are, and not by what they are.
  bool depends_on_calls() const;
  const FilterTally& tally() const { return tally_; }

private:
  struct Window {
    std::uint64_t from_ns = 0;
    std::uint64_t to_ns = ~std::uint64_t{0};
    bool is_clock = false; ///< times of day
  };

  static Result<std::optional<Window>> parse_window(std::string_view text);
  bool decide(const log::Call& call, const log::FunctionTable& functions);
  bool is_in_window(const log::Call& call);

  std::vector<Glob> functions_, libraries_, excluded_;
  std::optional<std::uint32_t> tid_;
  std::optional<CallClass> class_;
  std::optional<Window> window_;
  std::uint64_t min_time_ns_ = 0;
  bool syscalls_only_ = false;
  bool modules_are_known_ = false;
  bool accepts_all_ = true;
  std::vector<std::int8_t> known_; ///< by function: 0 not asked yet, 1 yes, -1 no
  std::optional<std::uint64_t> first_ns_;
  FilterTally tally_;
};

} // namespace sonictrace::report
