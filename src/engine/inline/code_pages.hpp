#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sonictrace/base/address_range.hpp"
#include "sonictrace/process/tracee_memory.hpp"

namespace sonictrace {

/// Copies of those pieces of a process's code that hold many small places to be changed: each
/// piece, which is what lies in neighbouring pages, is read and written by one system call.
class CodePages {
public:
  /// `places`: sorted by their begin.
  CodePages(const TraceeMemory& memory, std::span<const AddressRange> places);

  /// The bytes of a place that was given; empty where they can't be read.
  std::span<std::byte> at(AddressRange place);
  /// They are changed: `write` writes their piece. `First`: nobody runs them before others that
  /// lead there are written.
  enum class Turn { First, Second };
  void mark(AddressRange place, Turn turn = Turn::Second);
  struct Failure {
    AddressRange piece;
    Error error;
  };
  /// The pieces that could not be written are as they were. Should this process be killed
  /// meanwhile, each place is as it was or as it is to be.
  std::vector<Failure> write() const;

private:
  struct Piece {
    TraceeAddress begin;
    std::vector<std::byte> bytes;
    std::vector<AddressRange> first;  ///< changed places that take the first turn
    std::vector<AddressRange> across; ///< others, that lie on two pages
    bool is_changed = false;
  };

  Piece* find(AddressRange place);
  Result<void> write(const Piece& piece) const;
  Result<void> write_by_pages(TraceeAddress at, std::span<const std::byte> bytes) const;

  const TraceeMemory& memory_;
  std::vector<Piece> pieces_;
  std::size_t last_ = 0; ///< where the last place was found: they are asked for in order
};

} // namespace sonictrace
