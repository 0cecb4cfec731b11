#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sonictrace::elf {

/// The names behind the indices of .gnu.version, from the versions that an image asks for
/// (DT_VERNEED) and those that it defines (DT_VERDEF). Linux Standard Base, "Symbol Versioning".
class VersionNames {
public:
  VersionNames() = default;
  VersionNames(std::span<const std::byte> needed, std::span<const std::byte> defined,
               std::span<const std::byte> strings);

  /// Empty for the base version, for none and for an index that the file does not name.
  std::string_view name(std::uint16_t index) const {
    return index < names_.size() ? names_[index] : std::string_view();
  }

private:
  void read_needed(std::span<const std::byte> table, std::span<const std::byte> strings);
  void read_defined(std::span<const std::byte> table, std::span<const std::byte> strings);
  void set(std::uint16_t index, std::string_view name);

  std::vector<std::string_view> names_;
};

} // namespace sonictrace::elf
