// Names as a hostile symbol table could hold them: each is answered, in bounded time and length.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sonictrace/names/demangle.hpp"

using namespace sonictrace;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kLongest = 1 << 20;
  const std::string_view name(reinterpret_cast<const char*>(data), size);
  for (const DemangleStyle style : {DemangleStyle::Short, DemangleStyle::Full})
    if (demangle(name, style).size() > kLongest + size) std::abort();
  return 0;
}
