#include "elf/entry_references.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>

#include "elf/dynamic.hpp"
#include "elf/records.hpp"

namespace sonictrace::elf {
namespace {

constexpr std::int64_t kShortJump = 2; ///< bytes: opcode, displacement
constexpr std::int64_t kLongJump = 5;  ///< opcode (its last byte), displacement
constexpr std::int64_t kWord = 8;

std::int32_t displacement_at(std::span<const std::byte> code, std::size_t at) {
  std::int32_t displacement;
  std::memcpy(&displacement, code.data() + at, sizeof displacement);
  return displacement;
}

/// e8 (call), e9 (jmp), 0f 80 to 0f 8f (jcc): the opcode byte before the displacement.
bool begins_long_jump(unsigned char before, unsigned char opcode) {
  return (opcode & 0xfe) == 0xe8 || ((opcode & 0xf0) == 0x80 && before == 0x0f);
}

/// A bit for each of kBlock bytes that begins one; the byte before them is looked at too. There may
/// be a hundred million bytes.
#ifdef __SSE2__
constexpr std::int64_t kBlock = 16;
unsigned long_jumps_in_block(const unsigned char* bytes) {
  const auto is = [](__m128i values, int wanted) {
    return _mm_cmpeq_epi8(values, _mm_set1_epi8(static_cast<char>(wanted)));
  };
  const auto masked = [](__m128i values, int mask) {
    return _mm_and_si128(values, _mm_set1_epi8(static_cast<char>(mask)));
  };
  const __m128i opcode = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  const __m128i before = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes - 1));
  const __m128i jcc = _mm_and_si128(is(masked(opcode, 0xf0), 0x80), is(before, 0x0f));
  return static_cast<unsigned>(
      _mm_movemask_epi8(_mm_or_si128(is(masked(opcode, 0xfe), 0xe8), jcc)));
}
#else
constexpr std::int64_t kBlock = 1;
unsigned long_jumps_in_block(const unsigned char* bytes) {
  return begins_long_jump(bytes[-1], bytes[0]) ? 1 : 0;
}
#endif

/// jcc, loop and jrcxz, jmp.
bool is_short_jump(std::byte opcode) {
  const auto value = static_cast<std::uint8_t>(opcode);
  return (value & 0xf0) == 0x70 || (value & 0xfc) == 0xe0 || value == 0xeb;
}

/// `jmp *%register`, `jmp *memory`, but not `jmp *slot(%rip)`: one that may go through a jump
/// table. In bytes that look like it, too.
bool may_jump_by_table(std::span<const std::byte> code) {
  for (std::size_t at = 0; at + 1 < code.size(); ++at) {
    if (code[at] != std::byte{0xff}) continue;
    const auto modrm = static_cast<std::uint8_t>(code[at + 1]);
    if ((modrm & 0x38) == 0x20 && modrm != 0x25) return true;
  }
  return false;
}

} // namespace

EntryReferences::EntryReferences(const Image& image, std::span<const CodeArea> areas,
                                 GuardedBytes& guarded)
    : image_(image), areas_(areas), guarded_(guarded), bounds_(image),
      reader_(image.machine(), std::nullopt), table_budget_(std::uint64_t{1} << 26),
      code_budget_(std::uint64_t{1} << 24) {
  for (const CodeArea& area : areas)
    code_budget_ += 16 * std::uint64_t{area.code.size()};
}

void EntryReferences::scan_long_jumps() {
  for (const CodeArea& area : areas_)
    scan_long_jumps(area.code, area.begin);
}

void EntryReferences::scan_long_jumps(std::span<const std::byte> code, ElfAddress begin) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(code.data());
  const auto look_at = [&](std::size_t at) {
    const ElfAddress target =
        begin + (static_cast<std::int64_t>(at) + kLongJump + displacement_at(code, at + 1));
    if (guarded_.may_hold(target) && guarded_.holds(target) &&
        may_be(begin + static_cast<std::int64_t>(at) + 1, {Field::LongBranch}))
      guarded_.led_to(target, "a jump leads into its first bytes");
  };
  const auto last = static_cast<std::int64_t>(code.size()) - kLongJump;
  std::int64_t at = 0;
  if (last >= 0 && begins_long_jump(0, bytes[0])) look_at(0);
  // A block may not reach beyond the last byte that could be an opcode, nor begin with the first of
  // all, which has none before it.
  for (at = 1; at + kBlock - 1 <= last; at += kBlock)
    for (unsigned left = long_jumps_in_block(bytes + at); left != 0; left &= left - 1)
      look_at(static_cast<std::size_t>(at) + static_cast<std::size_t>(std::countr_zero(left)));
  for (; at <= last; ++at)
    if (begins_long_jump(bytes[at - 1], bytes[at])) look_at(static_cast<std::size_t>(at));
}

void EntryReferences::scan_short_jumps() {
  for (const GuardedBytes::Range& range : guarded_.ranges())
    scan_short_jumps(range);
}

void EntryReferences::scan_short_jumps(const GuardedBytes::Range& range) {
  constexpr std::int64_t kReach = 128;
  const CodeArea* const area = find_area(areas_, range.begin);
  if (area == nullptr) return;
  const std::int64_t begin = range.begin - area->begin, end = range.end - area->begin;
  const auto size = static_cast<std::int64_t>(area->code.size());
  const std::int64_t last = std::min(size - kShortJump, end - kShortJump + kReach);
  for (std::int64_t at = std::max<std::int64_t>(0, begin - kShortJump - kReach); at <= last; ++at) {
    const auto index = static_cast<std::size_t>(at);
    if (!is_short_jump(area->code[index])) continue;
    const std::int64_t target = at + kShortJump + static_cast<std::int8_t>(area->code[index + 1]);
    if (target < begin || end <= target || guarded_.is_refused(range.index)) continue;
    if (may_be(area->begin + at + 1, {Field::ShortBranch}))
      guarded_.refuse(range.index, "a jump leads into its first bytes");
  }
}

/// What the bytes at `address` are, by decoding from where their function is known to begin.
EntryReferences::Field EntryReferences::field_at(ElfAddress address) {
  const auto function = bounds_.find(address);
  if (!function) return Field::Unknown;
  const ElfAddress begin = function->begin;
  const auto code = image_.bytes_at(begin, static_cast<std::size_t>(function->end - begin));
  const auto wanted = static_cast<std::size_t>(address - begin);
  if (!afford(wanted)) return Field::Unknown;
  for (std::size_t at = 0; at < code.size();) {
    ZydisDecodedInstruction decoded;
    if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&reader_.decoder(), nullptr, code.data() + at,
                                                  code.size() - at, &decoded)))
      return Field::Unknown;
    const std::size_t offset = wanted - at;
    at += decoded.length;
    if (offset >= decoded.length) continue;
    const auto& [disp, imm] = std::tie(decoded.raw.disp, decoded.raw.imm[0]);
    if (imm.size != 0 && offset == imm.offset) {
      if (imm.is_relative == 0) return Field::Other;
      return imm.size == 8 ? Field::ShortBranch : Field::LongBranch;
    }
    if (disp.size == 0 || offset != disp.offset) return Field::None;
    const bool is_rip_relative = decoded.raw.modrm.mod == 0 && decoded.raw.modrm.rm == 5;
    return is_rip_relative ? Field::RipRelative : Field::Other;
  }
  return Field::Unknown;
}

bool EntryReferences::may_be(ElfAddress address, std::initializer_list<Field> wanted) {
  const Field field = field_at(address);
  return field == Field::Unknown || std::find(wanted.begin(), wanted.end(), field) != wanted.end();
}

void EntryReferences::scan_relocations() {
  const char* const why = "a relocation has an address in its first bytes";
  const DynamicInfo& dynamic = image_.dynamic_info();
  const Records records(image_.machine() == Machine::X86_64);
  for (const RelocationTable& table : dynamic.relocations)
    for (std::size_t index = 0; table.with_addend; ++index) {
      const auto relocation = records.relocation(table.entries, index, true);
      if (!relocation) break;
      if (ELF64_R_TYPE(relocation->r_info) == R_X86_64_RELATIVE)
        guarded_.led_to(ElfAddress(static_cast<std::uint64_t>(relocation->r_addend)), why);
    }
  // DT_RELR: an address, then bitmaps of 63 words each behind it (gABI, "Relative Relocation
  // Table").
  ElfAddress next;
  const auto look_at = [&](ElfAddress place) {
    if (const auto value = Records::value<std::uint64_t>(image_.bytes_at(place, 8), 0))
      guarded_.led_to(ElfAddress(*value), why);
  };
  for (std::size_t offset = 0;; offset += kWord) {
    const auto entry = Records::value<std::uint64_t>(dynamic.packed_relocations, offset);
    if (!entry) return;
    if ((*entry & 1) == 0) {
      look_at(ElfAddress(*entry));
      next = ElfAddress(*entry) + kWord;
      continue;
    }
    for (int bit = 1; bit < 64; ++bit)
      if ((*entry >> bit & 1) != 0) look_at(next + (bit - 1) * kWord);
    next = next + 63 * kWord;
  }
}

void EntryReferences::scan_own_code() {
  for (const GuardedBytes::Range& range : guarded_.ranges())
    if (!guarded_.is_refused(range.index)) scan_own_code(range);
}

void EntryReferences::scan_own_code(const GuardedBytes::Range& range) {
  const auto function = bounds_.find(range.begin);
  if (!function) return;
  const auto code =
      image_.bytes_at(function->begin, static_cast<std::size_t>(function->end - function->begin));
  if (!afford(code.size()))
    return guarded_.refuse(range.index,
                           "too much code to look for what leads into its first bytes");
  const bool has_table_jump = may_jump_by_table(code);
  for (std::size_t at = 0; at + 4 <= code.size(); ++at) {
    const std::int32_t displacement = displacement_at(code, at);
    const ElfAddress field = function->begin + static_cast<std::int64_t>(at);
    const ElfAddress target = field + 4 + displacement;
    if (range.begin <= target && target < range.end &&
        may_be(field, {Field::LongBranch, Field::RipRelative}))
      return guarded_.refuse(range.index, "its code refers to its first bytes");
    if (!has_table_jump) continue;
    // Code at a fixed address may have the table's address in the instruction.
    const ElfAddress address(static_cast<std::uint32_t>(displacement));
    const bool is_fixed = !image_.is_shared_object();
    if ((has_offset_into(target, range) ||
         (is_fixed && (has_offset_into(address, range) || has_address_into(address, range)))) &&
        may_be(field, {Field::RipRelative, Field::Other}))
      return guarded_.refuse(range.index, "a jump table leads into its first bytes");
  }
}

/// Whether there is a table of distances from itself, as compilers write it for
/// position-independent code.
bool EntryReferences::has_offset_into(ElfAddress table, const GuardedBytes::Range& range) {
  if (!is_data(table)) return false;
  const auto entries = image_.bytes_at(table, ~std::size_t{0});
  for (std::size_t at = 0; table_budget_ > 0; at += 4, --table_budget_) {
    const auto offset = Records::value<std::int32_t>(entries, at);
    if (!offset || !is_code(table + *offset)) return false;
    if (range.begin <= table + *offset && table + *offset < range.end) return true;
  }
  return false;
}

bool EntryReferences::has_address_into(ElfAddress table, const GuardedBytes::Range& range) {
  if (!is_data(table)) return false;
  const auto entries = image_.bytes_at(table, ~std::size_t{0});
  for (std::size_t at = 0; table_budget_ > 0; at += kWord, --table_budget_) {
    const auto address = Records::value<std::uint64_t>(entries, at);
    if (!address || !is_code(ElfAddress(*address))) return false;
    if (range.begin.value() <= *address && *address < range.end.value()) return true;
  }
  return false;
}

bool EntryReferences::is_code(ElfAddress address) const {
  return find_area(areas_, address) != nullptr;
}

bool EntryReferences::afford(std::size_t bytes) {
  if (bytes > code_budget_) return false;
  code_budget_ -= bytes;
  return true;
}

bool EntryReferences::is_data(ElfAddress address) const {
  for (const Segment& segment : image_.segments())
    if (address.value() - segment.begin.value() < segment.content.size()) return !is_code(address);
  return false;
}

} // namespace sonictrace::elf
