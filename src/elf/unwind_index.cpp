#include "elf/unwind_index.hpp"

#include <algorithm>
#include <string_view>

#include "elf/headers.hpp"
#include "elf/records.hpp"

namespace sonictrace::elf {
namespace {

// DW_EH_PE_* (Linux Standard Base, "DWARF Exception Header Encoding").
constexpr std::uint8_t kUnsigned4 = 0x03;        // udata4
constexpr std::uint8_t kSigned4FromTable = 0x3b; // datarel | sdata4
constexpr std::uint8_t kOmitted = 0xff;
constexpr std::size_t kHeaderSize = 12;

/// Bytes of a value of an encoding; nothing for LEB128, which linkers do not write here.
std::optional<std::size_t> size_of(std::uint8_t encoding, std::size_t word_size) {
  switch (encoding & 0x07) {
    case 0: return word_size;
    case 2: return 2;
    case 3: return 4;
    case 4: return 8;
    default: return std::nullopt;
  }
}

/// Reads a record from its beginning to its end; zeros beyond it.
class Cursor {
public:
  explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint8_t byte() { return Records::value<std::uint8_t>(bytes_, at_++).value_or(0); }
  bool is_at_end() const { return at_ >= bytes_.size(); }
  void skip(std::size_t size) { at_ += std::min(size, bytes_.size()); }
  std::size_t leb128() {
    std::size_t value = 0;
    for (unsigned shift = 0; at_ < bytes_.size() && shift < 63; shift += 7) {
      const std::uint8_t next = byte();
      value |= std::size_t{next & 0x7fU} << shift;
      if ((next & 0x80) == 0) break;
    }
    return value;
  }
  void skip_leb128() {
    while (at_ < bytes_.size() && (byte() & 0x80) != 0) {}
  }
  std::string_view text() {
    const std::string_view result = text_at(bytes_, at_);
    at_ += result.size() + 1;
    return result;
  }

private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

struct CommonInformation {
  bool is_known = false;             ///< it has augmentation data, as all that compilers write
  std::uint8_t pointer_encoding = 0; ///< absolute
  bool has_landing_pads = false;
};

CommonInformation read_cie(std::span<const std::byte> record, std::size_t word_size) {
  CommonInformation result;
  Cursor cursor(record);
  cursor.skip(8); // length, and 0 for "this is a CIE"
  const std::uint8_t version = cursor.byte();
  const std::string_view augmentation = cursor.text();
  if (!augmentation.starts_with('z')) return result;
  result.is_known = true;
  cursor.skip_leb128(); // code alignment
  cursor.skip_leb128(); // data alignment
  if (version == 1) {
    cursor.skip(1);
  } else {
    cursor.skip_leb128(); // return address register
  }
  cursor.skip_leb128(); // length of the augmentation data
  for (const char what : augmentation.substr(1)) {
    if (what == 'R') {
      result.pointer_encoding = cursor.byte();
    } else if (what == 'L') {
      result.has_landing_pads = cursor.byte() != kOmitted;
    } else if (what == 'P') {
      const auto size = size_of(cursor.byte(), word_size);
      if (!size) return result;
      cursor.skip(*size);
    }
  }
  return result;
}

} // namespace

UnwindIndex::UnwindIndex(const Image& image) : image_(image) {
  const auto at = image.unwind_table();
  if (!at) return;
  at_ = *at;
  const auto header = image.bytes_at(at_, kHeaderSize);
  const auto version = Records::value<std::uint8_t>(header, 0);
  const auto count_encoding = Records::value<std::uint8_t>(header, 2);
  const auto table_encoding = Records::value<std::uint8_t>(header, 3);
  const auto count = Records::value<std::uint32_t>(header, 8);
  if (!count || version != 1 || count_encoding != kUnsigned4 || table_encoding != kSigned4FromTable)
    return;
  table_ = image.bytes_at(at_ + kHeaderSize, std::size_t{*count} * 8);
  count_ = table_.size() / 8;
}

std::int32_t UnwindIndex::entry(std::size_t index, std::size_t column) const {
  return Records::value<std::int32_t>(table_, index * 8 + column * 4).value_or(0);
}

std::size_t UnwindIndex::first_behind(ElfAddress address) const {
  const std::int64_t wanted = address - at_;
  std::size_t low = 0, high = count_; // the first entry behind `wanted` is in [low, high]
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (entry(middle, 0) <= wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::optional<FunctionRange> UnwindIndex::function_at(ElfAddress address) const {
  const std::size_t behind = first_behind(address);
  if (behind == 0) return std::nullopt;
  auto found = read_fde(at_ + entry(behind - 1, 1), at_ + entry(behind - 1, 0));
  if (!found || address < found->begin || found->end <= address) return std::nullopt;
  return found;
}

std::optional<ElfAddress> UnwindIndex::begin_behind(ElfAddress address) const {
  const std::size_t behind = first_behind(address);
  if (behind == count_) return std::nullopt;
  return at_ + entry(behind, 0);
}

std::vector<ElfAddress> UnwindIndex::entries_of_calls() const {
  std::vector<ElfAddress> all;
  for (std::size_t index = 0; index < count_; ++index)
    if (has_frame_of_caller(at_ + entry(index, 1))) all.push_back(at_ + entry(index, 0));
  return all;
}

/// Before the first instruction is behind it, nothing is said of its frame but what the CIE says of
/// all (psABI 4.2.3, DWARF 6.4.2).
bool UnwindIndex::has_frame_of_caller(ElfAddress fde) const {
  constexpr std::size_t kEnough = 512;
  constexpr std::uint8_t kNop = 0x00, kAdvance1 = 0x02, kAdvance4 = 0x04, kArgumentSize = 0x2e,
                         kAdvance = 0x40;
  const auto record = image_.bytes_at(fde, kEnough);
  const auto length = Records::value<std::uint32_t>(record, 0);
  const auto cie_distance = Records::value<std::uint32_t>(record, 4);
  if (!length || *length == 0 || *length == 0xffff'ffff || !cie_distance || *cie_distance == 0)
    return false;
  const std::size_t word_size = pointer_size(image_.machine());
  const CommonInformation cie =
      read_cie(image_.bytes_at(fde + (4 - std::int64_t{*cie_distance}), kEnough), word_size);
  const auto size = size_of(cie.pointer_encoding, word_size);
  if (!cie.is_known || !size) return false;
  Cursor cursor(record.first(std::min<std::size_t>(record.size(), std::size_t{*length} + 4)));
  cursor.skip(8 + 2 * *size);
  cursor.skip(cursor.leb128());
  while (!cursor.is_at_end()) {
    const std::uint8_t instruction = cursor.byte();
    if (instruction == kNop) continue;
    if (instruction == kArgumentSize) {
      cursor.skip_leb128();
      continue;
    }
    return (instruction & 0xc0) == kAdvance ||
           (instruction >= kAdvance1 && instruction <= kAdvance4);
  }
  return true;
}

std::optional<FunctionRange> UnwindIndex::read_fde(ElfAddress fde, ElfAddress begin) const {
  constexpr std::size_t kEnough = 512; // for a CIE, and the part of an FDE that is read here
  const std::size_t word_size = pointer_size(image_.machine());
  const auto record = image_.bytes_at(fde, kEnough);
  const auto length = Records::value<std::uint32_t>(record, 0);
  const auto cie_distance = Records::value<std::uint32_t>(record, 4);
  if (!length || *length == 0 || *length == 0xffff'ffff || !cie_distance || *cie_distance == 0)
    return std::nullopt;

  const CommonInformation cie =
      read_cie(image_.bytes_at(fde + (4 - std::int64_t{*cie_distance}), kEnough), word_size);
  const auto size = size_of(cie.pointer_encoding, word_size);
  if (!size) return std::nullopt;
  // The range has the size of the encoding, but is never relative to anything.
  std::uint64_t range = 0;
  if (*size == 8) range = Records::value<std::uint64_t>(record, 8 + *size).value_or(0);
  if (*size == 4) range = Records::value<std::uint32_t>(record, 8 + *size).value_or(0);
  if (*size == 2) range = Records::value<std::uint16_t>(record, 8 + *size).value_or(0);
  const ElfAddress end(begin.value() + range);
  if (end < begin) return std::nullopt;
  return FunctionRange{begin, end, cie.has_landing_pads};
}

} // namespace sonictrace::elf
