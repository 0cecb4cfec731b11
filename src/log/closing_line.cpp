#include "log/closing_line.hpp"

#include "log/digits.hpp"

namespace sonictrace::log {
namespace {

/// The number with a fraction before `words`, in thousandths; 0 without one.
std::uint64_t thousandths_before(std::string_view text, std::string_view words) {
  const auto end = text.find(words);
  if (end == std::string_view::npos) return 0;
  std::size_t begin = end;
  while (begin > 0 && (is_digit(text[begin - 1]) || text[begin - 1] == '.'))
    --begin;
  const char* p = text.data() + begin;
  const char* const stop = text.data() + end;
  std::uint64_t value = read_number(p, stop) * 1000;
  if (p != stop && *p == '.') value += read_fraction_ns(++p, stop) / 1'000'000;
  return value;
}

} // namespace

ClosingLine read_closing_line(std::string_view text) {
  ClosingLine closing;
  closing.lost = thousandths_before(text, " lost call") / 1000;
  closing.own_cost_ns = thousandths_before(text, " us own cost a call") +
                        thousandths_before(text, " ns own cost a call") / 1000;
  return closing;
}

} // namespace sonictrace::log
