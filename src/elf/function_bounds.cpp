#include "elf/function_bounds.hpp"

#include <algorithm>

namespace sonictrace::elf {

std::optional<FunctionRange> FunctionBounds::find(ElfAddress address) {
  if (last_ && last_->begin <= address && address < last_->end) return last_;
  auto found = unwind_.function_at(address);
  if (!found) found = by_symbol(address);
  last_ = found;
  return found;
}

std::optional<FunctionRange> FunctionBounds::by_symbol(ElfAddress address) const {
  const Symbol* const symbol = image_.function_at(address);
  if (symbol == nullptr) return std::nullopt;
  if (symbol->size != 0) {
    const ElfAddress end(symbol->value.value() + symbol->size);
    if (end <= address) return std::nullopt; // in a gap behind it
    return FunctionRange{symbol->value, end, false};
  }
  // Assembly may leave the size out; it ends where the next function begins.
  const auto& functions = image_.functions();
  const auto next =
      std::upper_bound(functions.begin(), functions.end(), address,
                       [](ElfAddress x, const Symbol& function) { return x < function.value; });
  const auto rest = image_.bytes_at(symbol->value, ~std::size_t{0});
  const ElfAddress end = next != functions.end()
                             ? next->value
                             : symbol->value + static_cast<std::int64_t>(rest.size());
  return FunctionRange{symbol->value, end, false};
}

} // namespace sonictrace::elf
