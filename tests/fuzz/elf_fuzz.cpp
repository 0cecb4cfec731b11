// Files that claim to be ELF images: none may crash, hang, or make the reader allocate much.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "sonictrace/elf/calls.hpp"
#include "sonictrace/elf/image.hpp"

using namespace sonictrace;

namespace {

void require(bool promise) {
  if (!promise) std::abort();
}

void look_up(const elf::Image& image, const std::vector<elf::Symbol>& symbols) {
  constexpr std::size_t kEnough = 2000; // each look-up of a name that many share walks over all
  for (std::size_t i = 0; i < symbols.size() && i < kEnough; ++i) {
    const elf::Symbol& symbol = symbols[i];
    const elf::Symbol* const found = image.find_export(symbol.name, symbol.version);
    require(found == nullptr || found->name == symbol.name);
    const elf::Symbol* const function = image.function_at(symbol.value);
    require(function == nullptr || function->value <= symbol.value);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto opened = elf::Image::parse(std::as_bytes(std::span(data, size)), "fuzz");
  if (!opened) return 0;
  const elf::Image& image = **opened;

  look_up(image, image.dynamic_symbols());
  look_up(image, image.static_symbols());
  look_up(image, image.functions());

  const auto calls = elf::find_calls(image);
  if (!calls) return 0;
  ElfAddress last;
  for (const elf::CallSite& site : calls->sites) {
    require(site.import < calls->imports.size());
    require(last <= site.at);
    require(image.bytes_at(site.at, site.size).size() == site.size);
    last = site.at;
  }
  for (const auto import : calls->hoisted)
    require(import < calls->imports.size());
  return 0;
}
