// The entry points among what SiteWriter patches.

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>

#include "engine/inline/code_pages.hpp"
#include "engine/inline/site_units.hpp"
#include "engine/inline/site_writer.hpp"

namespace sonictrace {
namespace {

struct EntryUnit {
  wire::SiteStub stub;
  std::byte code[kEntryUnit - sizeof(wire::SiteStub)];
};
static_assert(sizeof(EntryUnit) == kEntryUnit && MovedEntry::kMostCode <= sizeof(EntryUnit::code));

/// The word that the site's slot is: where the call goes on.
constexpr std::int64_t kSlotAt = offsetof(wire::SiteStub, reserved);
constexpr std::int64_t kMovedCodeAt = offsetof(EntryUnit, code);

bool overlap(AddressRange a, AddressRange b) { return a.begin() < b.end() && b.begin() < a.end(); }

} // namespace

/// One group of neighbours on its way.
class SiteWriter::EntryBatch {
public:
  EntryBatch(SiteWriter& writer, std::span<const EntryPatch* const> entries)
      : writer_(writer), order_(entries.begin(), entries.end()), around_(around(entries)),
        pages_(writer.space_->memory(), around_) {
    // Long jumps first: they may need the padding behind their functions; short ones have a choice.
    std::stable_partition(order_.begin(), order_.end(),
                          [](const EntryPatch* entry) { return entry->islands.empty(); });
  }

  /// `refuse`: is called with an entry, and why it is not patched.
  template <class Refuse>
  void patch(RemoteMapper& mapper, Refuse refuse) {
    const TraceeMemory& memory = writer_.space_->memory();
    const auto refuse_all = [&](const Error& error) {
      for (const EntryPatch* const entry : order_)
        refuse(*entry, error.message());
    };
    const auto near = AddressRange::make(around_.front().begin(), around_.back().end());
    auto runs = take_units(*near, mapper);
    if (!runs) return refuse_all(runs.error());
    UnitWriter<EntryUnit> units(*std::move(runs));
    for (const EntryPatch* const entry : order_) {
      const auto [at, area] = units.next();
      EntryUnit unit{};
      std::memset(unit.code, 0xcc, sizeof unit.code); // int3
      if (auto added = add(*entry, at, unit)) {
        wire::Site site = entry->site;
        site.slot = (at + kSlotAt).value();
        unit.stub = make_stub(at, area, AgentRoutine::Enter, site);
        put(unit.stub.reserved, added->value());
        static_assert(kFunctionOfUnitAt == std::size_t{kSlotAt} + 8);
        if (touched_.at(entry->at).entry.code == at + kMovedCodeAt)
          put(unit.stub.reserved + 8, entry->at.value());
      } else {
        refuse(*entry, added.error().context());
        unused_.push_back(at);
      }
      // Nothing leads there yet.
      if (auto done = units.put(unit, memory); !done) return refuse_all(done.error());
    }
    for (const auto& failure : pages_.write())
      std::erase_if(touched_, [&](const auto& item) {
        if (!failure.piece.contains(item.first)) return false;
        for (const auto& [entry, unit] : item.second.added) {
          refuse(*entry, failure.error.message());
          unused_.push_back(unit);
        }
        return true;
      });
    keep();
  }

private:
  struct Touched {
    PatchedEntry entry; ///< as it will be
    std::vector<std::pair<const EntryPatch*, TraceeAddress>> added = {};
  };

  /// A unit for each of the entries, in their order; of an earlier session's, those with the same
  /// function's code.
  Result<std::vector<UnitRun>> take_units(AddressRange near, RemoteMapper& mapper) {
    std::vector<std::optional<UnitRun>> left;
    for (const EntryPatch* const entry : order_)
      left.push_back(writer_.find_entry(entry->at) != nullptr
                         ? std::nullopt
                         : writer_.areas_.take_left_unit(entry->at));
    const auto missing =
        static_cast<std::size_t>(std::count(left.begin(), left.end(), std::nullopt));
    auto fresh = writer_.areas_.take(AreaKind::Entries, missing, near, mapper);
    if (!fresh || missing == left.size()) return fresh;
    std::vector<UnitRun> all;
    auto run = fresh->begin();
    for (const auto& unit : left) {
      if (unit) {
        all.push_back(*unit);
        continue;
      }
      all.push_back({run->at, 1, run->area});
      run->at = run->at + static_cast<std::int64_t>(kEntryUnit);
      if (--run->count == 0) ++run;
    }
    return all;
  }

  /// What is read of each function, as pieces without overlaps.
  std::vector<AddressRange> around(std::span<const EntryPatch* const> entries) const {
    std::vector<AddressRange> ranges;
    for (const EntryPatch* const entry : entries) {
      TraceeAddress begin = entry->at;
      TraceeAddress end = begin + std::clamp<std::int64_t>(std::ssize(entry->function), 1, 64);
      const auto extend = [&](TraceeAddress at, std::size_t size) {
        begin = std::min(begin, at);
        end = std::max(end, at + static_cast<std::int64_t>(size));
      };
      for (const auto& island : entry->islands)
        extend(island.at, island.bytes.size());
      if (const PatchedEntry* const known = writer_.find_entry(entry->at))
        for (const Place& place : known->places)
          extend(place.at, place.ours.size());
      ranges.push_back(*AddressRange::make(begin, end));
    }
    std::sort(ranges.begin(), ranges.end(),
              [](const auto& a, const auto& b) { return a.begin() < b.begin(); });
    std::vector<AddressRange> merged;
    for (const AddressRange& range : ranges) {
      if (merged.empty() || merged.back().end() < range.begin())
        merged.push_back(range);
      else
        merged.back() =
            *AddressRange::make(merged.back().begin(), std::max(merged.back().end(), range.end()));
    }
    return merged;
  }

  /// Makes the entry's site the one at `at`, and returns what its slot holds.
  Result<TraceeAddress> add(const EntryPatch& entry, TraceeAddress at, EntryUnit& unit) {
    auto touched = touched_.find(entry.at);
    if (touched == touched_.end()) {
      const PatchedEntry* const known = writer_.find_entry(entry.at);
      auto begun = known != nullptr ? check(*known) : begin(entry, at, unit);
      if (!begun) return std::move(begun).error();
      touched = touched_.emplace(entry.at, Touched{*std::move(begun)}).first;
    }
    touched->second.added.emplace_back(&entry, at);
    auto& links = touched->second.entry.links;
    // A filter looks at the return address, which is a thunk behind any site that records the call.
    const bool is_filtered = (entry.site.flags & wire::kSiteFiltered) != 0;
    const auto before = is_filtered
                            ? std::find_if(links.begin(), links.end(),
                                           [](const Link& link) { return !link.is_filtered; })
                            : links.end();
    const TraceeAddress next = before != links.end() ? before->unit : touched->second.entry.code;
    links.insert(before, {at, is_filtered, next});
    lead_to(touched->second.entry, links.front().unit);
    return next;
  }

  /// One that was patched earlier.
  Result<PatchedEntry> check(const PatchedEntry& known) {
    for (const Place& place : known.places)
      if (!std::ranges::equal(pages_.at(range_of(place.at, place.ours.size())), place.ours))
        return Error::saying("its code was changed");
    return known;
  }

  /// One that is not patched yet: takes its first instructions out.
  Result<PatchedEntry> begin(const EntryPatch& entry, TraceeAddress at, EntryUnit& unit) {
    const bool is_short = !entry.islands.empty();
    auto moved = move_entry(entry.function, entry.at, at + kMovedCodeAt,
                            is_short ? EntryJump::Short : EntryJump::Long);
    if (!moved) return std::move(moved).error();
    const std::size_t whole = std::size_t{moved->skipped} + moved->replaced;
    const auto bytes = pages_.at(range_of(entry.at, whole));
    if (bytes.empty()) return Error::saying("its code can't be read");
    const AddressRange replaced =
        range_of(entry.at + std::int64_t{moved->skipped}, moved->replaced);
    if (!std::ranges::equal(bytes, entry.function.first(whole)) || !is_free(replaced))
      return Error::saying("its code is not what its file says, or was changed");
    std::vector<Place> places = {take(replaced)};
    if (is_short) {
      const auto island = std::find_if(
          entry.islands.begin(), entry.islands.end(), [&](const EntryPatch::Island& candidate) {
            const AddressRange range = range_of(candidate.at, candidate.bytes.size());
            return std::ranges::equal(pages_.at(range), candidate.bytes) && is_free(range);
          });
      if (island == entry.islands.end())
        return Error::saying("the padding near it is taken by other functions' jumps");
      places.push_back(take(range_of(island->at, island->bytes.size())));
      const std::int64_t distance =
          island->at - (replaced.begin() + static_cast<std::int64_t>(size_of(EntryJump::Short)));
      SONICTRACE_CHECK(distance == static_cast<std::int8_t>(distance), "an island is near");
      // eb rel8  jmp island
      places[0].ours[0] = std::byte{0xeb};
      places[0].ours[1] = static_cast<std::byte>(distance);
      show(places[0]);
    }
    std::copy(moved->code.begin(), moved->code.end(), unit.code);
    return PatchedEntry{entry.at, *std::move(moved), at + kMovedCodeAt, std::move(places), {}};
  }

  Place take(AddressRange range) {
    const auto now = pages_.at(range);
    return {range.begin(), {now.begin(), now.end()}, {now.size(), std::byte{0xcc}}}; // int3
  }

  /// Writes the long jump.
  void lead_to(PatchedEntry& entry, TraceeAddress unit) {
    Place& place = entry.places.back();
    // e9 rel32  jmp stub
    place.ours[0] = std::byte{0xe9};
    const std::int32_t distance =
        displacement(place.at + static_cast<std::int64_t>(size_of(EntryJump::Long)), unit);
    std::memcpy(place.ours.data() + 1, &distance, sizeof distance);
    // In padding, it has to be there before the short jump that will lead there.
    const bool is_run = entry.places.size() == 1 || writer_.find_entry(entry.at) != nullptr;
    show(place, is_run ? CodePages::Turn::Second : CodePages::Turn::First);
  }

  void show(const Place& place, CodePages::Turn turn = CodePages::Turn::Second) {
    const AddressRange range = range_of(place.at, place.ours.size());
    std::copy(place.ours.begin(), place.ours.end(), pages_.at(range).begin());
    pages_.mark(range, turn);
  }

  /// No jump of ours lies there, nor will. (The bytes alone don't tell: those of a displacement may
  /// be the same as those of a nop.)
  bool is_free(AddressRange range) const {
    constexpr std::int64_t kFarthest = 512; // a function from its jumps
    const TraceeAddress from = range.begin() + -kFarthest, to = range.end() + kFarthest;
    const auto is_in_it = [&](const Place& place) {
      return overlap(range, range_of(place.at, place.ours.size()));
    };
    const auto keeps_off = [&](const PatchedEntry& entry) {
      return std::none_of(entry.places.begin(), entry.places.end(), is_in_it);
    };
    for (auto near = touched_.lower_bound(from); near != touched_.end() && near->first < to; ++near)
      if (!keeps_off(near->second.entry)) return false;
    auto near = std::lower_bound(
        writer_.entries_.begin(), writer_.entries_.end(), from,
        [](const PatchedEntry& entry, TraceeAddress address) { return entry.at < address; });
    for (; near != writer_.entries_.end() && near->at < to; ++near)
      if (!keeps_off(*near)) return false;
    return true;
  }

  void keep() {
    auto& entries = writer_.entries_;
    std::vector<PatchedEntry> fresh;
    for (auto& [at, touched] : touched_) {
      PatchedEntry& entry = touched.entry;
      for (std::size_t i = 0; i < entry.links.size(); ++i) {
        const TraceeAddress next =
            i + 1 < entry.links.size() ? entry.links[i + 1].unit : entry.code;
        if (entry.links[i].next == next) continue;
        entry.links[i].next = next; // where writing fails the process is gone
        (void)writer_.space_->memory().write_word(entry.links[i].unit + kSlotAt, next.value());
      }
      if (PatchedEntry* const known = writer_.find_entry(at))
        *known = std::move(entry);
      else
        fresh.push_back(std::move(entry));
    }
    const auto middle = static_cast<std::ptrdiff_t>(entries.size());
    std::move(fresh.begin(), fresh.end(), std::back_inserter(entries));
    std::inplace_merge(entries.begin(), entries.begin() + middle, entries.end(),
                       [](const auto& a, const auto& b) { return a.at < b.at; });
    if (!unused_.empty()) writer_.areas_.give_back(AreaKind::Entries, unused_);
  }

  SiteWriter& writer_;
  std::vector<const EntryPatch*> order_;
  std::vector<AddressRange> around_;
  CodePages pages_;
  std::map<TraceeAddress, Touched> touched_;
  std::vector<TraceeAddress> unused_; ///< units
};

std::vector<std::optional<std::string>>
SiteWriter::patch_entries(std::span<const EntryPatch> entries, RemoteMapper& mapper) {
  std::vector<std::optional<std::string>> why_not(entries.size());
  const auto sorted = sorted_by_address(entries);
  for_neighbours<EntryPatch>(sorted, [&](auto batch) {
    EntryBatch(*this, batch).patch(mapper, [&](const EntryPatch& entry, std::string why) {
      why_not[static_cast<std::size_t>(&entry - entries.data())] = std::move(why);
    });
  });
  return why_not;
}

SiteWriter::PatchedEntry* SiteWriter::find_entry(TraceeAddress at) {
  const auto found = std::lower_bound(
      entries_.begin(), entries_.end(), at,
      [](const PatchedEntry& entry, TraceeAddress address) { return entry.at < address; });
  return found != entries_.end() && found->at == at ? &*found : nullptr;
}

void SiteWriter::restore_entries(AddressRange range) {
  std::erase_if(entries_, [&](const PatchedEntry& entry) {
    if (!range.contains(entry.at)) return false;
    for (const Place& place : entry.places) {
      std::vector<std::byte> now(place.ours.size());
      // Where somebody else has changed the short jump, it may still lead to the long one.
      if (!space_->memory().read(place.at, now) || now != place.ours) break;
      (void)space_->memory().write_whole(place.at, place.original);
    }
    return true;
  });
}

std::optional<TraceeAddress> SiteWriter::moved_place(TraceeAddress pc) const {
  for (const PatchedEntry& entry : entries_) {
    const std::uint64_t offset = pc.value() - entry.at.value();
    if (offset >= std::uint64_t{entry.moved.skipped} + entry.moved.replaced) continue;
    const auto moved = entry.moved.moved_of(offset);
    if (!moved) return std::nullopt;
    return entry.code + *moved;
  }
  return std::nullopt;
}

std::optional<TraceeAddress> SiteWriter::original_place(TraceeAddress pc) const {
  const auto place = areas_.at(pc);
  const bool is_in_unit = place && place->kind == AreaKind::Entries;
  for (const PatchedEntry& entry : entries_) {
    if (entry.places.size() > 1 && pc == entry.places.back().at)
      return entry.at + entry.moved.skipped; // on its way
    const std::uint64_t offset = pc.value() - entry.code.value();
    if (is_in_unit && offset < entry.moved.code.size())
      return entry.at + entry.moved.original_of(offset);
  }
  return std::nullopt;
}

} // namespace sonictrace
