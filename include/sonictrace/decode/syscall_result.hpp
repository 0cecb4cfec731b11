#pragma once

#include <cstdint>
#include <string>

namespace sonictrace {

/// Appends what a system call's error is, as strace writes it: `-1 ENOENT (No such file or
/// directory)`; for an interruption, the outcome of which a tracer alone sees, `? ERESTARTSYS (To
/// be restarted if SA_RESTART is set)`. Returns false, with nothing appended, where `result` is
/// none.
bool append_syscall_error(std::string& text, std::int64_t result);

} // namespace sonictrace
