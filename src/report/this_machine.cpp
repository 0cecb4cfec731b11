#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "sonictrace/report/fingerprint.hpp"

namespace sonictrace::report {

std::string this_machine() {
  utsname system{};
  ::uname(&system);
  std::string processor;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; processor.empty() && std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const auto colon = line.find(": "); colon != std::string::npos)
        processor = ", " + line.substr(colon + 2);
  return fmt::format("{} {} {}{}, {} cores", system.sysname, system.release, system.machine,
                     processor, ::sysconf(_SC_NPROCESSORS_ONLN));
}

} // namespace sonictrace::report
