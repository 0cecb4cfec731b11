#include "elf/byte_scan.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <bit>
#include <cstring>
#include <optional>

namespace sonictrace::elf {
namespace {

constexpr std::size_t kTail = 6; ///< opcode, ModRM and displacement of the last one

#ifdef __SSE2__
constexpr std::size_t kBlock = 16; ///< bytes looked at together

/// A bit for each of kBlock pairs of bytes that may be an opcode with the ModRM of `disp32(%rip)`:
/// ff 15, ff 25, or 8b with 00rrr101.
unsigned candidates(const unsigned char* bytes) {
  const auto at = [bytes](std::size_t offset) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + offset));
  };
  const auto is = [](__m128i values, int wanted) {
    return _mm_cmpeq_epi8(values, _mm_set1_epi8(static_cast<char>(wanted)));
  };
  const __m128i opcode = at(0), modrm = at(1);
  const __m128i transfer =
      _mm_and_si128(is(opcode, 0xff), _mm_or_si128(is(modrm, 0x15), is(modrm, 0x25)));
  const __m128i is_rip = is(_mm_and_si128(modrm, _mm_set1_epi8(static_cast<char>(0xc7))), 0x05);
  const __m128i load = _mm_and_si128(is(opcode, 0x8b), is_rip);
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(transfer, load)));
}
#else
constexpr std::size_t kBlock = 1;
unsigned candidates(const unsigned char*) { return 1; }
#endif

std::optional<UseKind> kind_at(const unsigned char* bytes, std::size_t at) {
  if (bytes[at] == 0xff) {
    if (bytes[at + 1] == 0x15) return UseKind::Call;
    if (bytes[at + 1] == 0x25) return UseKind::Jump;
    return std::nullopt;
  }
  const bool is_load = bytes[at] == 0x8b && (bytes[at + 1] & 0xc7) == 0x05;
  // REX.W, with or without REX.R: a load of fewer than 8 bytes is no load of a pointer.
  if (is_load && at > 0 && (bytes[at - 1] & 0xfb) == 0x48) return UseKind::Load;
  return std::nullopt;
}

} // namespace

std::vector<SlotUse> find_slot_uses(std::span<const std::byte> code, ElfAddress begin,
                                    const SlotMap& slots) {
  std::vector<SlotUse> uses;
  if (code.size() < kTail) return uses;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(code.data());
  const std::size_t last = code.size() - kTail; // where an opcode byte can be at most

  const auto look_at = [&](std::size_t at) {
    const auto kind = kind_at(bytes, at);
    if (!kind) return;
    std::int32_t displacement;
    std::memcpy(&displacement, bytes + at + 2, sizeof displacement);
    const ElfAddress opcode_at = begin + static_cast<std::int64_t>(at);
    const ElfAddress slot = opcode_at + 6 + displacement;
    if (!slots.may_hold(slot)) return; // most are references to data
    if (const auto import = slots.find(slot)) uses.push_back({opcode_at, *import, *kind});
  };

  std::size_t at = 0;
  for (; at + kBlock <= last; at += kBlock)
    for (unsigned left = candidates(bytes + at); left != 0; left &= left - 1)
      look_at(at + static_cast<std::size_t>(std::countr_zero(left)));
  for (; at <= last; ++at)
    look_at(at);
  return uses;
}

} // namespace sonictrace::elf
