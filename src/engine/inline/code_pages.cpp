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
    Piece piece;
    piece.begin = begin;
    piece.bytes.resize(end.value() - begin.value());
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

void CodePages::mark(AddressRange place, Turn turn) {
  Piece* const piece = find(place);
  if (piece == nullptr) return;
  piece->is_changed = true;
  if (turn == Turn::First)
    piece->first.push_back(place);
  else if (page_of(place.begin()) != page_of(place.end() + -1))
    piece->across.push_back(place);
}

std::vector<CodePages::Failure> CodePages::write() const {
  std::vector<Failure> failures;
  for (const Piece& piece : pieces_) {
    if (!piece.is_changed) continue;
    if (auto done = write(piece); !done)
      failures.push_back({*AddressRange::make(piece.begin, piece.begin + static_cast<std::int64_t>(
                                                                             piece.bytes.size())),
                          std::move(done).error()});
  }
  return failures;
}

Result<void> CodePages::write(const Piece& piece) const {
  if (piece.first.empty() && piece.across.empty()) return write_by_pages(piece.begin, piece.bytes);
  std::vector<std::byte> now(piece.bytes.size());
  if (auto read = memory_.read(piece.begin, now); !read) return read;
  const auto copy = [&](const std::vector<std::byte>& from, std::vector<std::byte>& to,
                        const std::vector<AddressRange>& places) {
    for (const AddressRange& place : places) {
      const auto at = static_cast<std::ptrdiff_t>(place.begin().value() - piece.begin.value());
      std::copy_n(from.begin() + at, place.size(), to.begin() + at);
    }
  };
  if (!piece.first.empty()) {
    copy(piece.bytes, now, piece.first);
    if (auto done = write_by_pages(piece.begin, now); !done) return done;
  }
  auto almost = piece.bytes;
  copy(now, almost, piece.across);
  if (auto done = write_by_pages(piece.begin, almost); !done) return done;
  for (const AddressRange& place : piece.across) {
    const auto bytes =
        std::span(piece.bytes).subspan(place.begin().value() - piece.begin.value(), place.size());
    if (auto done = memory_.write_whole(place.begin(), bytes); !done) return done;
  }
  return {};
}

/// If this process is killed, pages are written to their end or not at all. The kernel takes what
/// it is given in pieces of a page's size from wherever that begins (fs/proc/base.c, mem_rw).
Result<void> CodePages::write_by_pages(TraceeAddress at, std::span<const std::byte> bytes) const {
  const std::size_t to_next = std::min<std::size_t>(kPage - at.value() % kPage, bytes.size());
  if (auto done = memory_.write(at, bytes.first(to_next)); !done) return done;
  return memory_.write(at + static_cast<std::int64_t>(to_next), bytes.subspan(to_next));
}

} // namespace sonictrace
