#include "engine/inline/code_pages.hpp"

#include <algorithm>

namespace sonictrace {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t page_of(TraceeAddress address) { return address.value() / kPage; }

} // namespace

CodePages::CodePages(const TraceeMemory& memory, std::span<const AddressRange> places)
    : memory_(memory) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 20; // bytes, give or take a place
  for (std::size_t first = 0; first < places.size();) {
    const TraceeAddress begin = places[first].begin();
    TraceeAddress end = places[first].end();
    std::size_t next = first + 1;
    while (next < places.size() && page_of(places[next].begin()) <= page_of(end) + 1 &&
           places[next].begin().value() - begin.value() < kLargest)
      end = std::max(end, places[next++].end());
    Piece piece{begin, std::vector<std::byte>(end.value() - begin.value())};
    if (!memory_.read(begin, piece.bytes)) piece.bytes.clear();
    pieces_.push_back(std::move(piece));
    first = next;
  }
}

CodePages::Piece* CodePages::find(AddressRange place) {
  const auto holds = [&](const Piece& piece) {
    return place.begin() >= piece.begin &&
           place.end().value() - piece.begin.value() <= piece.bytes.size();
  };
  if (last_ < pieces_.size() && holds(pieces_[last_])) return &pieces_[last_];
  // Where places overlap, a piece may begin within the one before it.
  auto above = std::upper_bound(
      pieces_.begin(), pieces_.end(), place.begin(),
      [](TraceeAddress address, const Piece& piece) { return address < piece.begin; });
  if (above == pieces_.begin()) return nullptr;
  --above;
  if (!holds(*above)) return nullptr;
  last_ = static_cast<std::size_t>(above - pieces_.begin());
  return &*above;
}

std::span<std::byte> CodePages::at(AddressRange place) {
  Piece* const piece = find(place);
  if (piece == nullptr) return {};
  return std::span(piece->bytes)
      .subspan(place.begin().value() - piece->begin.value(), place.size());
}

void CodePages::mark(AddressRange place) {
  if (Piece* const piece = find(place)) piece->is_changed = true;
}

std::vector<CodePages::Failure> CodePages::write() const {
  std::vector<Failure> failures;
  for (const Piece& piece : pieces_) {
    if (!piece.is_changed) continue;
    if (auto done = memory_.write(piece.begin, piece.bytes); !done)
      failures.push_back({*AddressRange::make(piece.begin, piece.begin + static_cast<std::int64_t>(
                                                                             piece.bytes.size())),
                          std::move(done).error()});
  }
  return failures;
}

} // namespace sonictrace
