#include "sonictrace/report/top.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace sonictrace::report {
namespace {

constexpr std::size_t kMostRows = 50'000; ///< of threads or arguments; further ones are one row

/// The number that a result begins with, where it is a positive one: what read(2) returned.
std::uint64_t positive_number(std::string_view result) {
  std::uint64_t value = 0;
  const char* const end = result.data() + result.size();
  if (result.starts_with("0x")) {
    std::from_chars(result.data() + 2, end, value, 16);
    return value >> 63 != 0 ? 0 : value; // an error, in hex
  }
  std::from_chars(result.data(), end, value);
  return value;
}

} // namespace

std::optional<TopBy> parse_top_by(std::string_view text) {
  if (text == "func") return TopBy::Function;
  if (text == "lib") return TopBy::Library;
  if (text == "caller") return TopBy::Caller;
  if (text == "thread" || text == "pid") return TopBy::Thread;
  if (text == "stage") return TopBy::Stage;
  if (text == "class") return TopBy::Class;
  if (text == "arg1") return TopBy::FirstArgument;
  return std::nullopt;
}

std::optional<TopSort> parse_top_sort(std::string_view text) {
  if (text == "self") return TopSort::Self;
  if (text == "total") return TopSort::Total;
  if (text == "calls") return TopSort::Calls;
  if (text == "avg") return TopSort::Average;
  if (text == "p50") return TopSort::P50;
  if (text == "p99") return TopSort::P99;
  if (text == "max") return TopSort::Max;
  return std::nullopt;
}

/// Adds up the calls of one log: by function, and where the rows are of something else that a
/// function does not tell, by that too. What module a function is in is known at the end only.
class Top::Counter final : public LogPart {
public:
  static constexpr std::uint32_t kOther = ~std::uint32_t{0}; ///< a part

  struct Sums {
    CallStats stats;
    std::uint64_t result_sum = 0;
    double script_sum = 0;
    std::uint64_t order = 0;
  };
  struct Key {
    log::FunctionId function;
    std::uint32_t part; ///< a thread, or the number of an argument or of a caller
    bool operator==(const Key&) const = default;
  };

  Counter(Top& top, CallFilter& filter, const log::FunctionTable& functions)
      : top_(top), options_(top.options_), filter_(filter), functions_(functions) {}

  void finish(const log::LogReader& /*reader*/) override { top_.take(*this, filter_, functions_); }

  void on_call(const log::Call& call) override {
    if (call.end == log::Call::End::Unfinished) return;
    if (!filter_.accepts(call, functions_)) return;
    Sums& sums = sums_of(call);
    sums.stats.add(call);
    if (call.has_duration()) sums.script_sum += static_cast<double>(call.duration_ns) / 1e9;
    if (options_.sum_results) sums.result_sum += positive_number(call.result());
  }

  template <class Visit>
  void for_each(Visit visit) {
    for (std::size_t i = 0; i < keys_.size(); ++i)
      visit(keys_[i], sums_[i]);
  }
  /// Of an argument or a caller.
  const std::string& text(std::uint32_t number) const { return texts_[number]; }
  Sums& of_function(log::FunctionId function) {
    if (function < place_of_.size() && place_of_[function] != 0)
      return sums_[place_of_[function] - 1];
    if (function >= place_of_.size()) place_of_.resize(function + 1);
    Sums& sums = append({function, 0});
    place_of_[function] = static_cast<std::uint32_t>(sums_.size());
    return sums;
  }

private:
  struct HashKey {
    std::size_t operator()(const Key& key) const {
      return (std::uint64_t{key.function} << 32 | key.part) * 0x9e3779b97f4a7c15U >> 7;
    }
  };

  Sums& sums_of(const log::Call& call) {
    switch (options_.by) {
      case TopBy::Thread: return of_part({call.function, call.tid});
      case TopBy::FirstArgument: return of_part({call.function, first_argument(call)});
      case TopBy::Caller: return of_part({call.function, number_of(call.caller)});
      default: return of_function(call.function);
    }
  }

  Sums& of_part(Key key) {
    if (const auto known = places_.find(key); known != places_.end()) return sums_[known->second];
    if (places_.size() >= kMostRows && key.part != kOther) return of_part({key.function, kOther});
    Sums& sums = append(key);
    places_.emplace(key, sums_.size() - 1);
    return sums;
  }

  Sums& append(Key key) {
    keys_.push_back(key);
    sums_.emplace_back().order = ++top_.appearances_;
    return sums_.back();
  }

  std::uint32_t first_argument(const log::Call& call) {
    std::string_view first;
    log::ArgumentSplitter(call.arguments()).next(first);
    // Paths are what follows a directory's descriptor: openat(AT_FDCWD, "/a").
    const auto& name = functions_[call.function].name;
    if (name.ends_with("at") || name.ends_with("at64")) {
      log::ArgumentSplitter all(call.arguments());
      std::string_view second;
      if (all.next(second) && all.next(second) && second.starts_with('"')) first = second;
    }
    return number_of(first);
  }

  std::uint32_t number_of(std::string_view text) {
    const auto known = text_numbers_.find(std::string(text));
    if (known != text_numbers_.end()) return known->second;
    if (texts_.size() >= kMostRows) return kOther;
    texts_.emplace_back(text);
    const auto number = static_cast<std::uint32_t>(texts_.size() - 1);
    text_numbers_.emplace(text, number);
    return number;
  }

  Top& top_;
  const TopOptions& options_;
  CallFilter& filter_;
  const log::FunctionTable& functions_;
  std::vector<std::uint32_t> place_of_; ///< function -> place plus one
  std::unordered_map<Key, std::size_t, HashKey> places_;
  std::vector<Key> keys_;
  std::vector<Sums> sums_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::uint32_t> text_numbers_;
};

std::unique_ptr<LogPart> Top::begin(const log::FunctionTable& functions, CallFilter& filter) {
  return std::make_unique<Counter>(*this, filter, functions);
}

Result<void> Top::add(log::LogReader& reader, CallFilter& filter) {
  Counter counter(*this, filter, reader.functions());
  auto read = reader.pump(counter);
  take(counter, filter, reader.functions());
  return read;
}

void Top::take(Counter& counter, CallFilter& filter, const log::FunctionTable& functions) {
  if (!filter.depends_on_calls() && options_.by != TopBy::Thread &&
      options_.by != TopBy::FirstArgument && options_.by != TopBy::Caller)
    for (log::FunctionId id = 0; id < functions.size(); ++id) {
      const auto& function = functions[id];
      if (function.thinned_calls == 0) continue;
      if (filter.accepts_function(function))
        counter.of_function(id).stats.add_thinned(function.thinned_calls, function.thinned_ns);
      else
        filter.refuse(function.thinned_calls, function.thinned_ns, function.thinned_ns);
    }
  counter.for_each([&](const Counter::Key& key, const Counter::Sums& sums) {
    const auto& function = functions[key.function];
    if (!filter.accepts_module(function.module)) {
      filter.refuse(sums.stats.calls, sums.stats.sum_ns, sums.stats.self_ns);
      return;
    }
    const auto name = options_.demangle == DemangleStyle::None
                          ? function.name
                          : demangle(function.name, options_.demangle);
    TopRow row;
    switch (options_.by) {
      case TopBy::FirstArgument:
        row.argument = key.part == Counter::kOther ? "(others)" : counter.text(key.part);
        [[fallthrough]];
      case TopBy::Function: {
        row.label = name;
        row.module = function.module;
        const auto tag = class_of(function);
        if (tag != CallClass::Cpu) row.tag = to_string(tag);
        break;
      }
      case TopBy::Library:
        row.label = function.module.empty() ? "(not told by the log)" : function.module;
        break;
      case TopBy::Caller:
        row.label = key.part == Counter::kOther      ? "(others)"
                    : counter.text(key.part).empty() ? "(not told by the log)"
                                                     : counter.text(key.part);
        break;
      case TopBy::Thread:
        row.label = key.part == log::kNoTid       ? "first"
                    : key.part == Counter::kOther ? "(others)"
                                                  : fmt::format("{}", key.part);
        break;
      case TopBy::Stage: row.label = options_.stages->stage_of(function); break;
      case TopBy::Class: row.label = to_string(class_of(function)); break;
    }
    auto& all = rows_[{row.label, row.module, row.argument}];
    if (all.label.empty()) {
      all = row;
      all.order = sums.order;
    }
    all.stats.add(sums.stats);
    all.result_sum += sums.result_sum;
    all.script_sum += sums.script_sum;
    all.order = std::min(all.order, sums.order);
    total_.add(sums.stats);
  });
}

std::vector<TopRow> Top::rows() const {
  std::vector<TopRow> rows;
  for (const auto& [key, row] : rows_)
    rows.push_back(row);
  const auto sort = options_.sort.value_or(has_times() ? TopSort::Self : TopSort::Calls);
  const auto value = [sort](const TopRow& row) -> std::uint64_t {
    switch (sort) {
      case TopSort::Self: return row.stats.self_ns;
      case TopSort::Total: return row.stats.outermost_ns;
      case TopSort::Calls: return row.stats.calls;
      case TopSort::Average: return row.stats.average_ns();
      case TopSort::P50: return row.stats.durations.quantile(500);
      case TopSort::P99: return row.stats.durations.quantile(990);
      case TopSort::Max: return row.stats.durations.largest();
    }
    return 0;
  };
  std::sort(rows.begin(), rows.end(), [&](const TopRow& a, const TopRow& b) {
    const auto left = value(a);
    const auto right = value(b);
    if (left != right) return left > right;
    return a.order < b.order;
  });
  return rows;
}

} // namespace sonictrace::report
