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
class Top::Counter final : public log::CallVisitor {
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
    std::uint32_t part; ///< a thread, or the number of an argument
    bool operator==(const Key&) const = default;
  };

  Counter(const TopOptions& options, CallFilter& filter, const log::FunctionTable& functions,
          std::uint64_t& appearances)
      : options_(options), filter_(filter), functions_(functions), appearances_(appearances) {}

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
  const std::string& argument(std::uint32_t number) const { return arguments_[number]; }
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
    sums_.emplace_back().order = ++appearances_;
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
    const auto known = argument_numbers_.find(std::string(first));
    if (known != argument_numbers_.end()) return known->second;
    if (arguments_.size() >= kMostRows) return kOther;
    arguments_.emplace_back(first);
    const auto number = static_cast<std::uint32_t>(arguments_.size() - 1);
    argument_numbers_.emplace(first, number);
    return number;
  }

  const TopOptions& options_;
  CallFilter& filter_;
  const log::FunctionTable& functions_;
  std::uint64_t& appearances_;
  std::vector<std::uint32_t> place_of_; ///< function -> place plus one
  std::unordered_map<Key, std::size_t, HashKey> places_;
  std::vector<Key> keys_;
  std::vector<Sums> sums_;
  std::vector<std::string> arguments_;
  std::unordered_map<std::string, std::uint32_t> argument_numbers_;
};

Result<void> Top::add(log::LogReader& reader, CallFilter& filter) {
  const auto& functions = reader.functions();
  Counter counter(options_, filter, functions, appearances_);
  auto read = reader.pump(counter);
  if (!filter.depends_on_calls() && options_.by != TopBy::Thread &&
      options_.by != TopBy::FirstArgument)
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
        row.argument = key.part == Counter::kOther ? "(others)" : counter.argument(key.part);
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
  return read;
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
