#include "engine/inline/left_patches.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "sonictrace/base/unique_fd.hpp"

namespace sonictrace {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::byte kInt3{0xcc}, kLongJump{0xe9}, kShortJump{0xeb};

bool is_in(const std::vector<AddressRange>& ranges, TraceeAddress address) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [address](const AddressRange& range) { return range.contains(address); });
}

/// The bytes of one piece of code, and where they lead.
class Piece {
public:
  Piece(std::span<std::byte> code, std::span<const std::byte> file, TraceeAddress at,
        const PatchTargets& targets)
      : code_(code), file_(file), at_(at), targets_(targets) {}

  bool undo() {
    bool any = false;
    for (std::size_t i = 0; i < code_.size(); ++i)
      if (code_[i] != file_[i]) any = undo_displacement(i) || undo_jump(i) || any;
    return any;
  }

private:
  /// Where a displacement of 32 bits at `offset` leads.
  std::optional<TraceeAddress> target(std::size_t offset) const {
    std::int32_t distance = 0;
    if (offset > code_.size() || code_.size() - offset < sizeof distance) return std::nullopt;
    std::memcpy(&distance, &code_[offset], sizeof distance);
    return at_ + static_cast<std::int64_t>(offset + sizeof distance) + distance;
  }
  bool is_long_jump(std::size_t offset) const {
    if (offset >= code_.size() || code_[offset] != kLongJump) return false;
    const auto to = target(offset + 1);
    return to && is_in(targets_.entries, *to);
  }
  void restore(std::size_t offset, std::size_t size) {
    std::copy_n(file_.begin() + static_cast<std::ptrdiff_t>(offset), size,
                code_.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  /// And what was filled up behind a jump.
  void restore_jump(std::size_t offset, std::size_t size) {
    std::size_t end = offset + size;
    while (end < code_.size() && code_[end] == kInt3 && file_[end] != kInt3)
      ++end;
    restore(offset, end - offset);
  }

  /// Of `jmp *cell(%rip)` and its like; one of its bytes is at `offset`.
  bool undo_displacement(std::size_t offset) {
    constexpr std::size_t kSize = 4, kOpcode = 2;
    // Where the whole jump is ours (the rendezvous), the first byte that differs is its opcode's.
    const std::size_t last = std::min(offset + kOpcode, code_.size());
    for (std::size_t at = offset < kSize ? 0 : offset - kSize + 1; at <= last; ++at) {
      const auto to = target(at);
      if (!to || to->value() % 8 != 0 || !is_in(targets_.cells, *to)) continue;
      const bool is_jump =
          at >= kOpcode && code_[at - 2] == std::byte{0xff} && code_[at - 1] == std::byte{0x25};
      if (is_jump)
        restore(at - kOpcode, kOpcode + kSize);
      else if (offset < at)
        continue;
      else
        restore(at, kSize);
      return true;
    }
    return false;
  }

  bool undo_jump(std::size_t offset) {
    constexpr std::size_t kLong = 5, kShort = 2;
    for (std::size_t at = offset < kLong ? 0 : offset - kLong + 1; at <= offset; ++at)
      if (is_long_jump(at)) {
        undo_short_jumps_to(at);
        restore_jump(at, kLong);
        return true;
      }
    for (std::size_t at = offset == 0 ? 0 : offset - 1; at <= offset; ++at)
      if (leads_to_long_jump(at)) {
        restore_jump(at, kShort);
        return true;
      }
    return false;
  }
  bool leads_to_long_jump(std::size_t offset) const {
    constexpr std::ptrdiff_t kShort = 2;
    if (offset + kShort > code_.size() || code_[offset] != kShortJump) return false;
    const auto distance = static_cast<std::int8_t>(code_[offset + 1]);
    const auto to = static_cast<std::ptrdiff_t>(offset) + kShort + distance;
    return to >= 0 && is_long_jump(static_cast<std::size_t>(to));
  }
  /// While they can still be told by where they lead.
  void undo_short_jumps_to(std::size_t island) {
    constexpr std::size_t kShort = 2, kReach = 130;
    const std::size_t begin = island < kReach ? 0 : island - kReach;
    const std::size_t end = std::min(island + kReach, code_.size() - 1);
    for (std::size_t at = begin; at < end; ++at) {
      if (code_[at] != kShortJump || (code_[at] == file_[at] && code_[at + 1] == file_[at + 1]))
        continue;
      const auto distance = static_cast<std::int8_t>(code_[at + 1]);
      if (static_cast<std::ptrdiff_t>(at + kShort) + distance ==
          static_cast<std::ptrdiff_t>(island))
        restore_jump(at, kShort);
    }
  }

  std::span<std::byte> code_;
  std::span<const std::byte> file_;
  TraceeAddress at_;
  const PatchTargets& targets_;
};

/// Which pages of a process have become its own (Documentation/admin-guide/mm/pagemap.rst).
class OwnPages {
public:
  explicit OwnPages(pid_t tid) {
    auto opened = UniqueFd::open(fmt::format("/proc/{}/pagemap", tid).c_str(), O_RDONLY);
    if (opened) pagemap_ = *std::move(opened);
  }

  /// Pieces of the range; all of it where that can't be told.
  std::vector<AddressRange> in(AddressRange range) const {
    std::vector<std::uint64_t> pages(range.size() / kPage);
    const auto size = static_cast<ssize_t>(pages.size() * sizeof(std::uint64_t));
    const auto from = static_cast<off_t>(range.begin().value() / kPage * sizeof(std::uint64_t));
    if (!pagemap_ || ::pread(pagemap_.get(), pages.data(), pages.size() * 8, from) != size)
      return {range};
    constexpr std::uint64_t kThere = std::uint64_t{3} << 62; // present, or swapped out
    constexpr std::uint64_t kOfFile = std::uint64_t{1} << 61;
    std::vector<AddressRange> pieces;
    for (std::size_t i = 0; i < pages.size(); ++i) {
      if ((pages[i] & kThere) == 0 || (pages[i] & kOfFile) != 0) continue;
      const TraceeAddress begin = range.begin() + static_cast<std::int64_t>(i * kPage);
      const TraceeAddress end = begin + static_cast<std::int64_t>(kPage);
      if (!pieces.empty() && pieces.back().end() == begin)
        pieces.back() = *AddressRange::make(pieces.back().begin(), end);
      else
        pieces.push_back(*AddressRange::make(begin, end));
    }
    return pieces;
  }

private:
  UniqueFd pagemap_;
};

/// Behind the file's end a mapping holds zeros.
bool read_file_piece(const UniqueFd& file, std::uint64_t offset, std::span<std::byte> into) {
  std::fill(into.begin(), into.end(), std::byte{0});
  while (!into.empty()) {
    const auto n = ::pread(file.get(), into.data(), into.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0;
    into = into.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
  return true;
}

} // namespace

bool undo_patches(std::span<std::byte> code, std::span<const std::byte> file, TraceeAddress at,
                  const PatchTargets& targets) {
  return Piece(code, file, at, targets).undo();
}

void undo_patches(const AddressSpace& space, pid_t tid, const std::vector<Mapping>& mappings,
                  const PatchTargets& targets) {
  const OwnPages own(tid);
  for (const Mapping& mapping : mappings) {
    if (!mapping.executable || mapping.inode == 0) continue;
    const auto pieces = own.in(mapping.range);
    if (pieces.empty()) continue;
    const auto file = open_mapped_file(tid, mapping);
    if (!file) continue;
    for (const AddressRange& piece : pieces) {
      std::vector<std::byte> code(piece.size()), original(piece.size());
      const std::uint64_t offset =
          mapping.offset + (piece.begin().value() - mapping.range.begin().value());
      if (!space.memory().read(piece.begin(), code) || !read_file_piece(*file, offset, original))
        continue;
      if (undo_patches(code, original, piece.begin(), targets))
        (void)space.memory().write(piece.begin(), code);
    }
  }
}

} // namespace sonictrace
