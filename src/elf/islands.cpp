#include "elf/islands.hpp"

#include <algorithm>
#include <cstdlib>

namespace sonictrace::elf {

Islands::Islands(const Image& image, CodeFrom code_from)
    : image_(image), code_from_(std::move(code_from)), bounds_(image),
      reader_(image.machine(), std::nullopt) {}

std::vector<EntryIsland> Islands::near(ElfAddress jump) {
  constexpr std::int64_t kFarthest = 128; // of a displacement of eight bits
  constexpr std::int64_t kPadding = 64;   // what there may be of it between two functions
  const ElfAddress next = jump + static_cast<std::int64_t>(size_of(EntryJump::Short));
  std::vector<EntryIsland> found;
  const auto take_from = [&](ElfAddress begin, std::span<const std::byte> padding) {
    for (std::size_t at = 0; at + kSize <= padding.size(); at += kSize) {
      const ElfAddress island = begin + static_cast<std::int64_t>(at);
      if (-kFarthest <= island - next && island - next < kFarthest)
        found.push_back({island, padding.subspan(at, kSize)});
    }
  };
  ElfAddress at = next + -(kFarthest + kPadding);
  if (next < at) at = ElfAddress(0); // wrapped
  const ElfAddress last = next + kFarthest;
  while (at < last) { // a malformed file has functions that end anywhere, but behind `at`
    const auto function = bounds_.find(at);
    if (function && at < function->end) {
      take_from(function->end, padding_behind(*function));
      at = function->end;
      continue;
    }
    const auto unknown = code_from_(at);
    at = at + std::max<std::int64_t>(1, static_cast<std::int64_t>(unknown.size()));
  }
  std::stable_sort(found.begin(), found.end(), [&](const EntryIsland& a, const EntryIsland& b) {
    return std::abs(a.at - next) < std::abs(b.at - next);
  });
  return found;
}

std::span<const std::byte> Islands::padding_behind(const FunctionRange& function) {
  const auto padding = code_from_(function.end + -1);
  if (padding.size() < 1 + kSize || !is_padding(padding.subspan(1))) return {};
  if (!ends_for_good(function)) return {};
  return padding.subspan(1);
}

/// Its last instruction ends where it does, and never goes on.
bool Islands::ends_for_good(const FunctionRange& function) {
  const auto size = static_cast<std::uint64_t>(function.end - function.begin);
  if (size > budget_) return false;
  budget_ -= size;
  const auto code = image_.bytes_at(function.begin, size);
  if (code.size() != size) return false;
  auto last = Flow::Next;
  for (std::size_t at = 0; at < size;) {
    const auto instruction =
        reader_.read(code.subspan(at), function.begin + static_cast<std::int64_t>(at));
    if (!instruction) return false;
    last = instruction->flow;
    at += instruction->size;
  }
  return last == Flow::Stop || last == Flow::Jump || last == Flow::IndirectJump;
}

bool Islands::is_padding(std::span<const std::byte> bytes) const {
  for (std::size_t at = 0; at < bytes.size();) {
    ZydisDecodedInstruction decoded;
    if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&reader_.decoder(), nullptr, bytes.data() + at,
                                                  bytes.size() - at, &decoded)) ||
        (decoded.mnemonic != ZYDIS_MNEMONIC_NOP && decoded.mnemonic != ZYDIS_MNEMONIC_INT3))
      return false;
    at += decoded.length;
  }
  return true;
}

} // namespace sonictrace::elf
