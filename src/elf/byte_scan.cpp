#include "elf/byte_scan.hpp"

#include <cstring>
#include <optional>

namespace sonictrace::elf {
namespace {

constexpr std::size_t kBlock = 64; ///< bytes looked at together
constexpr std::size_t kTail = 6;   ///< opcode, ModRM and displacement of the last one

/// Whether one of kBlock pairs of bytes may be an opcode with the ModRM of `disp32(%rip)`. Without
/// a branch, and of a fixed length, so that compilers turn it into vector code.
bool may_hold_use(const unsigned char* bytes) {
  unsigned char any = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const unsigned char opcode = bytes[i];
    const unsigned char modrm = bytes[i + 1];
    const bool transfer = (opcode == 0xff) & ((modrm == 0x15) | (modrm == 0x25));
    const bool load = (opcode == 0x8b) & ((modrm & 0xc7) == 0x05);
    any = static_cast<unsigned char>(any | (transfer | load));
  }
  return any != 0;
}

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
    if (const auto import = slots.find(opcode_at + 6 + displacement))
      uses.push_back({opcode_at, *import, *kind});
  };

  std::size_t at = 0;
  for (; at + kBlock <= last; at += kBlock) {
    if (!may_hold_use(bytes + at)) continue;
    for (std::size_t i = 0; i < kBlock; ++i)
      look_at(at + i);
  }
  for (; at <= last; ++at)
    look_at(at);
  return uses;
}

} // namespace sonictrace::elf
