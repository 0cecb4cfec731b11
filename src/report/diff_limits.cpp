#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "sonictrace/report/diff.hpp"

namespace sonictrace::report {
namespace {

/// A number with at most three decimals, in thousandths.
std::optional<std::uint64_t> parse_thousandths(std::string_view text) {
  const auto dot = text.find('.');
  const auto whole = text.substr(0, dot);
  std::string decimals(dot == std::string_view::npos ? "" : text.substr(dot + 1));
  if (decimals.size() > 3 || whole.size() > 9) return std::nullopt;
  decimals.resize(3, '0');
  const std::string digits = std::string(whole) + decimals;
  if (whole.empty() || digits.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

} // namespace

Result<Limit> parse_limit(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, Limit::Of>, 6> kKnown = {{
      {"time", Limit::Of::Time},
      {"calls", Limit::Of::Calls},
      {"scale", Limit::Of::Scale},
      {"wall", Limit::Of::Wall},
      {"syscalls", Limit::Of::Syscalls},
      {"new", Limit::Of::New},
  }};
  const auto fail = [text](std::string_view why) {
    return Error::saying(fmt::format(
        "--max-increase '{}': {}; write time=5%, calls=0, calls:futex=30%, scale=10%, wall=5%, "
        "syscalls=40% or new=0",
        text, why));
  };
  // A function's name may have colons and an equals sign (operator==) in it, a limit has not.
  const auto equals = text.rfind('=');
  if (equals == std::string_view::npos) return fail("no limit");
  auto what = text.substr(0, equals);
  auto value = text.substr(equals + 1);
  Limit limit;
  limit.text = std::string(text);
  const auto colon = what.find(':');
  if (colon != std::string_view::npos) {
    auto glob = Glob::compile(what.substr(colon + 1));
    if (!glob) return fail(glob.error().message());
    limit.function = std::move(*glob);
    what = what.substr(0, colon);
  }
  const auto* const known = std::find_if(kKnown.begin(), kKnown.end(),
                                         [what](const auto& one) { return one.first == what; });
  if (known == kKnown.end()) return fail("there is no such number");
  limit.of = known->second;
  if (limit.function && limit.of != Limit::Of::Time && limit.of != Limit::Of::Calls)
    return fail("only time and calls are of functions");
  const bool is_percent = value.ends_with('%');
  if (is_percent) value.remove_suffix(1);
  const auto thousandths = parse_thousandths(value);
  if (!thousandths) return fail("the limit is no number, with at most three decimals");
  if (limit.of == Limit::Of::New ? is_percent : !is_percent && *thousandths != 0)
    return fail(limit.of == Limit::Of::New ? "a number of functions is no percentage"
                                           : "the limit has no %");
  limit.thousandths = *thousandths;
  return limit;
}

} // namespace sonictrace::report
