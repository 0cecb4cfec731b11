#include "engine/inline/site_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include "engine/inline/code_pages.hpp"
#include "engine/inline/site_units.hpp"

namespace sonictrace {
namespace {

constexpr std::size_t kDisplacement = 4;

/// Numbers that go with addresses. (A std::unordered_map takes twice the time of all else.)
class NumberOfAddress {
public:
  explicit NumberOfAddress(std::size_t count) : entries_(std::bit_ceil(count * 2 + 1)) {}

  /// That of `key`, which is `fresh` where there was none.
  std::uint32_t& at(std::uint64_t key, std::uint32_t fresh) {
    const std::size_t mask = entries_.size() - 1;
    constexpr std::uint64_t kGoldenRatio = 0x9e37'79b9'7f4a'7c15; // spreads neighbours
    std::size_t index = static_cast<std::size_t>((key >> 3) * kGoldenRatio >> 32) & mask;
    while (entries_[index].key != 0 && entries_[index].key != key)
      index = (index + 1) & mask;
    if (entries_[index].key == 0) entries_[index] = {key, fresh};
    return entries_[index].number;
  }

private:
  struct Entry {
    std::uint64_t key; ///< 0: none
    std::uint32_t number;
  };
  std::vector<Entry> entries_;
};

} // namespace

SiteWriter SiteWriter::for_child(std::shared_ptr<AddressSpace> child) const {
  SiteWriter copy = *this;
  copy.areas_ = areas_.for_child(child);
  copy.space_ = std::move(child);
  return copy;
}

const SiteWriter::PatchedSite* SiteWriter::find_site(TraceeAddress at) const {
  const auto found = std::lower_bound(
      sites_.begin(), sites_.end(), at,
      [](const PatchedSite& site, TraceeAddress address) { return site.at < address; });
  return found != sites_.end() && found->at == at ? &*found : nullptr;
}

std::vector<std::string> SiteWriter::patch(std::span<const CallSitePatch> sites,
                                           RemoteMapper& mapper) {
  std::vector<std::string> lines;
  auto sorted = sorted_by_address(sites);
  // Of one place, the first one given.
  sorted.erase(std::unique(sorted.begin(), sorted.end(),
                           [](const auto* a, const auto* b) { return a->at == b->at; }),
               sorted.end());
  for_neighbours<CallSitePatch>(sorted, [&](auto batch) { patch_batch(batch, mapper, lines); });
  return lines;
}

/// One group of neighbours on its way.
class SiteWriter::Batch {
public:
  Batch(const SiteWriter& writer, std::span<const CallSitePatch* const> sites)
      : writer_(writer), sites_(sites), pages_(writer.space_->memory(), places_of(sites)) {}

  /// Those whose bytes are as they should be. Says so of the others.
  void check(std::vector<std::string>& lines) {
    right_.reserve(sites_.size());
    std::size_t wrong = 0;
    const auto refuse = [&](const CallSitePatch& site, std::string_view why) {
      constexpr std::size_t kMostLines = 20; // a file that was replaced has thousands
      if (++wrong <= kMostLines)
        lines.push_back(fmt::format("the call at {:#x} {}", site.at.value(), why));
      else if (wrong == kMostLines + 1)
        lines.push_back("and more calls near them, likewise");
    };
    for (const CallSitePatch* const site : sites_) {
      const auto bytes = pages_.at(range_of(site->at, site->size));
      if (bytes.size() < kDisplacement) {
        refuse(*site, "can't be read");
        continue;
      }
      std::int32_t found;
      std::memcpy(&found, bytes.data() + bytes.size() - kDisplacement, sizeof found);
      const std::int64_t original = site->slot - (site->at + site->size);
      if (found == original || is_ours(*site, found, original))
        right_.push_back(site);
      else
        refuse(*site, "is not what its file says, or was changed");
    }
  }

  /// Gives each site the number of a stub.
  std::size_t share_stubs() {
    NumberOfAddress last(right_.size()); // of a slot: the stub made last
    stub_of_.reserve(right_.size());
    first_of_.reserve(right_.size());
    for (const CallSitePatch* const site : right_) {
      const auto fresh = static_cast<std::uint32_t>(first_of_.size());
      std::uint32_t& stub = last.at(site->slot.value(), fresh);
      if (stub != fresh) {
        const CallSitePatch& other = *first_of_[stub];
        if (other.routine != site->routine || other.site.function != site->site.function ||
            other.site.flags != site->site.flags)
          stub = fresh;
      }
      if (stub == fresh) first_of_.push_back(site);
      stub_of_.push_back(stub);
    }
    return first_of_.size();
  }

  Result<void> write_stubs(std::vector<UnitRun> stubs, std::vector<UnitRun> cells) {
    const TraceeMemory& memory = writer_.space_->memory();
    UnitWriter<wire::SiteStub> stub_writer(std::move(stubs));
    UnitWriter<std::uint64_t> cell_writer(std::move(cells));
    stubs_.reserve(first_of_.size());
    cells_.reserve(first_of_.size());
    for (const CallSitePatch* const first : first_of_) {
      wire::Site site = first->site;
      site.slot = first->slot.value();
      const auto [at, area] = stub_writer.next();
      stubs_.push_back(at);
      if (auto done = stub_writer.put(make_stub(at, area, first->routine, site), memory); !done)
        return done;
      cells_.push_back(cell_writer.next().at);
      if (auto done = cell_writer.put(at.value(), memory); !done) return done;
    }
    return {};
  }

  std::vector<PatchedSite> write_code(std::vector<std::string>& lines) {
    std::vector<PatchedSite> patched;
    patched.reserve(right_.size());
    for (std::size_t i = 0; i < right_.size(); ++i) {
      const CallSitePatch& site = *right_[i];
      const AddressRange place = range_of(site.at, site.size);
      const TraceeAddress cell = cells_[stub_of_[i]];
      const std::int32_t ours = displacement(place.end(), cell);
      const auto bytes = pages_.at(place);
      std::memcpy(bytes.data() + bytes.size() - kDisplacement, &ours, sizeof ours);
      pages_.mark(place);
      patched.push_back({site.at, site.size, displacement(place.end(), site.slot), ours, cell,
                         stubs_[stub_of_[i]], site.routine != AgentRoutine::Enter});
    }
    for (const auto& failure : pages_.write()) {
      lines.push_back(fmt::format("the calls from {:#x} on can't be patched: {}",
                                  failure.piece.begin().value(), failure.error.message()));
      std::erase_if(patched,
                    [&](const PatchedSite& site) { return failure.piece.contains(site.at); });
    }
    return patched;
  }

  AddressRange range() const {
    return *AddressRange::make(right_.front()->at, right_.back()->at + right_.back()->size);
  }
  bool is_empty() const { return right_.empty(); }

private:
  /// Patched already.
  bool is_ours(const CallSitePatch& site, std::int32_t found, std::int64_t original) const {
    const PatchedSite* const known = writer_.find_site(site.at);
    return known != nullptr && known->ours == found && known->original == original;
  }
  static std::vector<AddressRange> places_of(std::span<const CallSitePatch* const> sites) {
    std::vector<AddressRange> places;
    places.reserve(sites.size());
    for (const CallSitePatch* const site : sites)
      places.push_back(range_of(site->at, site->size));
    return places;
  }

  const SiteWriter& writer_;
  std::span<const CallSitePatch* const> sites_;
  CodePages pages_;
  std::vector<const CallSitePatch*> right_;
  std::vector<std::uint32_t> stub_of_;         ///< of each in right_
  std::vector<const CallSitePatch*> first_of_; ///< of each stub
  std::vector<TraceeAddress> stubs_, cells_;   ///< of each stub
};

void SiteWriter::patch_batch(std::span<const CallSitePatch* const> sites, RemoteMapper& mapper,
                             std::vector<std::string>& lines) {
  Batch batch(*this, sites);
  batch.check(lines);
  if (batch.is_empty()) return;
  const std::size_t count = batch.share_stubs();
  const auto complain = [&](const Error& error) {
    lines.push_back(fmt::format("the {} calls from {:#x} on can't be patched: {}", sites.size(),
                                batch.range().begin().value(), error.message()));
  };
  auto cells = areas_.take(AreaKind::Cells, count, batch.range(), mapper);
  if (!cells) return complain(cells.error());
  auto stubs = areas_.take(AreaKind::Stubs, count, std::nullopt, mapper);
  if (!stubs) return complain(stubs.error());
  if (auto done = batch.write_stubs(*std::move(stubs), *std::move(cells)); !done)
    return complain(done.error());
  keep(batch.write_code(lines));
}

void SiteWriter::keep(std::vector<PatchedSite> fresh) {
  if (sites_.empty()) {
    sites_ = std::move(fresh);
    return;
  }
  const auto less = [](const PatchedSite& a, const PatchedSite& b) { return a.at < b.at; };
  std::erase_if(sites_, [&](const PatchedSite& old) { // patched anew
    return std::binary_search(fresh.begin(), fresh.end(), old, less);
  });
  const auto middle = static_cast<std::ptrdiff_t>(sites_.size());
  sites_.insert(sites_.end(), fresh.begin(), fresh.end());
  std::inplace_merge(sites_.begin(), sites_.begin() + middle, sites_.end(), less);
}

Result<TraceeAddress> SiteWriter::word_near(AddressRange near, std::uint64_t value,
                                            RemoteMapper& mapper) {
  const auto taken = areas_.take(AreaKind::Cells, 1, near, mapper);
  if (!taken) return taken.error();
  const TraceeAddress at = taken->front().at;
  if (auto written = space_->memory().write_word(at, value); !written)
    return std::move(written).error();
  return at;
}

bool SiteWriter::leave_stub(Registers& registers) const {
  const auto place = areas_.at(registers.pc());
  if (!place || place->kind == AreaKind::Cells) return false;
  // Areas begin with a page, and units are powers of two.
  const std::uint64_t offset = registers.pc().value() % unit_size(place->kind);
  if (offset >= kStubCode) return false;
  const TraceeAddress stub = registers.pc() + -static_cast<std::int64_t>(offset);
  const TraceeMemory& memory = space_->memory();
  std::int32_t to_word = 0;
  const TraceeAddress end = stub + static_cast<std::int64_t>(kStubCode);
  if (!memory.read(end + -static_cast<std::int64_t>(sizeof to_word),
                   std::as_writable_bytes(std::span(&to_word, 1))))
    return false;
  const auto routine = memory.read_word(end + to_word);
  if (!routine) return false;
  if (offset < kStubHasPushed) {
    const TraceeAddress top = registers.sp() + -8;
    if (!memory.write_word(top, registers.raw().r11)) return false;
    registers.set_sp(top);
  }
  registers.raw().r11 = stub.value() + offsetof(wire::SiteStub, site);
  registers.set_pc(TraceeAddress(*routine));
  return true;
}

void SiteWriter::restore_all() {
  restore_all_but_unwinders(); // as long as a call can lead to a thunk, these are needed
  restore(*AddressRange::make(TraceeAddress(0), TraceeAddress(~std::uint64_t{0})));
}

void SiteWriter::restore(AddressRange range) {
  restore_sites([range](const PatchedSite& site) { return range.contains(site.at); });
  restore_entries(range);
}

void SiteWriter::restore_all_but_unwinders() {
  restore_sites([](const PatchedSite& site) { return !site.is_of_unwinder; });
  restore_entries(*AddressRange::make(TraceeAddress(0), TraceeAddress(~std::uint64_t{0})));
}

std::vector<TraceeAddress> SiteWriter::unwinders() const {
  std::vector<TraceeAddress> places;
  for (const PatchedSite& site : sites_)
    if (site.is_of_unwinder) places.push_back(site.at);
  return places;
}

template <class Chosen>
void SiteWriter::restore_sites(Chosen is_chosen) {
  std::vector<AddressRange> places;
  for (const PatchedSite& site : sites_)
    if (is_chosen(site)) places.push_back(range_of(site.at, site.size));
  CodePages pages(space_->memory(), places);
  std::erase_if(sites_, [&](const PatchedSite& site) {
    if (!is_chosen(site)) return false;
    const AddressRange place = range_of(site.at, site.size);
    const auto bytes = pages.at(place);
    if (bytes.size() < kDisplacement) return true;
    std::byte* const at = bytes.data() + bytes.size() - kDisplacement;
    if (std::memcmp(at, &site.ours, sizeof site.ours) == 0) {
      std::memcpy(at, &site.original, sizeof site.original);
      pages.mark(place);
    }
    return true;
  });
  (void)pages.write(); // where that fails the process is gone
}

void SiteWriter::forget(AddressRange range) {
  std::vector<TraceeAddress> cells, stubs, units;
  std::erase_if(sites_, [&](const PatchedSite& site) {
    if (!range.contains(site.at)) return false;
    cells.push_back(site.cell);
    stubs.push_back(site.stub);
    return true;
  });
  std::erase_if(entries_, [&](const PatchedEntry& entry) {
    if (!range.contains(entry.at)) return false;
    for (const Link& link : entry.links)
      units.push_back(link.unit);
    return true;
  });
  // Sites have shared them; all of a slot's were in the module that is gone.
  for (auto* shared : {&cells, &stubs}) {
    std::sort(shared->begin(), shared->end());
    shared->erase(std::unique(shared->begin(), shared->end()), shared->end());
  }
  if (!cells.empty()) areas_.give_back(AreaKind::Cells, cells);
  if (!stubs.empty()) areas_.give_back(AreaKind::Stubs, stubs);
  if (!units.empty()) areas_.give_back(AreaKind::Entries, units);
}

} // namespace sonictrace
