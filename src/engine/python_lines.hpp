#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sonictrace/wire/python.hpp"

namespace sonictrace {

/// The line of the instruction at `offset` bytes, by the table of its code object; 0 where the
/// compiler gave it none, or the table is damaged. Before the first instruction: `first_line`.
std::uint32_t python_line(wire::PythonLines kind, std::span<const std::byte> table,
                          std::uint32_t first_line, std::int64_t offset);

} // namespace sonictrace
