#include "sonictrace/elf/calls.hpp"

#include <algorithm>

#include "elf/code_search.hpp"
#include "elf/dynamic.hpp"
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

/// The executable sections, as the segments map them: what lies in an executable segment besides
/// is data. Of a file without sections, the segments.
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

bool has_sections(const Image& image) {
  return std::any_of(image.sections().begin(), image.sections().end(),
                     [](const Section& section) { return section.executable; });
}

void append(std::vector<CallSite>& to, const std::vector<CallSite>& sites) {
  to.insert(to.end(), sites.begin(), sites.end());
}

/// By address, each once: areas of a hostile file may overlap.
void tidy(CallTable& table) {
  const auto by_address = [](const CallSite& a, const CallSite& b) { return a.at < b.at; };
  const auto same = [](const CallSite& a, const CallSite& b) { return a.at == b.at; };
  std::stable_sort(table.sites.begin(), table.sites.end(), by_address);
  table.sites.erase(std::unique(table.sites.begin(), table.sites.end(), same), table.sites.end());
  std::sort(table.hoisted.begin(), table.hoisted.end());
}

} // namespace

Result<CallTable> find_calls(const Image& image) {
  const bool is_i386 = image.machine() == Machine::I386;
  if (image.machine() == Machine::Other)
    return Error(std::errc::not_supported, image.name() + ": code of another machine");
  if (is_i386 && !has_sections(image))
    return Error(std::errc::not_supported, image.name() + ": 32-bit code without section headers");

  CallTable table;
  table.imports = collect_slots(image);
  if (table.imports.empty()) return table;
  const SlotMap slots(table.imports);
  const CodeReader reader(image.machine(), image.dynamic_info().plt_got);
  CodeSearch search(image, reader, table);
  const bool sections = has_sections(image);
  const std::vector<CodeArea> areas = code_areas(image);
  for (const CodeArea& area : areas) {
    if (area.is_plt) {
      append(table.sites, find_plt_sites(area.code, area.begin, reader, slots));
      continue;
    }
    if (is_i386) continue; // its no-PLT code goes through %ebx or another register
    std::vector<SlotUse> uses = find_slot_uses(area.code, area.begin, slots);
    if (!sections) append(table.sites, take_plt_like_sites(uses, area.code, area.begin, reader));
    search.search(uses, area);
  }
  search.finish(areas);
  tidy(table);
  return table;
}

} // namespace sonictrace::elf
