#include "elf/code_areas.hpp"

#include <algorithm>

#include "elf/plt.hpp"

namespace sonictrace::elf {
namespace {

/// Sorts areas and cuts off what an earlier one has: a hostile file's overlap without end.
void remove_overlaps(std::vector<CodeArea>& areas) {
  std::stable_sort(areas.begin(), areas.end(),
                   [](const CodeArea& a, const CodeArea& b) { return a.begin < b.begin; });
  std::uint64_t end = 0;
  for (CodeArea& area : areas) {
    const std::uint64_t begin = area.begin.value();
    const std::uint64_t taken =
        std::min<std::uint64_t>(begin < end ? end - begin : 0, area.code.size());
    area.code = area.code.subspan(taken);
    area.begin = ElfAddress(begin + taken);
    end = std::max(end, begin + taken + area.code.size());
  }
}

} // namespace

std::vector<CodeArea> code_areas(const Image& image) {
  std::vector<CodeArea> areas;
  for (const Section& section : image.sections())
    if (section.executable)
      areas.push_back({section.begin, image.bytes_at(section.begin, section.content.size()),
                       is_plt_section(section)});
  if (areas.empty())
    for (const Segment& segment : image.segments())
      if (segment.executable) areas.push_back({segment.begin, segment.content, false});
  remove_overlaps(areas);
  return areas;
}

const CodeArea* find_area(std::span<const CodeArea> areas, ElfAddress address) {
  const auto behind =
      std::upper_bound(areas.begin(), areas.end(), address,
                       [](ElfAddress x, const CodeArea& area) { return x < area.begin; });
  if (behind == areas.begin() || !(behind - 1)->contains(address)) return nullptr;
  return &*(behind - 1);
}

} // namespace sonictrace::elf
