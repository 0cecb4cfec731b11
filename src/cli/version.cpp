#include "cli/version.hpp"

#include <CLI/Version.hpp>
#include <Zydis/Zydis.h>
#include <elfutils/version.h>
#include <fmt/format.h>
#include <libunwind.h>
#include <zlib.h>
#include <zstd.h>

#ifndef SONICTRACE_VERSION
#define SONICTRACE_VERSION "0.1.0"
#endif

namespace sonictrace {

std::string version_text() {
  const ZyanU64 zydis = ZydisGetVersion();
  // Where a library can say itself which one it is, that is asked: it may be newer than its header.
  return fmt::format("sonictrace {}\n"
                     "built with: libelf {}.{}, libunwind {}.{}.{}, fmt {}.{}.{}, CLI11 {}, "
                     "Zydis {}.{}.{},\n"
                     "            zlib {}, zstd {}\n"
                     "missing: none\n",
                     SONICTRACE_VERSION, _ELFUTILS_VERSION / 1000, _ELFUTILS_VERSION % 1000,
                     UNW_VERSION_MAJOR, UNW_VERSION_MINOR, UNW_VERSION_EXTRA, FMT_VERSION / 10000,
                     FMT_VERSION / 100 % 100, FMT_VERSION % 100, CLI11_VERSION,
                     ZYDIS_VERSION_MAJOR(zydis), ZYDIS_VERSION_MINOR(zydis),
                     ZYDIS_VERSION_PATCH(zydis), zlibVersion(), ZSTD_versionString());
}

} // namespace sonictrace
