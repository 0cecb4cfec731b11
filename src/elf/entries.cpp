#include "sonictrace/elf/entries.hpp"

#include <algorithm>

#include "elf/code_areas.hpp"
#include "elf/entry_references.hpp"
#include "elf/guarded_bytes.hpp"
#include "elf/islands.hpp"
#include "elf/unwind_index.hpp"

namespace sonictrace::elf {

struct EntrySurvey::Parts {
  explicit Parts(std::shared_ptr<const Image> of)
      : image(std::move(of)), areas(code_areas(*image)), unwind(*image) {
    for (const Symbol& function : image->functions())
      begins.push_back(function.value);
    // Assembly leaves out the type of some.
    for (const auto* const table : {&image->dynamic_symbols(), &image->static_symbols()})
      for (const Symbol& symbol : *table)
        if (symbol.defined && symbol.type == SymbolType::None) begins.push_back(symbol.value);
    std::sort(begins.begin(), begins.end());
  }

  const CodeArea* area_of(ElfAddress address) const {
    const CodeArea* const area = find_area(areas, address);
    return area == nullptr || area->is_plt ? nullptr : area;
  }

  std::shared_ptr<const Image> image;
  std::vector<CodeArea> areas;
  UnwindIndex unwind;
  std::vector<ElfAddress> begins; ///< of functions that symbols name; sorted
};

EntrySurvey::EntrySurvey(std::shared_ptr<const Image> image)
    : parts_(std::make_unique<Parts>(std::move(image))) {}
EntrySurvey::~EntrySurvey() = default;

std::span<const std::byte> EntrySurvey::code(ElfAddress entry) const {
  if (parts_->image->machine() != Machine::X86_64) return {};
  const CodeArea* const area = parts_->area_of(entry);
  if (area == nullptr) return {};
  ElfAddress end = area->end();
  const auto named = std::upper_bound(parts_->begins.begin(), parts_->begins.end(), entry);
  if (named != parts_->begins.end()) end = std::min(end, *named);
  if (const auto unwound = parts_->unwind.begin_behind(entry); unwound && entry < *unwound)
    end = std::min(end, *unwound);
  return area->code.subspan(static_cast<std::size_t>(entry - area->begin),
                            static_cast<std::size_t>(end - entry));
}

std::vector<std::optional<std::string>>
EntrySurvey::why_not_replaceable(std::span<const EntryBytes> entries) const {
  GuardedBytes guarded(entries);
  for (std::size_t index = 0; index < entries.size(); ++index)
    if (code(entries[index].entry).size() <
        std::size_t{entries[index].skipped} + entries[index].replaced)
      guarded.refuse(index, "another function begins in its first bytes");

  EntryReferences references(*parts_->image, parts_->areas, guarded);
  references.scan_relocations();
  references.scan_long_jumps();
  references.scan_short_jumps();
  references.scan_own_code();
  return guarded.take_reasons();
}

namespace {

/// An island's bytes, all of them: one byte before it is said to stay, as an endbr64 does.
EntryBytes bytes_of_island(ElfAddress island) {
  return {island + -1, 1, static_cast<std::uint8_t>(Islands::kSize)};
}

/// Entries that may be patched in a certain way, and what that takes.
struct Asked {
  std::vector<std::size_t> which;
  std::vector<EntryBytes> bytes;
};

} // namespace

std::vector<EntryWay> EntrySurvey::ways(std::span<const ElfAddress> entries) const {
  std::vector<EntryWay> ways(entries.size());
  const auto moved = [&](std::size_t index, EntryJump jump) {
    // Where it will lie does not matter for how much of it is moved.
    const TraceeAddress at(entries[index].value());
    return move_entry(code(entries[index]), at, at, jump);
  };
  Asked long_ones;
  for (std::size_t index = 0; index < entries.size(); ++index) {
    const auto whole = moved(index, EntryJump::Long);
    if (!whole) {
      ways[index].why_not = whole.error().context();
      continue;
    }
    long_ones.which.push_back(index);
    long_ones.bytes.push_back({entries[index], whole->skipped, whole->replaced});
  }
  auto reasons = why_not_replaceable(long_ones.bytes);
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    EntryWay& way = ways[long_ones.which[i]];
    if (reasons[i])
      way.why_not = *std::move(reasons[i]);
    else
      way.jump = EntryJump::Long;
  }

  // For the few that are left, all code is read once more.
  Islands search(*parts_->image, [this](ElfAddress at) { return code(at); });
  Asked short_ones;
  std::vector<ElfAddress> islands;
  for (std::size_t index = 0; index < entries.size(); ++index) {
    EntryWay& way = ways[index];
    if (way.jump) continue;
    const auto begin = moved(index, EntryJump::Short);
    if (!begin) continue;
    way.islands = search.near(entries[index] + begin->skipped);
    if (way.islands.empty()) continue;
    short_ones.which.push_back(index);
    short_ones.bytes.push_back({entries[index], begin->skipped, begin->replaced});
    for (const EntryIsland& island : way.islands)
      islands.push_back(island.at);
  }
  if (short_ones.which.empty()) return ways;
  std::sort(islands.begin(), islands.end());
  islands.erase(std::unique(islands.begin(), islands.end()), islands.end());
  const std::size_t count = short_ones.bytes.size();
  for (const ElfAddress island : islands)
    short_ones.bytes.push_back(bytes_of_island(island));
  reasons = why_not_replaceable(short_ones.bytes);
  const auto is_led_to = [&](const EntryIsland& island) {
    const auto at = std::lower_bound(islands.begin(), islands.end(), island.at) - islands.begin();
    return reasons[count + static_cast<std::size_t>(at)].has_value();
  };
  for (std::size_t i = 0; i < count; ++i) {
    EntryWay& way = ways[short_ones.which[i]];
    if (reasons[i]) {
      way.why_not = *std::move(reasons[i]);
      way.islands.clear();
      continue;
    }
    std::erase_if(way.islands, is_led_to);
    if (!way.islands.empty()) way.jump = EntryJump::Short;
  }
  return ways;
}

} // namespace sonictrace::elf
