#pragma once

#include "sonictrace/arch/registers.hpp"
#include "sonictrace/process/stopped_tracee.hpp"

namespace sonictrace {

/// Whether a system call is on signal(7)'s list of those that are never restarted after a handler,
/// so that the kernel gives -EINTR also where no handler ran, but only a tracer stopped the thread.
/// `argument1` tells the calls apart whose kind is in it (futex has none; ioctl is not on the list).
bool is_never_restarted(std::uint64_t number);

/// A tracee that a stop of ours (PTRACE_INTERRUPT, or a signal which the program ignores) woke in a
/// system call of that list: makes it call again, so that the program does not notice. Its relative
/// time-out starts anew. Returns whether it did; `registers` are the stop's and are changed with it.
bool restart_interrupted_call(Registers& registers);

/// Does at once what the kernel does when a thread leaves a stop within a system call that it then
/// restarts (or `restart_interrupted_call`, where the kernel doesn't): for registers that
/// rt_sigreturn(2) brings back, behind which no call is looked for. One whose time-out the kernel
/// would have gone on with begins it anew.
void restart_at_once(Registers& registers);

/// Takes `restart_interrupted_call` back, before the call is made: it has failed with -EINTR after all.
void undo_restart(Registers& registers);

/// Whether a signal is about to reach a handler of the program.
bool has_handler_to_run(pid_t tid);

/// Whether the program will not see this signal at all: ignored, or by default without effect.
bool is_ignored(pid_t tid, int signal);

} // namespace sonictrace
