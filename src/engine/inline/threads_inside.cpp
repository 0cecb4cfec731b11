#include "engine/inline/threads_inside.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>
#include <charconv>

#include "sonictrace/process/proc_files.hpp"

namespace sonictrace {
namespace {

/// More than this of a stack is not looked at, and nothing said.
constexpr std::uint64_t kDeepest = std::uint64_t{8} << 20;
constexpr int kMostStacks = 4; ///< a handler on a stack of its own may be interrupted as well

bool is_in(std::span<const AddressRange> code, TraceeAddress pc) {
  return std::any_of(code.begin(), code.end(),
                     [pc](const AddressRange& range) { return range.contains(pc); });
}

struct Process {
  const AddressSpace& space;
  const std::vector<Mapping>& mappings;
};

/// Looks at what lies above the stack pointer, and at the stacks that handlers have interrupted.
bool is_stack_inside(const Process& process, std::span<const AddressRange> code, TraceeAddress sp,
                     int stacks = kMostStacks) {
  const auto mapping = std::find_if(process.mappings.begin(), process.mappings.end(),
                                    [sp](const Mapping& one) { return one.range.contains(sp); });
  if (mapping == process.mappings.end())
    return stacks == kMostStacks; // else it only looked like a frame
  if (mapping->range.end().value() - sp.value() > kDeepest) return true;
  constexpr std::size_t kPiece = 8192; // words
  constexpr std::size_t kOverlap = 3;  // a frame's words that are looked at, less one
  std::vector<std::uint64_t> words(kPiece);
  const TraceeAddress begin((sp.value() + 7) & ~std::uint64_t{7});
  for (TraceeAddress at = begin; at < mapping->range.end();) {
    const std::uint64_t left = (mapping->range.end().value() - at.value()) / 8;
    const auto piece = std::span(words).first(std::min<std::uint64_t>(kPiece, left));
    if (!process.space.memory().read(at, std::as_writable_bytes(piece))) return true;
    for (const auto& frame : find_signal_frames(piece)) {
      if (is_in(code, frame.pc)) return true;
      if (mapping->range.contains(frame.sp)) continue; // looked at anyhow
      if (stacks == 0 || is_stack_inside(process, code, frame.sp, stacks - 1)) return true;
    }
    if (piece.size() < kPiece) break;
    at = at + static_cast<std::int64_t>((kPiece - kOverlap) * 8);
  }
  return false;
}

/// Nothing: that can't be told. With `sp` 0: it is gone.
std::optional<StoppedAt> place_of(const AddressSpace& space, pid_t tid) {
  const auto line = read_file(fmt::format("/proc/{}/task/{}/syscall", space.pid(), tid));
  if (auto at = line ? parse_stopped_at(*line) : std::nullopt) return at;
  const auto status = read_task_status(tid);
  if (status && status->state != 'Z' && status->state != 'X') return std::nullopt;
  return StoppedAt{-1, TraceeAddress(), TraceeAddress()};
}

bool may_know(const Process& process, AddressRange what, std::span<const AddressRange> code,
              pid_t tid) {
  // An unwinder's own frames, and what it was called by. It runs on top of the stack.
  constexpr std::size_t kWords = 4096;
  const auto at = place_of(process.space, tid);
  if (!at) return true;
  if (at->sp == TraceeAddress()) return false;
  std::vector<std::uint64_t> words(kWords);
  const std::size_t size = process.space.memory().read_some(
      TraceeAddress(at->sp.value() & ~std::uint64_t{7}), std::as_writable_bytes(std::span(words)));
  const auto stack = std::span<const std::uint64_t>(words).first(size / 8);
  const auto is_any = [stack](const AddressRange& range) {
    return std::any_of(stack.begin(), stack.end(),
                       [range](std::uint64_t word) { return range.contains(TraceeAddress(word)); });
  };
  if (!is_any(what)) return false;
  return is_in(code, at->pc) || std::any_of(code.begin(), code.end(), is_any);
}

bool is_thread_inside(const Process& process, std::span<const AddressRange> code, pid_t tid) {
  const auto at = place_of(process.space, tid);
  if (!at) return true;
  if (at->sp == TraceeAddress()) return false; // it is gone
  // Its vfork child may be anywhere meanwhile.
  if (at->call == SYS_vfork || at->call == SYS_clone || at->call == SYS_clone3) return true;
  return is_in(code, at->pc) || is_stack_inside(process, code, at->sp);
}

} // namespace

std::optional<StoppedAt> parse_stopped_at(std::string_view line) {
  while (!line.empty() && line.back() == '\n')
    line.remove_suffix(1);
  long call = 0;
  const auto [end, failed] = std::from_chars(line.data(), line.data() + line.size(), call);
  if (failed != std::errc()) return std::nullopt; // "running"
  const auto take_last = [&line]() -> std::optional<std::uint64_t> {
    const auto blank = line.rfind(' ');
    if (blank == std::string_view::npos || !line.substr(blank).starts_with(" 0x"))
      return std::nullopt;
    std::uint64_t value = 0;
    const char* const begin = line.data() + blank + 3;
    const char* const behind = line.data() + line.size();
    const auto parsed = std::from_chars(begin, behind, value, 16);
    if (parsed.ec != std::errc() || parsed.ptr != behind) return std::nullopt;
    line.remove_suffix(line.size() - blank);
    return value;
  };
  const auto pc = take_last();
  const auto sp = take_last();
  if (!pc || !sp) return std::nullopt;
  return StoppedAt{call, TraceeAddress(*sp), TraceeAddress(*pc)};
}

std::vector<InterruptedAt> find_signal_frames(std::span<const std::uint64_t> stack) {
  // Side by side in a sigcontext: rsp, rip, the flags, and four segment numbers from cs on. The
  // flags have one bit that is always set, and none above the 22nd (Intel SDM 1, 3.4.3).
  constexpr std::uint64_t kUserCode = 0x33, kAlwaysSet = 2, kNeverSet = ~std::uint64_t{0x3f'ffff};
  std::vector<InterruptedAt> found;
  for (std::size_t i = 3; i < stack.size(); ++i) {
    if ((stack[i] & 0xffff) != kUserCode) continue;
    const std::uint64_t flags = stack[i - 1];
    if ((flags & kAlwaysSet) == 0 || (flags & kNeverSet) != 0) continue;
    found.push_back({TraceeAddress(stack[i - 2]), TraceeAddress(stack[i - 3])});
  }
  return found;
}

bool is_anyone_inside(const AddressSpace& space, const std::vector<Mapping>& mappings,
                      std::span<const AddressRange> code) {
  const auto threads = list_threads(space.pid());
  if (!threads) return true;
  return std::any_of(threads->begin(), threads->end(), [&](pid_t tid) {
    return is_thread_inside({space, mappings}, code, tid);
  });
}

bool may_anyone_know(const AddressSpace& space, const std::vector<Mapping>& mappings,
                     AddressRange what, std::span<const AddressRange> code) {
  const auto threads = list_threads(space.pid());
  if (!threads) return true;
  return std::any_of(threads->begin(), threads->end(), [&](pid_t tid) {
    return may_know({space, mappings}, what, code, tid);
  });
}

} // namespace sonictrace
