#include "sonictrace/report/gaps.hpp"

#include <algorithm>

namespace sonictrace::report {
namespace {

constexpr std::size_t kMostInside = 65'536; ///< calls of a gap that are kept one by one

} // namespace

std::uint64_t Gap::untraced_ns() const {
  std::uint64_t traced = 0;
  for (const auto& part : parts)
    traced += part.self_ns;
  return length_ns() - std::min(length_ns(), traced);
}

void GapPairs::add_from(const GapEdge& end, const Found& found) {
  if (pending_.size() >= most_) settle(most_ / 2, found);
  auto place = pending_.end();
  while (place != pending_.begin() && std::prev(place)->from.time_ns > end.time_ns)
    --place; // two threads' lines are in the order of time but for a little
  Pending pending;
  pending.from = end;
  if (place != pending_.end() && place->has_to) {
    pending.to = place->to;
    pending.has_to = true;
  }
  pending_.insert(place, pending);
}

void GapPairs::add_to(const GapEdge& begin) {
  for (auto one = pending_.rbegin(); one != pending_.rend(); ++one) {
    if (one->from.time_ns > begin.time_ns) continue; // ended inside of it
    // Those before have no later one.
    if (one->has_to && one->to.time_ns <= begin.time_ns) return;
    one->to = begin;
    one->has_to = true;
  }
}

void GapPairs::settle(std::size_t count, const Found& found) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto& one = pending_[i];
    if (!one.has_to) {
      ++given_up_;
      continue;
    }
    const bool is_last = i + 1 == pending_.size() || !pending_[i + 1].has_to ||
                         pending_[i + 1].to.line != one.to.line ||
                         pending_[i + 1].to.time_ns != one.to.time_ns;
    if (is_last || pairing_ == GapPairing::Each) found(one.from, one.to);
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count));
}

GapFinder::Role GapFinder::role_of(log::FunctionId function) {
  if (function >= roles_.size()) roles_.resize(functions_.size(), kUnknown);
  Role& role = roles_[function];
  if (role == kUnknown) {
    const auto& name = functions_[function].name;
    const bool is_from = options_.from.matches(name);
    const bool is_to = options_.to.matches(name);
    role = is_from && is_to ? kBoth : is_from ? kFrom : is_to ? kTo : kNone;
  }
  return role;
}

GapPairs& GapFinder::pairs_of(std::uint32_t tid) {
  return pairs_
      .try_emplace(options_.any_thread ? log::kNoTid : tid, options_.pairing,
                   options_.any_thread ? 65'536 : 4096)
      .first->second;
}

void GapFinder::found(const GapEdge& from, const GapEdge& to) {
  Gap gap;
  gap.from = from;
  gap.to = to;
  gap.from_name = functions_[from.function].name;
  gap.to_name = functions_[to.function].name;
  lengths_.add(gap.length_ns());
  longest_.add(std::move(gap));
}

void GapFinder::on_call(const log::Call& call) {
  const Role role = role_of(call.function);
  if (role == kNone || call.entry_ns == log::kNoTime || !filter_.accepts(call, functions_)) return;
  GapPairs& pairs = pairs_of(call.tid);
  if (role == kTo || role == kBoth) {
    ++to_calls_;
    pairs.add_to({call.entry_ns, call.tid, call.function, call.line});
  }
  if (role == kTo) return;
  ++from_calls_;
  if (!call.has_duration()) {
    ++untimed_;
    return;
  }
  pairs.add_from({call.end_ns(), call.tid, call.function, call.line},
                 [this](const GapEdge& from, const GapEdge& to) { found(from, to); });
}

void GapFinder::on_begin(const log::Call& call) {
  const Role role = role_of(call.function);
  if ((role != kTo && role != kBoth) || call.entry_ns == log::kNoTime) return;
  // Its end tells it once more, with the same time; a filter may depend on its duration.
  if (!filter_.accepts_all()) return;
  pairs_of(call.tid).add_to({call.entry_ns, call.tid, call.function, call.line});
}

void GapFinder::on_event(const log::Event& event) {
  if (event.kind != log::LineKind::Exited || options_.any_thread) return;
  const auto ended = pairs_.find(event.tid);
  if (ended == pairs_.end()) return;
  given_up_ += ended->second.given_up();
  ended->second.finish([this](const GapEdge& from, const GapEdge& to) { found(from, to); });
  pairs_.erase(ended); // its number may be another one's next
}

void GapFinder::finish() {
  for (auto& [tid, pairs] : pairs_) {
    given_up_ += pairs.given_up(); // not those that are merely the last ones
    pairs.finish([this](const GapEdge& from, const GapEdge& to) { found(from, to); });
  }
  pairs_.clear();
}

GapContents::GapContents(std::vector<Gap>& gaps, const log::FunctionTable& functions)
    : functions_(functions) {
  for (auto& gap : gaps) {
    gap.has_parts = true;
    by_thread_[gap.to.tid].push_back({&gap, {}, {}, 0});
  }
  for (auto& [tid, contents] : by_thread_)
    std::sort(contents.begin(), contents.end(), [](const Content& a, const Content& b) {
      if (a.gap->to.time_ns != b.gap->to.time_ns) return a.gap->to.time_ns < b.gap->to.time_ns;
      return a.gap->from.time_ns < b.gap->from.time_ns;
    });
}

void GapContents::on_call(const log::Call& call) {
  if (!call.has_duration() || call.entry_ns == log::kNoTime) return;
  const auto of_thread = by_thread_.find(call.tid);
  if (of_thread == by_thread_.end()) return;
  auto& contents = of_thread->second;
  // Gaps that end later do not begin earlier.
  auto one = std::partition_point(contents.begin(), contents.end(), [&](const Content& content) {
    return content.gap->to.time_ns <= call.entry_ns;
  });
  for (; one != contents.end() && one->gap->from.time_ns < call.end_ns(); ++one)
    add(*one, call);
}

/// Calls of one thread come in the order of their ends.
void GapContents::add(Content& content, const log::Call& call) {
  const std::uint64_t from = content.gap->from.time_ns;
  const std::uint64_t to = content.gap->to.time_ns;
  std::uint64_t self = call.self_ns;
  if (call.entry_ns < from) {
    if (call.end_ns() > to) return; // the gap is inside of it
    // Began before, and ended in the gap: all that was seen in the gap so far is inside of it.
    const std::uint64_t overlap = call.end_ns() - from;
    self = overlap - std::min(overlap, content.total_ns);
  } else if (call.end_ns() > to) {
    // Began in the gap, and the `to` call is inside of it.
    const std::uint64_t overlap = to - call.entry_ns;
    std::uint64_t inside = 0;
    for (const auto& other : content.calls)
      inside += other.entry_ns >= call.entry_ns ? other.self_ns : 0;
    self = overlap - std::min(overlap, inside);
  }
  if (content.calls.size() < kMostInside) content.calls.push_back({call.entry_ns, self});
  content.total_ns += self;
  auto& part = content.parts[call.function];
  ++part.calls;
  part.self_ns += self;
}

void GapContents::finish() {
  for (auto& [tid, contents] : by_thread_)
    for (auto& content : contents) {
      for (auto& [function, part] : content.parts) {
        part.function = functions_[function].name;
        content.gap->parts.push_back(std::move(part));
      }
      std::sort(content.gap->parts.begin(), content.gap->parts.end(),
                [](const GapPart& a, const GapPart& b) {
                  if (a.self_ns != b.self_ns) return a.self_ns > b.self_ns;
                  return a.function < b.function;
                });
    }
}

} // namespace sonictrace::report
