#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sonictrace/base/glob.hpp"
#include "sonictrace/log/call.hpp"
#include "sonictrace/report/call_filter.hpp"
#include "sonictrace/report/histogram.hpp"
#include "sonictrace/report/longest.hpp"

namespace sonictrace::report {

/// Which calls make a gap.
enum class GapPairing : std::uint8_t {
  LastFirst, ///< the last `from` that ends before a `to` begins, and the first `to` behind it
  Each,      ///< every `from`, and the first `to` behind it
};

struct GapOptions {
  Glob from, to; ///< on names of functions
  GapPairing pairing = GapPairing::LastFirst;
  bool any_thread = false; ///< a `from` of one thread and a `to` of another one
  std::size_t limit = 10;  ///< how many are kept, the longest ones
};

/// Where a gap begins or ends.
struct GapEdge {
  std::uint64_t time_ns = 0;
  std::uint32_t tid = log::kNoTid;
  log::FunctionId function = 0;
  std::uint64_t line = 0;
};

/// What ran in a gap, by function.
struct GapPart {
  std::string function;
  std::uint64_t calls = 0;
  std::uint64_t self_ns = 0; ///< within the gap, less that of the calls inside

  bool operator==(const GapPart&) const = default;
};

/// The time from the end of a call to the beginning of another one.
struct Gap {
  GapEdge from, to;
  std::string from_name, to_name;
  std::vector<GapPart> parts; ///< the most time first
  bool has_parts = false;     ///< they were looked for

  std::uint64_t length_ns() const { return to.time_ns - from.time_ns; }
  /// Time in which no traced call ran.
  std::uint64_t untraced_ns() const;
  bool operator<(const Gap& other) const { return from.time_ns < other.from.time_ns; }
};

/// Pairs the ends of calls with the beginnings of others. Calls of a log are known when they end,
/// so a call is known to have begun only after those inside of it: of each end the earliest
/// beginning behind it is kept until it is too old to have an earlier one.
class GapPairs {
public:
  using Found = std::function<void(const GapEdge& from, const GapEdge& to)>;

  explicit GapPairs(GapPairing pairing, std::size_t most = 4096) : pairing_(pairing), most_(most) {}

  void add_from(const GapEdge& end, const Found& found);
  void add_to(const GapEdge& begin);
  /// Tells all that are left.
  void finish(const Found& found) { settle(pending_.size(), found); }
  /// Ends without a beginning that were given up, as there were too many behind them.
  std::uint64_t given_up() const { return given_up_; }

private:
  struct Pending {
    GapEdge from, to;
    bool has_to = false;
  };

  void settle(std::size_t count, const Found& found);

  GapPairing pairing_;
  std::size_t most_;
  std::deque<Pending> pending_; ///< by time
  std::uint64_t given_up_ = 0;
};

/// Finds the gaps of one log.
class GapFinder final : public log::CallVisitor {
public:
  GapFinder(const GapOptions& options, CallFilter& filter, const log::FunctionTable& functions)
      : options_(options), filter_(filter), functions_(functions), longest_(options.limit) {}

  void on_call(const log::Call& call) override;
  void on_begin(const log::Call& call) override;
  void on_event(const log::Event& event) override;
  /// At the end of the log.
  void finish();

  std::uint64_t from_calls() const { return from_calls_; }
  std::uint64_t to_calls() const { return to_calls_; }
  std::uint64_t untimed() const { return untimed_; } ///< `from` calls whose end has no time
  std::uint64_t given_up() const { return given_up_; }
  const DurationHistogram& lengths() const { return lengths_; } ///< of all gaps
  /// Once.
  std::vector<Gap> take_longest() { return longest_.take(); }

private:
  enum Role : std::uint8_t { kUnknown, kNone, kFrom, kTo, kBoth };
  Role role_of(log::FunctionId function);
  GapPairs& pairs_of(std::uint32_t tid);
  void found(const GapEdge& from, const GapEdge& to);

  const GapOptions& options_;
  CallFilter& filter_;
  const log::FunctionTable& functions_;
  std::vector<Role> roles_;
  std::unordered_map<std::uint32_t, GapPairs> pairs_; ///< by thread
  Longest<Gap> longest_;
  DurationHistogram lengths_;
  std::uint64_t from_calls_ = 0, to_calls_ = 0, untimed_ = 0, given_up_ = 0;
};

/// Finds out what ran in gaps, in the threads of their `to` calls: the log is read once more.
class GapContents final : public log::CallVisitor {
public:
  GapContents(std::vector<Gap>& gaps, const log::FunctionTable& functions);

  void on_call(const log::Call& call) override;
  /// Fills in the parts.
  void finish();

private:
  struct Inside {
    std::uint64_t entry_ns;
    std::uint64_t self_ns;
  };
  struct Content {
    Gap* gap;
    std::unordered_map<log::FunctionId, GapPart> parts;
    std::vector<Inside> calls; ///< kMostInside at most
    std::uint64_t total_ns = 0;
  };

  void add(Content& content, const log::Call& call);

  const log::FunctionTable& functions_;
  std::unordered_map<std::uint32_t, std::vector<Content>> by_thread_; ///< by time
};

} // namespace sonictrace::report
