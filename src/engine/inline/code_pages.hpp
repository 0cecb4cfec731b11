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
  /// They are changed: `write` writes their piece.
  void mark(AddressRange place);
  struct Failure {
    AddressRange piece;
    Error error;
  };
  /// The pieces that could not be written are as they were.
  std::vector<Failure> write() const;

private:
  struct Piece {
    TraceeAddress begin;
    std::vector<std::byte> bytes;
    bool is_changed = false;
  };

  Piece* find(AddressRange place);

  const TraceeMemory& memory_;
  std::vector<Piece> pieces_;
  std::size_t last_ = 0; ///< where the last place was found: they are asked for in order
};

} // namespace sonictrace
