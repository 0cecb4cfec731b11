#include <algorithm>
#include <array>
#include <bitset>

#include "decode/numbers.hpp"
#include "sonictrace/decode/digits.hpp"

namespace sonictrace {
namespace {

constexpr std::size_t kMostNames = 256; ///< of one table; the bits of others show as a number

int bits_of(std::uint64_t value) { return __builtin_popcountll(value); }

/// A table's values, cut to the size of the field.
class Values {
public:
  Values(const proto::NameTable& names, std::size_t size)
      : names_(names), mask_(size >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << size * 8) - 1) {}

  std::size_t count() const { return std::min(names_.size(), kMostNames); }
  std::uint64_t at(std::size_t index) const {
    return static_cast<std::uint64_t>(names_[index].second) & mask_;
  }
  std::uint64_t cut(std::uint64_t value) const { return value & mask_; }

  /// The field that the name at `zero`, of the value 0, is a value of: the values behind it up to
  /// one that is all of them together. O_RDONLY, O_WRONLY, O_RDWR, O_ACCMODE. 0: it is of none.
  std::uint64_t field_around(std::size_t zero) const {
    std::uint64_t together = 0;
    for (std::size_t index = zero + 1; index < count(); ++index) {
      const std::uint64_t value = at(index);
      if (value == together && bits_of(value) > 1) return value;
      together |= value;
    }
    return 0;
  }

private:
  const proto::NameTable& names_;
  std::uint64_t mask_;
};

} // namespace

void append_flags(std::string& out, const proto::NameTable& names, std::uint64_t value,
                  std::size_t size) {
  const Values values(names, size);
  const std::uint64_t all = values.cut(value);
  std::uint64_t rest = all;
  std::bitset<kMostNames> chosen;

  // Names of several bits first, so that O_SYNC is not taken for O_DSYNC and something.
  int most = 1;
  for (std::size_t index = 0; index < values.count(); ++index)
    if ((rest & values.at(index)) == values.at(index))
      most = std::max(most, bits_of(values.at(index)));
  for (int bits = most; bits > 0; --bits) {
    for (std::size_t index = 0; index < values.count(); ++index) {
      const std::uint64_t named = values.at(index);
      if (bits_of(named) != bits || (rest & named) != named) continue;
      chosen.set(index);
      rest &= ~named;
    }
  }
  // And names of no bit, where their field is 0.
  for (std::size_t index = 0; index < values.count(); ++index) {
    if (values.at(index) != 0) continue;
    const std::uint64_t field = values.field_around(index);
    if (all == 0 || (field != 0 && (all & field) == 0)) chosen.set(index);
    break; // another one for 0 is the same
  }

  bool first = true;
  for (std::size_t index = 0; index < values.count(); ++index) {
    if (!chosen[index]) continue;
    if (!first) out += '|';
    first = false;
    out += names[index].first;
  }
  if (rest == 0 && !first) return;
  if (!first) out += '|';
  append_hex_number(out, rest);
}

} // namespace sonictrace
