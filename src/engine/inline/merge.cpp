#include "engine/inline/merge.hpp"

#include <algorithm>

namespace sonictrace {
namespace {

// std::push_heap and the like have the greatest in front.
constexpr auto is_later = [](const auto& a, const auto& b) { return a.time > b.time; };

} // namespace

void Merge::gather(std::uint64_t until) {
  heap_.clear();
  for (RingReader* const reader : readers_)
    if (reader->state() == RingReader::State::Ready && reader->time() < until)
      heap_.push_back({reader->time(), reader});
  std::make_heap(heap_.begin(), heap_.end(), is_later);
}

RingReader* Merge::take_first() {
  std::pop_heap(heap_.begin(), heap_.end(), is_later);
  RingReader* const first = heap_.back().reader;
  heap_.pop_back();
  return first;
}

void Merge::put_back(RingReader& reader) {
  heap_.push_back({reader.time(), &reader});
  std::push_heap(heap_.begin(), heap_.end(), is_later);
}

std::uint64_t Merge::next_time() const {
  std::uint64_t next = kNever;
  for (const RingReader* const reader : readers_)
    if (reader->state() == RingReader::State::Ready) next = std::min(next, reader->time());
  return next;
}

} // namespace sonictrace
