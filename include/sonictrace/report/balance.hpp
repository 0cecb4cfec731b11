#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sonictrace/base/result.hpp"
#include "sonictrace/log/call.hpp"
#include "sonictrace/report/call_filter.hpp"

namespace sonictrace::report {

/// Functions that give something out, by the value that they return, and those that take it back,
/// by their first argument.
struct BalancePair {
  std::string name; ///< as typed: `malloc:free`
  std::vector<std::string> takers, givers;
  std::vector<std::string>
      resizers; ///< realloc: gives its first argument back and takes its result

  /// Numbers, of which 0 is one: open:close.
  bool takes_descriptors() const {
    return std::find(givers.begin(), givers.end(), "close") != givers.end();
  }
};

/// `malloc:free`, which stands for all of that family; `fopen,fdopen:fclose`; `operator
/// new:operator delete`. Fails with one line.
Result<BalancePair> parse_balance_pair(std::string_view text);

/// Something that was taken and not given back.
struct Unmatched {
  static constexpr std::uint32_t kNoRow = ~std::uint32_t{0};

  std::uint64_t value = 0;
  std::uint64_t bytes = 0; ///< 0 where the call does not say it
  std::uint64_t line = 0;
  std::uint64_t entry_ns = log::kNoTime;
  std::uint32_t tid = log::kNoTid;
  std::uint32_t row = 0;
  std::uint32_t row_before = kNoRow; ///< of whoever had the same value before, and kept it

  bool operator==(const Unmatched&) const = default;
};

/// The calls of a function that takes.
struct BalanceRow {
  std::size_t pair = 0;
  std::string function;
  std::string caller; ///< of CALLER->NAME
  std::uint64_t taken = 0;
  std::uint64_t given = 0;
  std::uint64_t reused = 0;       ///< taken once more: given back by a call that is not in the log
  std::uint64_t failed = 0;       ///< returned nothing
  std::uint64_t unreadable = 0;   ///< returned what is no number
  std::uint64_t not_followed = 0; ///< there were too many
  std::uint64_t unmatched_bytes = 0;

  std::uint64_t unmatched() const { return taken - given - reused - not_followed; }
};

/// What a pair comes to.
struct BalanceSum {
  std::uint64_t taken = 0, unmatched = 0, unmatched_bytes = 0;
  std::uint64_t unknown = 0; ///< given back, and not seen to be taken
  std::uint64_t nothing = 0; ///< free(nil)
  std::uint64_t peak = 0, peak_bytes = 0;
  std::uint64_t peak_line = 0; ///< of the most bytes, or of the most where bytes are not known
};

/// Matches what was taken with what was given back, by value; one log.
class Balance final : public log::CallVisitor {
public:
  static constexpr std::size_t kMostLive = 2'000'000;

  /// `filter`: null: all calls.
  Balance(const std::vector<BalancePair>& pairs, CallFilter* filter,
          const log::FunctionTable& functions, std::size_t most_live = kMostLive);

  void on_call(const log::Call& call) override;

  const std::vector<BalanceRow>& rows() const { return rows_; }
  BalanceSum sum(std::size_t pair) const;
  /// The first ones, in the order of the log.
  std::vector<Unmatched> oldest(std::size_t limit) const;
  bool has_forked() const { return has_forked_; }

private:
  enum class Role : std::uint8_t { Unknown, None, Take, Give, Resize, Fork };
  struct Part {
    Role role = Role::Unknown;
    std::size_t pair = 0;
  };
  struct Live {
    std::unordered_map<std::uint64_t, Unmatched> values; ///< by value and kind of call
    BalanceSum sum;
    std::uint64_t bytes = 0;
  };

  Part part_of(log::FunctionId function);
  std::uint32_t row_of(const log::Call& call, std::size_t pair);
  std::uint64_t space_of(const log::Call& call) const;
  void take(const log::Call& call, std::size_t pair);
  void give(const log::Call& call, std::size_t pair, bool is_resize);

  const std::vector<BalancePair>& pairs_;
  CallFilter* filter_;
  const log::FunctionTable& functions_;
  std::size_t most_live_;
  std::vector<Part> parts_; ///< by function
  std::map<std::pair<log::FunctionId, std::string>, std::uint32_t> row_numbers_;
  std::vector<BalanceRow> rows_;
  std::vector<Live> live_; ///< by pair
  std::size_t live_count_ = 0;
  bool has_forked_ = false;
};

/// The number that a value of a log is: `0x1f`, `31`; 0 for nil, NULL and (nil); nothing for
/// negative ones, and for what is no number.
std::optional<std::uint64_t> parse_value(std::string_view text);

} // namespace sonictrace::report
