#include "elf/sync.hpp"

#include <algorithm>
#include <array>

namespace sonictrace::elf {
namespace {

constexpr std::int64_t kNearest = 24; ///< bytes before the opcode, enough to fall into step
constexpr std::int64_t kFarthest = 56;
constexpr std::int64_t kMostPrefixes = 4;

/// How many prefix bytes the instruction that holds `opcode` has, decoded from `from` on.
std::optional<std::int64_t> prefixes_from(const CodeReader& reader, std::span<const std::byte> code,
                                          std::int64_t from, std::int64_t opcode) {
  for (std::int64_t at = from; at <= opcode;) {
    const auto instruction = reader.read(code.subspan(static_cast<std::size_t>(at)), ElfAddress());
    const std::int64_t end = at + (instruction ? instruction->size : 1);
    if (instruction && end == opcode + 6 && opcode - at <= kMostPrefixes) return opcode - at;
    at = end;
  }
  return std::nullopt;
}

} // namespace

std::optional<ElfAddress> synchronized_start(const CodeReader& reader,
                                             std::span<const std::byte> code, ElfAddress begin,
                                             const SlotUse& use) {
  const std::int64_t opcode = use.opcode_at - begin;
  if (opcode < 0) return std::nullopt;
  // At the very beginning of code only that beginning is sure.
  if (opcode < kFarthest) {
    const auto prefixes = prefixes_from(reader, code, 0, opcode);
    if (!prefixes) return std::nullopt;
    return use.opcode_at + -*prefixes;
  }

  std::array<int, kMostPrefixes + 1> votes{};
  int tried = 0;
  for (std::int64_t before = kNearest; before < kFarthest; ++before, ++tried)
    if (const auto prefixes = prefixes_from(reader, code, opcode - before, opcode))
      ++votes[static_cast<std::size_t>(*prefixes)];
  const auto best = std::max_element(votes.begin(), votes.end());
  if (*best * 4 < tried * 3) return std::nullopt;
  return use.opcode_at + -(best - votes.begin());
}

} // namespace sonictrace::elf
