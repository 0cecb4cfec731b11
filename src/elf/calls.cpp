#include "sonictrace/elf/calls.hpp"

#include <algorithm>

#include "elf/code_areas.hpp"
#include "elf/code_search.hpp"
#include "elf/dynamic.hpp"
#include "elf/plt.hpp"
#include "elf/records.hpp"

namespace sonictrace::elf {
namespace {

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

std::vector<ImportSlot> find_imports(const Image& image) {
  if (image.machine() == Machine::Other) return {};
  return collect_slots(image);
}

bool refers_to_slot(const Image& image, const CallSite& site, ElfAddress slot) {
  constexpr std::int64_t kDisplacement = 4;
  if (image.machine() != Machine::X86_64 || site.size < 6 || site.size > 15) return false;
  const ElfAddress end = site.at + site.size;
  const bool in_code =
      std::any_of(image.segments().begin(), image.segments().end(), [&](const Segment& segment) {
        const std::uint64_t offset = site.at.value() - segment.begin.value(); // wraps
        return segment.executable && offset < segment.content.size() &&
               segment.content.size() - offset >= site.size;
      });
  if (!in_code) return false;
  const auto bytes = image.bytes_at(end + -kDisplacement, kDisplacement);
  const auto displacement = Records::value<std::int32_t>(bytes, 0);
  return displacement && end + *displacement == slot;
}

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
