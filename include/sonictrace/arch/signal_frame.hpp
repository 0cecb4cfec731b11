#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sonictrace/arch/registers.hpp"

namespace sonictrace {

/// What a signal handler leaves behind on the stack, and rt_sigreturn(2) makes a thread's state of:
/// all its registers and its signal mask (x86-64: struct rt_sigframe,
/// arch/x86/include/asm/sigframe.h).
///
///   begin     +-----------------+
///             | return address  |  not used: the handler has returned
///   resume_at +-----------------+  <- rsp when rt_sigreturn is called
///             | ucontext        |  general registers, signal mask, where the extended ones are
///             | siginfo         |  not used
///             +-----------------+  64-byte boundary
///             | XSAVE image     |  x87, SSE, AVX, ..., protection keys
///             | magic number    |
///   begin + bytes.size()  ------+
struct SignalFrame {
  std::vector<std::byte> bytes; ///< to be written at `begin`
  TraceeAddress begin;
  TraceeAddress resume_at;
};

/// Bytes that such a frame takes at most. 0: there can't be one. `extended`: see make_signal_frame.
std::size_t room_for_signal_frame(std::span<const std::byte> extended);

/// `below`: the frame ends at or below it. `mask`: bit N-1 blocks signal N. `extended`: what
/// PTRACE_GETREGSET of NT_X86_XSTATE gave. Empty bytes where that is none.
SignalFrame make_signal_frame(TraceeAddress below, const Registers& registers, std::uint64_t mask,
                              std::span<const std::byte> extended);

} // namespace sonictrace
