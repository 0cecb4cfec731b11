#include "engine/inline/words_plan.hpp"

#include <algorithm>
#include <utility>

namespace sonictrace {
namespace {

/// Nothing can be read behind any pointer.
struct NoMemory {
  std::size_t read(std::uint64_t, std::byte*, std::size_t) { return 0; }
};

} // namespace

WordsPlan::WordsPlan(std::span<const wire::CaptureOp> ops, std::size_t room)
    : ops_(ops), room_(room) {
  std::size_t size = 0;
  for (const auto& op : ops) {
    if (op.kind == wire::CaptureKind::Nothing && op.body == 0) continue;
    if (op.kind != wire::CaptureKind::Value || op.body != 0 || op.size == 0) {
      needed_ = kMostWords + 1;
      steps_.clear();
      break;
    }
    steps_.push_back({{op.size, wire::FieldState::Whole, 0}, op.offset, op.size});
    const std::size_t copied = (std::size_t{op.size} + 7) / 8 * 8;
    needed_ = std::max(needed_, op.offset + copied);
    size += sizeof(wire::FieldHeader) + op.size;
  }
  room_ = std::max(room_, size);
  const auto is_next_word = [at = std::uint32_t{0}](const Step& step) mutable {
    constexpr std::uint32_t kWord = sizeof(std::uint64_t);
    return step.size == kWord && step.offset == std::exchange(at, at + kWord);
  };
  if (std::all_of(steps_.begin(), steps_.end(), is_next_word))
    whole_words_ = static_cast<std::uint32_t>(steps_.size());
}

std::size_t WordsPlan::interpret(const std::byte* words, std::size_t size, std::byte* out) const {
  std::uint64_t copy[kMostWords / 8];
  std::memcpy(copy, words, size);
  asm volatile("" : : : "memory"); // from here on the copy is looked at, and nothing else
  wire::CallWords call;
  call.words = copy;
  call.size = static_cast<std::uint32_t>(size);
  NoMemory memory;
  return wire::run_capture(ops_.data(), ops_.size(), call, memory, out, room_);
}

} // namespace sonictrace
