#pragma once

#include <cstdint>

namespace sonictrace {

/// The instruction set of an image or of a process.
enum class Machine : std::uint8_t { X86_64, I386, Other };

constexpr unsigned pointer_size(Machine machine) { return machine == Machine::I386 ? 4 : 8; }

} // namespace sonictrace
