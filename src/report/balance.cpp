#include "sonictrace/report/balance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace sonictrace::report {
namespace {

std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    if (comma > 0) words.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return words;
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view argument_of(std::string_view arguments, std::size_t number) {
  log::ArgumentSplitter all(arguments);
  std::string_view one;
  for (std::size_t i = 0; i <= number; ++i)
    if (!all.next(one)) return {};
  return one;
}

/// Which arguments say how many bytes are taken; their product, where there are two.
std::uint64_t bytes_of(std::string_view function, std::string_view arguments) {
  struct Size {
    std::string_view function;
    std::size_t first;
    std::optional<std::size_t> second;
  };
  static constexpr std::array<Size, 11> kSizes = {{{"malloc", 0, {}},
                                                   {"calloc", 0, 1},
                                                   {"realloc", 1, {}},
                                                   {"reallocarray", 1, 2},
                                                   {"memalign", 1, {}},
                                                   {"aligned_alloc", 1, {}},
                                                   {"valloc", 0, {}},
                                                   {"pvalloc", 0, {}},
                                                   {"operator new", 0, {}},
                                                   {"operator new[]", 0, {}},
                                                   {"mmap", 1, {}}}};
  const auto* const size = std::find_if(kSizes.begin(), kSizes.end(),
                                        [&](const Size& one) { return one.function == function; });
  if (size == kSizes.end()) return 0;
  const auto bytes = parse_value(argument_of(arguments, size->first)).value_or(0);
  if (!size->second) return bytes;
  return bytes * parse_value(argument_of(arguments, *size->second)).value_or(0);
}

} // namespace

std::optional<std::uint64_t> parse_value(std::string_view text) {
  if (text == "nil" || text == "NULL" || text == "(nil)") return 0;
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, is_hex ? 16 : 10);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return value;
}

Result<BalancePair> parse_balance_pair(std::string_view text) {
  BalancePair pair;
  pair.name = text;
  // Not one of the two of ns::take.
  std::size_t colon = text.find(':');
  while (colon != std::string_view::npos && text.substr(colon).starts_with("::"))
    colon = text.find(':', colon + 2);
  if (colon != std::string_view::npos) {
    pair.takers = words_of(text.substr(0, colon));
    pair.givers = words_of(text.substr(colon + 1));
  }
  if (pair.takers.empty() || pair.givers.empty())
    return Error::saying(fmt::format(
        "--pair '{}': not TAKES:GIVES_BACK like malloc:free or fopen,fdopen:fclose", text));
  if (has(pair.takers, "malloc") && has(pair.givers, "free")) {
    for (const char* const name : {"calloc", "memalign", "aligned_alloc", "valloc", "pvalloc"})
      if (!has(pair.takers, name)) pair.takers.emplace_back(name);
    if (!has(pair.givers, "cfree")) pair.givers.emplace_back("cfree");
    pair.resizers = {"realloc", "reallocarray"};
  }
  return pair;
}

Balance::Balance(const std::vector<BalancePair>& pairs, CallFilter* filter,
                 const log::FunctionTable& functions, std::size_t most_live)
    : pairs_(pairs), filter_(filter), functions_(functions), most_live_(most_live),
      live_(pairs.size()) {}

Balance::Part Balance::part_of(log::FunctionId function) {
  if (function >= parts_.size()) parts_.resize(functions_.size());
  Part& part = parts_[function];
  if (part.role != Role::Unknown) return part;
  const auto& name = functions_[function].name;
  part.role = name == "fork" || name == "vfork" ? Role::Fork : Role::None;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    if (has(pairs_[i].takers, name)) part = {Role::Take, i};
    if (has(pairs_[i].givers, name)) part = {Role::Give, i};
    if (has(pairs_[i].resizers, name)) part = {Role::Resize, i};
    if (part.role >= Role::Take && part.role <= Role::Resize) break;
  }
  return part;
}

std::uint32_t Balance::row_of(const log::Call& call, std::size_t pair) {
  const auto [known, is_new] = row_numbers_.try_emplace({call.function, std::string(call.caller)},
                                                        static_cast<std::uint32_t>(rows_.size()));
  if (is_new) {
    BalanceRow& row = rows_.emplace_back();
    row.pair = pair;
    row.function = functions_[call.function].name;
    row.caller = call.caller;
  }
  return known->second;
}

void Balance::on_call(const log::Call& call) {
  const Part part = part_of(call.function);
  if (part.role == Role::None) return;
  if (filter_ != nullptr && !filter_->accepts(call, functions_)) return;
  switch (part.role) {
    case Role::Take:
      if (call.end == log::Call::End::Returned) take(call, part.pair);
      break;
    case Role::Give: give(call, part.pair, false); break;
    case Role::Resize: {
      if (call.end != log::Call::End::Returned) break;
      // One that fails leaves what there was, but for a size of nothing (realloc(3)).
      const auto result = parse_value(call.result());
      if (result != 0U || bytes_of(functions_[call.function].name, call.arguments()) == 0)
        give(call, part.pair, true);
      take(call, part.pair);
      break;
    }
    case Role::Fork: has_forked_ = true; break;
    default: break;
  }
}

/// A library call and the system call inside of it take the same value, and are told one after the
/// other: each kind is matched by itself.
std::uint64_t Balance::space_of(const log::Call& call) const {
  return functions_[call.function].is_syscall ? std::uint64_t{1} << 63 : 0;
}

void Balance::take(const log::Call& call, std::size_t pair) {
  const auto number = row_of(call, pair);
  BalanceRow& row = rows_[number];
  const auto result = call.result();
  const auto value = parse_value(result);
  if (result.starts_with('-') || (value == 0U && !pairs_[pair].takes_descriptors())) {
    ++row.failed;
    return;
  }
  if (!value) {
    ++row.unreadable;
    return;
  }
  ++row.taken;
  Live& live = live_[pair];
  ++live.sum.taken;
  const std::uint64_t key = *value | space_of(call);
  const auto known = live.values.find(key);
  if (known == live.values.end() && live_count_ >= most_live_) {
    ++row.not_followed;
    return;
  }
  Unmatched taken;
  taken.value = *value;
  taken.bytes = bytes_of(row.function, call.arguments());
  taken.line = call.line;
  taken.entry_ns = call.entry_ns;
  taken.tid = call.tid;
  taken.row = number;
  if (known != live.values.end()) {
    taken.row_before = known->second.row;
    ++rows_[known->second.row].reused;
    rows_[known->second.row].unmatched_bytes -= known->second.bytes;
    live.bytes -= known->second.bytes;
    known->second = taken;
  } else {
    live.values.emplace(key, taken);
    ++live_count_;
  }
  row.unmatched_bytes += taken.bytes;
  live.bytes += taken.bytes;
  auto& sum = live.sum;
  if (live.bytes > sum.peak_bytes || (live.bytes == 0 && live.values.size() > sum.peak))
    sum.peak_line = call.line;
  sum.peak_bytes = std::max(sum.peak_bytes, live.bytes);
  sum.peak = std::max<std::uint64_t>(sum.peak, live.values.size());
}

void Balance::give(const log::Call& call, std::size_t pair, bool is_resize) {
  Live& live = live_[pair];
  const auto value = parse_value(argument_of(call.arguments(), 0));
  if (value == 0U && !pairs_[pair].takes_descriptors()) {
    if (!is_resize) ++live.sum.nothing;
    return;
  }
  const auto known = value ? live.values.find(*value | space_of(call)) : live.values.end();
  if (known == live.values.end()) {
    ++live.sum.unknown;
    return;
  }
  // Another thread may have got the same value while this call was on its way back.
  if (auto& taken = known->second; taken.row_before != Unmatched::kNoRow &&
                                   call.entry_ns != log::kNoTime &&
                                   call.entry_ns < taken.entry_ns) {
    --rows_[taken.row_before].reused;
    ++rows_[taken.row_before].given;
    taken.row_before = Unmatched::kNoRow;
    return;
  }
  BalanceRow& row = rows_[known->second.row];
  ++row.given;
  row.unmatched_bytes -= known->second.bytes;
  live.bytes -= known->second.bytes;
  live.values.erase(known);
  --live_count_;
}

BalanceSum Balance::sum(std::size_t pair) const {
  BalanceSum sum = live_[pair].sum;
  for (const auto& row : rows_) {
    if (row.pair != pair) continue;
    sum.unmatched += row.unmatched();
    sum.unmatched_bytes += row.unmatched_bytes;
  }
  return sum;
}

std::vector<Unmatched> Balance::oldest(std::size_t limit) const {
  std::vector<Unmatched> all;
  for (const auto& live : live_)
    for (const auto& [value, one] : live.values)
      all.push_back(one);
  const auto by_line = [](const Unmatched& a, const Unmatched& b) { return a.line < b.line; };
  const auto shown = all.begin() + static_cast<std::ptrdiff_t>(std::min(limit, all.size()));
  std::partial_sort(all.begin(), shown, all.end(), by_line);
  all.erase(shown, all.end());
  return all;
}

} // namespace sonictrace::report
