#pragma once

#include <compare>
#include <cstdint>

namespace sonictrace {

/// An address in one address space. Addresses of different spaces don't mix:
/// a symbol's `st_value` cannot be handed to ptrace before a LoadBias moved it.
template <class Space>
class Address {
public:
  constexpr Address() = default;
  constexpr explicit Address(std::uint64_t value) : value_(value) {}

  constexpr std::uint64_t value() const { return value_; }
  constexpr auto operator<=>(const Address&) const = default;

  friend constexpr Address operator+(Address a, std::int64_t bytes) {
    return Address(a.value_ + static_cast<std::uint64_t>(bytes));
  }
  friend constexpr std::int64_t operator-(Address a, Address b) {
    return static_cast<std::int64_t>(a.value_ - b.value_);
  }

private:
  std::uint64_t value_ = 0;
};

using ElfAddress = Address<struct ElfSpace>;       ///< as stated in the ELF file
using TraceeAddress = Address<struct TraceeSpace>; ///< as mapped in the tracee

/// How far the loader moved an image: TraceeAddress minus ElfAddress, in bytes.
/// A multiple of the page size; zero for a non-PIE executable.
class LoadBias {
public:
  constexpr LoadBias() = default;
  constexpr LoadBias(TraceeAddress mapped, ElfAddress stated)
      : bytes_(mapped.value() - stated.value()) {}

  constexpr TraceeAddress to_tracee(ElfAddress a) const {
    return TraceeAddress(a.value() + bytes_);
  }
  constexpr ElfAddress to_elf(TraceeAddress a) const { return ElfAddress(a.value() - bytes_); }
  constexpr std::uint64_t bytes() const { return bytes_; }
  constexpr bool operator==(const LoadBias&) const = default;
  static constexpr LoadBias of(std::uint64_t bytes) {
    return LoadBias(TraceeAddress(bytes), ElfAddress(0));
  }

private:
  std::uint64_t bytes_ = 0;
};

} // namespace sonictrace
