#pragma once

#include <sys/user.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "sonictrace/arch/machine.hpp"
#include "sonictrace/base/address.hpp"

namespace sonictrace {

/// The general registers of a stopped tracee, by role (System V psABI, x86-64).
class Registers {
public:
  explicit Registers(const user_regs_struct& raw) : raw_(raw) {}

  TraceeAddress pc() const { return TraceeAddress(raw_.rip); }
  void set_pc(TraceeAddress pc) { raw_.rip = pc.value(); }
  TraceeAddress sp() const { return TraceeAddress(raw_.rsp); }
  void set_sp(TraceeAddress sp) { raw_.rsp = sp.value(); }

  /// Integer argument words that travel in registers, in order (psABI 3.2.3).
  static constexpr std::size_t kRegisterArguments = 6;
  std::array<std::uint64_t, kRegisterArguments> arguments() const {
    return {raw_.rdi, raw_.rsi, raw_.rdx, raw_.rcx, raw_.r8, raw_.r9};
  }
  std::uint64_t result() const { return raw_.rax; }

  /// 32-bit code, to be told by its code segment (USER32_CS of the kernel's segment.h).
  Machine machine() const { return raw_.cs == 0x23 ? Machine::I386 : Machine::X86_64; }

  const user_regs_struct& raw() const { return raw_; }
  user_regs_struct& raw() { return raw_; }

private:
  user_regs_struct raw_;
};

} // namespace sonictrace
