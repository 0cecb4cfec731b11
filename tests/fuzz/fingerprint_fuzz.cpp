// Any bytes as a fingerprint: an error of one line, or what gives the same fingerprint when it is
// written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sonictrace/report/fingerprint.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonictrace::report;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = parse_fingerprint(text, "x.sfp");
  if (!read) {
    require(read.error().message().starts_with("x.sfp: "));
    require(read.error().message().find('\n') == std::string::npos);
    return 0;
  }
  const auto written = to_json(*read);
  require(is_fingerprint(written));
  const auto again = parse_fingerprint(written, "x.sfp");
  require(static_cast<bool>(again));
  require(to_json(*again) == written);
  return 0;
}
