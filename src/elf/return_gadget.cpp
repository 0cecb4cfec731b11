#include "sonictrace/elf/return_gadget.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "elf/code_areas.hpp"
#include "elf/code_reader.hpp"
#include "elf/unwind_index.hpp"

namespace sonictrace::elf {
namespace {

constexpr std::array kEndbr64AndRet = {std::byte{0xf3}, std::byte{0x0f}, std::byte{0x1e},
                                       std::byte{0xfa}, std::byte{0xc3}};
constexpr std::array kEndOfInit = {std::byte{0x48}, std::byte{0x83}, std::byte{0xc4},
                                   std::byte{0x08}, std::byte{0xc3}};
constexpr std::int64_t kBeforeRet = 4; ///< bytes, of both

template <class Accept>
std::optional<ElfAddress> find_bytes(std::span<const CodeArea> areas,
                                     std::span<const std::byte> wanted, Accept accept) {
  for (const CodeArea& area : areas) {
    const std::byte* const end = area.code.data() + area.code.size();
    const std::byte* from = area.code.data();
    while (static_cast<std::size_t>(end - from) >= wanted.size()) {
      // A hundred million bytes take several times as long by std::search.
      from = static_cast<const std::byte*>(std::memchr(from, std::to_integer<int>(wanted.front()),
                                                       static_cast<std::size_t>(end - from)));
      if (from == nullptr || static_cast<std::size_t>(end - from) < wanted.size()) break;
      if (std::memcmp(from, wanted.data(), wanted.size()) == 0) {
        const ElfAddress at = area.begin + (from - area.code.data());
        if (accept(at)) return at + kBeforeRet;
      }
      ++from;
    }
  }
  return std::nullopt;
}

class GadgetSearch {
public:
  explicit GadgetSearch(const Image& image)
      : image_(image), areas_(code_areas(image)), reader_(image.machine(), std::nullopt),
        unwind_(image) {
    std::erase_if(areas_, [](const CodeArea& area) { return area.is_plt; });
  }

  std::optional<ElfAddress> run() {
    const auto is_function = [this](ElfAddress at) {
      const auto function = unwind_.function_at(at);
      return function && function->begin == at;
    };
    if (const auto found = find_bytes(areas_, kEndbr64AndRet, is_function)) return found;
    look_at_functions();
    if (leaf_) return leaf_;
    const auto anywhere = [](ElfAddress) { return true; };
    if (const auto found = find_bytes(areas_, kEndbr64AndRet, anywhere)) return found;
    if (const auto found = find_bytes(areas_, kEndOfInit, anywhere)) return found;
    return other_;
  }

private:
  /// Those of the unwinder's table, else those that symbols name.
  void look_at_functions() {
    int left = 20'000; // a leaf function is among the first ones
    ElfAddress at;
    for (auto begin = unwind_.begin_behind(at); begin && *begin > at && !leaf_ && left > 0;
         --left) {
      at = *begin;
      if (const auto function = unwind_.function_at(at)) look_at(function->begin, function->end);
      begin = unwind_.begin_behind(at);
    }
    for (const Symbol& function : image_.functions()) {
      if (leaf_ || other_ || --left <= 0) return;
      if (function.size == 0) continue;
      look_at(function.value, ElfAddress(function.value.value() + function.size));
      leaf_.reset(); // the unwinder does not know it
    }
  }

  /// Reads a function up to its first `ret`.
  void look_at(ElfAddress begin, ElfAddress end) {
    const CodeArea* const area = find_area(areas_, begin);
    if (area == nullptr || end <= begin || area->end() < end) return;
    const auto code = area->code.subspan(static_cast<std::size_t>(begin - area->begin),
                                         static_cast<std::size_t>(end - begin));
    constexpr std::size_t kEnough = 64; ///< bytes
    bool keeps_rsp = true;
    for (std::size_t at = 0; at < std::min(code.size(), kEnough);) {
      ZydisDecodedInstruction decoded;
      std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
      if (ZYAN_FAILED(ZydisDecoderDecodeFull(&reader_.decoder(), code.data() + at, code.size() - at,
                                             &decoded, operands.data())))
        return;
      if (code[at] == std::byte{0xc3}) {
        if (at == 0) return; // the byte before is not of this function
        const ElfAddress found = begin + static_cast<std::int64_t>(at);
        if (keeps_rsp) leaf_ = found;
        if (!other_) other_ = found;
        return;
      }
      if (decoded.meta.category == ZYDIS_CATEGORY_RET ||
          decoded.meta.category == ZYDIS_CATEGORY_UNCOND_BR)
        return;
      for (std::size_t i = 0; i < decoded.operand_count; ++i)
        if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            (operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0 &&
            ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operands[i].reg.value) ==
                ZYDIS_REGISTER_RSP)
          keeps_rsp = false;
      at += decoded.length;
    }
  }

  const Image& image_;
  std::vector<CodeArea> areas_;
  CodeReader reader_;
  UnwindIndex unwind_;
  std::optional<ElfAddress> leaf_;
  std::optional<ElfAddress> other_;
};

} // namespace

std::optional<ElfAddress> find_return_gadget(const Image& image) {
  if (image.machine() != Machine::X86_64) return std::nullopt;
  return GadgetSearch(image).run();
}

} // namespace sonictrace::elf
