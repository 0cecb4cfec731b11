#include "engine/inline/record_maker.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "engine/inline/recorded_stacks.hpp"
#include "engine/inline/shared_memory.hpp"
#include "engine/python_frames.hpp"
#include "sonictrace/wire/agent_abi.hpp"

namespace sonictrace {
namespace {

using wire::RecordHeader;
using wire::RecordKind;
using wire::RingKind;

/// Captured bytes of one end of a call: fields, or words that these are made from.
struct Part {
  const std::byte* bytes;
  std::size_t size;
  const WordsPlan* words; ///< null: they are fields
  std::uint32_t readable; ///< of words, a bit for each that leads somewhere

  bool is_sound() const { return words == nullptr || size <= WordsPlan::kMostWords; }
  std::size_t room() const { return words == nullptr ? size : words->room(); }
  std::size_t put(std::byte* to) const {
    if (words != nullptr) return words->expand(bytes, size, readable, to);
    if (size != 0) std::memcpy(to, bytes, size);
    return size;
  }
};

/// A RingRecord's fields, each of its words read once: all that is looked at twice.
struct HeaderWords {
  explicit HeaderWords(const wire::RingRecord& record)
      : time(word(record, 1)), begin(word(record, 2)), ticks(word(record, 3)),
        where(word(record, 4)) {
    const std::uint64_t ids = word(record, 5), sizes = word(record, 6);
    function = static_cast<std::uint32_t>(ids);
    call = static_cast<std::uint32_t>(ids >> 32);
    depth = static_cast<std::uint16_t>(sizes);
    flags = static_cast<std::uint8_t>(sizes >> 16);
    readable_words = static_cast<std::uint8_t>(sizes >> 24);
    entry_size = static_cast<std::uint32_t>(sizes >> 32);
    const std::uint64_t last = word(record, 7);
    result_size = static_cast<std::uint32_t>(last);
    stack_size = static_cast<std::uint32_t>(last >> 32);
  }
  std::uint64_t time, begin, ticks, where;
  std::uint32_t function, call, entry_size, result_size, stack_size;
  std::uint16_t depth;
  std::uint8_t flags, readable_words;

private:
  static std::uint64_t word(const wire::RingRecord& record, std::size_t index) {
    return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(&record) + index,
                           __ATOMIC_RELAXED);
  }
  static_assert(offsetof(wire::RingRecord, time) == 8 && offsetof(wire::RingRecord, begin) == 16 &&
                offsetof(wire::RingRecord, ticks) == 24 &&
                offsetof(wire::RingRecord, where) == 32 &&
                offsetof(wire::RingRecord, function) == 40 &&
                offsetof(wire::RingRecord, call) == 44 && offsetof(wire::RingRecord, depth) == 48 &&
                offsetof(wire::RingRecord, flags) == 50 &&
                offsetof(wire::RingRecord, readable_words) == 51 &&
                offsetof(wire::RingRecord, entry_size) == 52 &&
                offsetof(wire::RingRecord, result_size) == 56 &&
                offsetof(wire::RingRecord, stack_size) == 60);
};

constexpr std::size_t rounded(std::size_t size) { return (size + 7) / 8 * 8; }

/// Where a call was made.
struct Frames {
  std::optional<std::uint32_t> python;
  std::span<const std::uint32_t> stack;
  bool are_asked_for = false;

  std::size_t count() const { return stack.size() + (python ? 1 : 0); }
};

void put_frames(RecordHeader header, const Frames& frames, BatchWriter& out) {
  header.flags = header.kind == RecordKind::Call ? wire::kFramesOfNext : std::uint8_t{0};
  header.kind = RecordKind::Frames;
  header.detail = frames.count();
  const std::size_t size = frames.count() * sizeof(std::uint32_t);
  std::byte* to = out.reserve(sizeof header + size) + sizeof header;
  if (frames.python) {
    std::memcpy(to, &*frames.python, sizeof *frames.python);
    to += sizeof *frames.python;
  }
  if (!frames.stack.empty()) std::memcpy(to, frames.stack.data(), frames.stack.size_bytes());
  out.commit(header, size);
}

/// Its record is as large as it says; the process may change it meanwhile.
void learn_python_code(PythonCodes& codes, const std::byte* payload, std::size_t size) {
  std::vector<std::byte> copy(size);
  copy_shared(copy.data(), payload, size);
  codes.learn(copy);
}

} // namespace

bool RecordMaker::write(const wire::RingRecord& record, RingKind kind, std::size_t size,
                        const RecordSource& source, std::uint64_t now, BatchWriter& out) const {
  const auto* const payload = reinterpret_cast<const std::byte*>(&record + 1);
  if (kind == RingKind::PythonCode) [[unlikely]] {
    if (source.python != nullptr) learn_python_code(*source.python, payload, size);
    return true;
  }
  const HeaderWords header(record);
  const KnownFunction* const function = functions_.find(header.function);
  if (function == nullptr) [[unlikely]]
    return false;
  const std::size_t entry_size = header.entry_size;
  const std::size_t result_at = rounded(entry_size);
  if (result_at > size || header.result_size > size - result_at) [[unlikely]]
    return false;
  Frames frames;
  const bool has_python = (header.flags & wire::kRingPython) != 0;
  if (header.stack_size != 0 || has_python) [[unlikely]] {
    std::size_t behind = result_at + rounded(header.result_size);
    if (has_python) {
      wire::RingPython place;
      if (behind > size || size - behind < sizeof place) return false;
      copy_shared(&place, payload + behind, sizeof place);
      behind += sizeof place;
      if (source.python != nullptr && python_ != nullptr)
        frames.python = source.python->frame_at(place, *python_);
    }
    if (behind > size || header.stack_size > size - behind) return false;
    if (stacks_ != nullptr && header.stack_size != 0)
      frames.stack = stacks_->frames_of(*source.arena, TraceeAddress(header.where),
                                        {payload + behind, header.stack_size});
    frames.are_asked_for = header.stack_size != 0 || frames.python;
  }
  const Part entry = {payload, entry_size,
                      (header.flags & wire::kRingEntryWords) != 0 ? &function->entry : nullptr,
                      header.readable_words & wire::kProbedOfEntry};
  const Part result = {payload + result_at, header.result_size,
                       (header.flags & wire::kRingResultWords) != 0 ? &function->leave : nullptr,
                       std::uint32_t{header.readable_words} >> wire::kProbedResultsAt};
  if (!entry.is_sound() || !result.is_sound()) [[unlikely]]
    return false;

  const std::uint64_t time = std::min(header.time, now);
  RecordHeader made = {};
  made.depth = std::max<std::uint16_t>(header.depth, 1);
  made.function = header.function;
  made.thread = source.thread;
  switch (kind) {
    [[likely]] case RingKind::Call : {
      const bool unwound = (header.flags & wire::kRingUnwound) != 0;
      const bool unknown = (header.flags & wire::kRingResultUnknown) != 0;
      const std::uint64_t begin = std::min(header.begin, time);
      made.kind = RecordKind::Call;
      made.flags = static_cast<std::uint8_t>((unwound ? wire::kCallUnwound : 0) |
                                             (unknown ? wire::kCallResultUnknown : 0));
      made.call = header.where;
      made.time_ns = clock_.realtime_ns(begin);
      made.detail = unknown ? 0 : clock_.duration_ns(std::min(header.ticks, time - begin));
      if (frames.count() != 0) put_frames(made, frames, out);
      std::byte* const to =
          out.reserve(sizeof made + sizeof(wire::CallPayload) + entry.room() + result.room()) +
          sizeof made;
      wire::CallPayload head;
      std::size_t used = entry.put(to + sizeof head);
      head.entry_size = static_cast<std::uint32_t>(used);
      std::memcpy(to, &head, sizeof head);
      used += sizeof head;
      if (!unwound && !unknown) used += result.put(to + used);
      out.commit(made, used);
      return true;
    }
    case RingKind::Enter: {
      made.kind = RecordKind::Enter;
      made.call = source.numbers.own_call(header.call);
      made.time_ns = clock_.realtime_ns(time);
      made.detail = header.where;
      std::byte* const to = out.reserve(sizeof made + entry.room());
      out.commit(made, entry.put(to + sizeof made));
      if (frames.are_asked_for) put_frames(made, frames, out);
      return true;
    }
    case RingKind::Return:
    case RingKind::Unwound: {
      const bool is_return = kind == RingKind::Return;
      const bool inherited = (header.flags & wire::kRingInherited) != 0;
      made.kind = is_return ? RecordKind::Return : RecordKind::Unwound;
      made.call = inherited ? source.numbers.inherited_call(header.call)
                            : source.numbers.own_call(header.call);
      made.time_ns = clock_.realtime_ns(time);
      made.detail = clock_.duration_ns(std::min(header.ticks, time));
      std::byte* const to = out.reserve(sizeof made + result.room());
      out.commit(made, is_return ? result.put(to + sizeof made) : 0);
      return true;
    }
    case RingKind::Thread:
    case RingKind::PythonCode:
    case RingKind::Pad: break;
  }
  return false;
}

} // namespace sonictrace
