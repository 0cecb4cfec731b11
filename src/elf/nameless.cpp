#include "sonictrace/elf/nameless.hpp"

#include <algorithm>
#include <string_view>

#include "elf/unwind_index.hpp"

namespace sonictrace::elf {
namespace {

bool is_in_plt(const Image& image, ElfAddress address) {
  constexpr std::string_view kPlt = ".plt", kIplt = ".iplt";
  return std::any_of(image.sections().begin(), image.sections().end(), [&](const Section& section) {
    const auto offset = static_cast<std::uint64_t>(address - section.begin);
    return section.executable && offset < section.content.size() &&
           (section.name.starts_with(kPlt) || section.name.starts_with(kIplt));
  });
}

bool is_executable(const Image& image, ElfAddress address) {
  return std::any_of(image.segments().begin(), image.segments().end(), [&](const Segment& segment) {
    const auto offset = static_cast<std::uint64_t>(address - segment.begin);
    return segment.executable && offset < segment.content.size();
  });
}

/// At its begin, or in the bytes that it says it has.
bool is_named(const Image& image, ElfAddress address) {
  const Symbol* const symbol = image.function_at(address);
  return symbol != nullptr && static_cast<std::uint64_t>(address - symbol->value) <
                                  std::max<std::uint64_t>(symbol->size, 1);
}

} // namespace

std::vector<ElfAddress> nameless_functions(const Image& image) {
  std::vector<ElfAddress> all = UnwindIndex(image).entries_of_calls();
  std::erase_if(all, [&](ElfAddress address) {
    return !is_executable(image, address) || is_named(image, address) || is_in_plt(image, address);
  });
  std::sort(all.begin(), all.end()); // the file may say that they are, and they are not
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

} // namespace sonictrace::elf
