#include "sonictrace/process/mappings.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "sonictrace/process/proc_files.hpp"

namespace sonictrace {
namespace {

/// include/uapi/linux/fs.h of kernel 6.11; newer than Debian's header.
struct ProcmapQuery {
  std::uint64_t size, flags, address;
  std::uint64_t begin, end, vma_flags, page_size, offset, inode;
  std::uint32_t device_major, device_minor;
  std::uint32_t name_size, build_id_size;
  std::uint64_t name, build_id;
};
static_assert(sizeof(ProcmapQuery) == 104);
constexpr unsigned long kProcmapQuery = _IOWR('f', 17, ProcmapQuery);
constexpr std::uint64_t kVmaWritable = 0x02;
constexpr std::uint64_t kVmaExecutable = 0x04;

std::uint64_t device_of(std::uint64_t major_number, std::uint64_t minor_number) {
  return major_number << 32 | minor_number;
}

/// Takes one hexadecimal or decimal number and the one character behind it.
std::uint64_t take(std::string_view& text, int base) {
  std::uint64_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value, base).ptr;
  const auto used = static_cast<std::size_t>(end - text.data());
  text.remove_prefix(std::min(text.size(), used + 1));
  return value;
}

// 7f0e5a000000-7f0e5a021000 r-xp 00000000 fe:01 1234   /usr/lib/libc.so.6
std::optional<Mapping> parse_line(std::string_view line) {
  const TraceeAddress begin(take(line, 16));
  const TraceeAddress end(take(line, 16));
  const auto range = AddressRange::make(begin, end);
  if (!range || line.size() < 5) return std::nullopt;
  Mapping mapping{*range, 0, 0, 0, line[2] == 'x', line[1] == 'w', {}};
  line.remove_prefix(5);
  mapping.offset = take(line, 16);
  const auto major_number = take(line, 16);
  const auto minor_number = take(line, 16);
  mapping.device = device_of(major_number, minor_number);
  mapping.inode = take(line, 10);
  const auto path = line.find_first_not_of(' ');
  if (path != std::string_view::npos) mapping.path = line.substr(path);
  return mapping;
}

} // namespace

Result<std::vector<Mapping>> read_mappings(pid_t pid) {
  const auto text = read_file(fmt::format("/proc/{}/maps", pid));
  if (!text) return text.error();
  std::vector<Mapping> mappings;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (auto mapping = parse_line(line)) mappings.push_back(*std::move(mapping));
  }
  return mappings;
}

Result<UniqueFd> open_mappings(pid_t pid) {
  return UniqueFd::open(fmt::format("/proc/{}/maps", pid).c_str(), O_RDONLY);
}

std::optional<Mapping> mapping_at(const UniqueFd& maps, pid_t pid, TraceeAddress address) {
  std::array<char, 4097> name{};
  ProcmapQuery query{};
  query.size = sizeof query;
  query.address = address.value();
  query.name = reinterpret_cast<std::uint64_t>(name.data());
  query.name_size = name.size() - 1;
  if (::ioctl(maps.get(), kProcmapQuery, &query) == 0) {
    const auto range = AddressRange::make(TraceeAddress(query.begin), TraceeAddress(query.end));
    if (!range) return std::nullopt;
    return Mapping{*range,
                   query.offset,
                   device_of(query.device_major, query.device_minor),
                   query.inode,
                   (query.vma_flags & kVmaExecutable) != 0,
                   (query.vma_flags & kVmaWritable) != 0,
                   std::string(name.data())};
  }
  if (errno == ENOENT) return std::nullopt;
  auto all = read_mappings(pid);
  if (!all) return std::nullopt;
  for (auto& mapping : *all)
    if (mapping.range.contains(address)) return std::move(mapping);
  return std::nullopt;
}

Result<UniqueFd> open_mapped_file(pid_t pid, const Mapping& mapping) {
  const auto exact = fmt::format("/proc/{}/map_files/{:x}-{:x}", pid, mapping.range.begin().value(),
                                 mapping.range.end().value());
  if (auto file = UniqueFd::open(exact.c_str(), O_RDONLY)) return file;

  const auto by_path = fmt::format("/proc/{}/root{}", pid, mapping.path);
  auto file = UniqueFd::open(by_path.c_str(), O_RDONLY);
  if (!file) return file;
  struct stat found;
  if (::fstat(file->get(), &found) < 0) return Error::from_errno(by_path);
  // The device number may differ on overlay and btrfs mounts (the maps file shows the upper one's),
  // so the inode decides.
  if (found.st_ino != mapping.inode)
    return Error(std::errc::no_such_file_or_directory,
                 fmt::format("{} was replaced since process {} mapped it", mapping.path, pid));
  return file;
}

std::optional<TraceeAddress> find_gap(const std::vector<Mapping>& mappings, TraceeAddress near,
                                      std::uint64_t size, std::uint64_t reach) {
  constexpr std::uint64_t kLowest = 0x10000;            // vm.mmap_min_addr
  constexpr std::uint64_t kHighest = 0x7fff'ffff'f000;  // the end of user space (47 bits)
  constexpr std::uint64_t kPage = 4096;
  const auto floor = std::max(kLowest, near.value() > reach ? near.value() - reach : 0);
  const auto ceiling = std::min(kHighest, near.value() + reach);
  std::optional<TraceeAddress> best;
  std::uint64_t best_distance = ~std::uint64_t{0};
  const auto consider = [&](std::uint64_t begin, std::uint64_t end) {
    begin = std::max(begin, (floor + kPage - 1) & ~(kPage - 1));
    end = std::min(end, ceiling);
    if (begin > end || end - begin < size) return;
    // The end of the gap that is nearer to `near`; a page of distance to what grows there.
    const auto candidate = begin >= near.value() ? begin : (end - size) & ~(kPage - 1);
    const auto distance =
        candidate > near.value() ? candidate - near.value() : near.value() - candidate;
    if (distance < best_distance) {
      best_distance = distance;
      best = TraceeAddress(candidate);
    }
  };
  std::uint64_t previous = 0;
  for (const auto& mapping : mappings) {
    // Never directly below a stack: it grows into the gap.
    const auto gap_end = mapping.path == "[stack]" ? previous : mapping.range.begin().value();
    if (gap_end > previous) consider(previous, gap_end);
    previous = mapping.range.end().value();
    // Never directly above the heap: brk grows into the gap.
    if (mapping.path == "[heap]") previous += std::uint64_t{1} << 30;
  }
  consider(previous, kHighest);
  return best;
}

} // namespace sonictrace
