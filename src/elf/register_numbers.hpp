#pragma once

#include <Zydis/Zydis.h>

#include <cstdint>

namespace sonictrace::elf {

constexpr int kRsp = 4, kRbp = 5;
// psABI 3.2.1: rax, rcx, rdx, rsi, rdi, r8 to r11 do not outlive a call.
constexpr std::uint16_t kLostInCalls = 0b0000'1111'1100'0111;

constexpr std::uint16_t bit(int number) { return static_cast<std::uint16_t>(1U << number); }

/// The number of a 64-bit general register or of a part of one, or -1.
inline int number_of(ZydisRegister reg) {
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  if (ZydisRegisterGetClass(whole) != ZYDIS_REGCLASS_GPR64) return -1;
  return ZydisRegisterGetId(whole);
}

} // namespace sonictrace::elf
