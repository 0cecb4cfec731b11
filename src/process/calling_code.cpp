#include "sonictrace/process/calling_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "sonictrace/process/mappings.hpp"

namespace sonictrace {
namespace {

/// The end of a mapping, where a file's code does not fill its last page. Zeros are no code that a
/// program runs (add %al,(%rax)).
std::optional<CallingCode> slack_of(const Mapping& mapping, const TraceeMemory& memory) {
  constexpr std::size_t kFree = 32; // more than we take, so that it is no table's end
  std::array<std::byte, kFree> end{};
  if (!memory.read(mapping.range.end() + -std::int64_t{kFree}, end)) return std::nullopt;
  constexpr std::size_t kOurs = 16;
  static_assert(kCallingCode.size() <= kOurs);
  const TraceeAddress at = mapping.range.end() + -std::int64_t{kOurs};
  // Of a tracer that was killed; and a thread may still be there.
  if (std::equal(kCallingCode.begin(), kCallingCode.end(), end.end() - kOurs))
    return CallingCode{at, CallingCode::Kind::Whole};
  if (std::all_of(end.begin(), end.end(), [](std::byte byte) { return byte == std::byte{0}; }))
    return CallingCode{at, CallingCode::Kind::Slack};
  return std::nullopt;
}

std::optional<CallingCode> bare_instruction(const Mapping& mapping, const TraceeMemory& memory) {
  constexpr std::array kSyscall = {std::byte{0x0f}, std::byte{0x05}};
  std::vector<std::byte> bytes(
      std::min<std::uint64_t>(mapping.range.size(), std::uint64_t{1} << 22));
  bytes.resize(memory.read_some(mapping.range.begin(), bytes));
  const auto found = std::search(bytes.begin(), bytes.end(), kSyscall.begin(), kSyscall.end());
  if (found == bytes.end()) return std::nullopt;
  return CallingCode{mapping.range.begin() + (found - bytes.begin()), CallingCode::Kind::Bare};
}

} // namespace

Result<CallingCode> find_calling_code(pid_t pid, const TraceeMemory& memory) {
  auto mappings = read_mappings(pid);
  if (!mappings) return std::move(mappings).error();
  std::erase_if(*mappings, [](const Mapping& mapping) {
    return !mapping.executable || mapping.path == "[vsyscall]";
  });
  // Not in anonymous memory, where a program may put code at any time.
  for (const Mapping& mapping : *mappings)
    if (mapping.inode != 0 && !mapping.writable)
      if (const auto found = slack_of(mapping, memory)) return *found;
  // The vdso is small and always there (unless booted with vdso=0).
  std::stable_partition(mappings->begin(), mappings->end(),
                        [](const Mapping& mapping) { return mapping.path == "[vdso]"; });
  if (!mappings->empty() && mappings->front().path == "[vdso]")
    if (const auto found = slack_of(mappings->front(), memory)) return *found;
  for (const Mapping& mapping : *mappings)
    if (const auto found = bare_instruction(mapping, memory)) return *found;
  return Error::saying(fmt::format("process {} has no syscall instruction", pid));
}

} // namespace sonictrace
