#include <exception>
#include <span>

#include "sonicreport/common_options.hpp"
#include "sonicreport/run.hpp"

int main(int argc, char** argv) {
  // SIGPIPE kills, and silently: nobody reads what would be written.
  try {
    return sonictrace::sonicreport::run(
        std::span<const char* const>(argv, static_cast<std::size_t>(argc)));
  } catch (const std::exception& caught) { // no memory, and what libraries throw
    sonictrace::sonicreport::tell(caught.what());
    return 2;
  }
}
