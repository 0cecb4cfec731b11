#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "sonictrace/base/result.hpp"

namespace sonictrace {

/// The registers of a stopped tracee in which floating-point arguments and results travel (psABI for
/// x86-64, 3.2.3).
struct VectorRegisters {
  static constexpr std::size_t kArguments = 8;
  std::array<std::uint64_t, kArguments> low; ///< low halves of xmm0 to xmm7
  std::array<std::uint64_t, 2> st0;          ///< 10 bytes, x87's extended precision

  static Result<VectorRegisters> of(pid_t tid);
};

} // namespace sonictrace
