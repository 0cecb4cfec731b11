// Formats as a hostile program could pass them, to printf and to scanf: none may hang the reader,
// and what it says must make sense. First byte: the word size; the rest: the format.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "sonictrace/wire/format.hpp"

using namespace sonictrace::wire;

namespace {

void require(bool promise) {
  if (!promise) std::abort();
}

class Source {
public:
  Source(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}
  int peek() const { return at_ < end_ ? *at_ : -1; }
  int next() {
    const int c = peek();
    if (c > 0) ++at_;
    return c;
  }

private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

void check(const FormatArguments& arguments, bool printed) {
  require(arguments.count <= kMostFormatArguments);
  for (std::size_t at = 0; at < arguments.count; ++at) {
    const FormatArgument& argument = arguments.list[at];
    require(argument.tag != ArgumentTag::None);
    require(argument.size == 1 || argument.size == 2 || argument.size == 4 || argument.size == 8 ||
            argument.size == 16);
    require(argument.size != 16 || argument.tag == ArgumentTag::Float ||
            argument.tag == ArgumentTag::HexFloat);
    require(argument.precision >= kNoPrecision);
    require(argument.precision_argument == kNoArgument ||
            argument.precision_argument < arguments.count);
    require(!printed || argument.tag != ArgumentTag::Buffer);
    require(!printed || !argument.allocates);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t word = data[0] % 2 == 0 ? 8 : 4;
  Source printed(data + 1, size - 1), scanned(data + 1, size - 1);
  check(FormatParser<Source>(printed, word).parse_print(), true);
  check(FormatParser<Source>(scanned, word).parse_scan(), false);
  return 0;
}
