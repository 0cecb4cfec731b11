#pragma once

#include <string>

namespace sonictrace {

/// `SIGUSR1`; `SIGRTMIN+6`, or with `ltrace` what it writes for those: `UNKNOWN_SIGNAL`.
std::string signal_name(int signal, bool ltrace);

/// `User defined signal 1`
std::string signal_description(int signal);

} // namespace sonictrace
