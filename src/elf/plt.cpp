#include "elf/plt.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "elf/headers.hpp"
#include "elf/sync.hpp"

namespace sonictrace::elf {
namespace {

bool by_address(const CallSite& a, const CallSite& b) { return a.at < b.at; }

std::string_view bytes_before(std::span<const std::byte> code, std::size_t at, std::size_t size) {
  if (at < size) return {};
  return {reinterpret_cast<const char*>(code.data()) + at - size, size};
}

std::string_view bytes_from(std::span<const std::byte> code, std::size_t at, std::size_t size) {
  const auto found = clip(code, at, size);
  return {reinterpret_cast<const char*>(found.data()), found.size()};
}

constexpr std::string_view kEndbr64 = "\xf3\x0f\x1e\xfa";

bool is_prefix(char byte) { return byte == '\xf2' || byte == '\x3e'; } // bnd, notrack

/// Whether the bytes around the jump with its opcode at `opcode` are those of a PLT entry.
bool looks_like_entry(std::span<const std::byte> code, std::size_t opcode) {
  // Lazily bound: `push $index; jmp PLT0` follows.
  const std::string_view after = bytes_from(code, opcode + 6, 6);
  if (after.size() == 6 && after[0] == '\x68' && after[5] == '\xe9') return true;
  // With indirect branch tracking: behind an endbr64, maybe with a prefix of its own.
  const std::string_view before = bytes_before(code, opcode, 5);
  return before.ends_with(kEndbr64) || (before.starts_with(kEndbr64) && is_prefix(before[4]));
}

/// Where the jump of what looks like a PLT entry begins: bytes of such a shape, which go through a
/// slot, are code, but the byte before may belong to it or not.
std::optional<ElfAddress> start_of_entry(const CodeReader& reader, std::span<const std::byte> code,
                                         ElfAddress begin, const SlotUse& use) {
  const auto opcode = static_cast<std::size_t>(use.opcode_at - begin);
  if (opcode == 0 || !is_prefix(bytes_before(code, opcode, 1)[0])) return use.opcode_at;
  if (bytes_before(code, opcode, 5).starts_with(kEndbr64)) return use.opcode_at + -1;
  return synchronized_start(reader, code, begin, use);
}

/// Jumps of a row are at most this far apart, and at least so many; bytes.
constexpr std::int64_t kWidestEntry = 32;
constexpr std::size_t kShortestRow = 3;

/// For each use, whether it is a jump in a row of jumps through different slots.
std::vector<bool> find_rows(const std::vector<SlotUse>& uses) {
  std::vector<bool> in_row(uses.size());
  for (std::size_t first = 0; first < uses.size();) {
    std::size_t end = first;
    while (end < uses.size() && uses[end].kind == UseKind::Jump &&
           (end == first || (uses[end].opcode_at - uses[end - 1].opcode_at <= kWidestEntry &&
                             uses[end].import != uses[end - 1].import)))
      ++end;
    if (end - first >= kShortestRow)
      std::fill(in_row.begin() + static_cast<std::ptrdiff_t>(first),
                in_row.begin() + static_cast<std::ptrdiff_t>(end), true);
    first = std::max(end, first + 1);
  }
  return in_row;
}

constexpr std::uint8_t kRetpolineLoad = 7; ///< bytes of `mov slot(%rip),%r11`

/// lld's `-z retpolineplt` has entries that jump through no slot:
///   4c 8b 1d rel32   mov slot(%rip),%r11
///   e8 rel32         call retpoline      (lazy), or
///   e9 rel32         jmp retpoline       (-z now)
/// The load is the place where the return address is on top of the stack.
std::optional<ElfAddress> slot_of_retpoline(std::span<const std::byte> code, std::size_t at,
                                            ElfAddress address) {
  constexpr std::string_view kLoad = "\x4c\x8b\x1d";
  const std::string_view bytes = bytes_from(code, at, kRetpolineLoad + 1);
  if (bytes.size() != kRetpolineLoad + 1 || !bytes.starts_with(kLoad)) return std::nullopt;
  if (bytes[kRetpolineLoad] != '\xe8' && bytes[kRetpolineLoad] != '\xe9') return std::nullopt;
  std::int32_t displacement = 0;
  std::memcpy(&displacement, bytes.data() + kLoad.size(), sizeof displacement);
  return address + (std::int64_t{kRetpolineLoad} + displacement);
}

} // namespace

bool is_plt_section(const Section& section) {
  return section.executable && (section.name.starts_with(".plt") || section.name == ".iplt");
}

std::vector<CallSite> find_plt_sites(std::span<const std::byte> code, ElfAddress begin,
                                     const CodeReader& reader, const SlotMap& slots) {
  std::vector<CallSite> sites;
  for (std::size_t at = 0; at < code.size();) {
    const ElfAddress address = begin + static_cast<std::int64_t>(at);
    const auto instruction = reader.read(code.subspan(at), address);
    if (!instruction) { // not what any linker writes; fall into step again
      ++at;
      continue;
    }
    if (const auto loaded = slot_of_retpoline(code, at, address))
      if (const auto import = slots.find(*loaded))
        sites.push_back({address, *import, kRetpolineLoad, SiteKind::Jump, true});
    at += instruction->size;
    if (!instruction->slot) continue;
    const auto import = slots.find(*instruction->slot);
    if (!import) continue; // PLT0, which goes to the dynamic linker
    const SiteKind kind = instruction->flow == Flow::IndirectJump ? SiteKind::Jump : SiteKind::Call;
    sites.push_back({address, *import, instruction->size, kind, true});
  }
  return sites;
}

std::vector<CallSite> take_plt_like_sites(std::vector<SlotUse>& uses,
                                          std::span<const std::byte> code, ElfAddress begin,
                                          const CodeReader& reader) {
  std::vector<CallSite> sites;
  std::vector<SlotUse> others;
  const std::vector<bool> in_row = find_rows(uses);
  for (std::size_t index = 0; index < uses.size(); ++index) {
    const SlotUse& use = uses[index];
    const auto opcode = static_cast<std::size_t>(use.opcode_at - begin);
    const bool like_plt =
        use.kind == UseKind::Jump && (in_row[index] || looks_like_entry(code, opcode));
    const auto start =
        like_plt ? start_of_entry(reader, code, begin, use) : std::optional<ElfAddress>();
    if (!start) {
      others.push_back(use);
      continue;
    }
    sites.push_back(
        {*start, use.import, static_cast<std::uint8_t>(use.end() - *start), SiteKind::Jump, true});
  }
  std::sort(sites.begin(), sites.end(), by_address);
  uses = std::move(others);
  return sites;
}

} // namespace sonictrace::elf
