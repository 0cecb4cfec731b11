#include "debuginfo/debug_file_finder.hpp"

#include <fcntl.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <optional>

namespace sonictrace::debuginfo {
namespace {

/// Bytes a second.
constexpr std::uint64_t kChecksumSpeed = 500'000'000;

struct Candidate {
  UniqueFd file;
  std::shared_ptr<const elf::Image> image;
};

std::optional<Candidate> open_candidate(const std::string& path) {
  auto file = UniqueFd::open(path.c_str(), O_RDONLY | O_NONBLOCK); // a FIFO must not block us
  if (!file) return std::nullopt;
  auto image = elf::Image::open(*file, path);
  if (!image) return std::nullopt;
  return Candidate{*std::move(file), *std::move(image)};
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += kDigits[value >> 4];
    text += kDigits[value & 0xf];
  }
  return text;
}

struct DebugLink {
  std::string name;
  std::uint32_t checksum = 0;
};

std::optional<DebugLink> debug_link_of(const elf::Image& image) {
  for (const elf::Section& section : image.sections()) {
    if (section.name != ".gnu_debuglink") continue;
    const std::string_view content(reinterpret_cast<const char*>(section.content.data()),
                                   section.content.size());
    const std::size_t end = content.find('\0');
    if (end == std::string_view::npos || end == 0) return std::nullopt;
    const std::size_t checksum_at = (end + 4) / 4 * 4;
    DebugLink link{std::string(content.substr(0, end)), 0};
    if (checksum_at + sizeof link.checksum > content.size()) return std::nullopt;
    if (link.name.find('/') != std::string::npos) return std::nullopt;
    std::memcpy(&link.checksum, content.data() + checksum_at, sizeof link.checksum);
    return link;
  }
  return std::nullopt;
}

/// Of a whole file; nothing where it can't be read.
std::optional<std::uint32_t> checksum_of(const UniqueFd& file) {
  std::vector<unsigned char> piece(1 << 20);
  uLong sum = ::crc32(0, nullptr, 0);
  for (off_t at = 0;;) {
    const auto size = ::pread(file.get(), piece.data(), piece.size(), at);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return std::nullopt;
    if (size == 0) return static_cast<std::uint32_t>(sum);
    sum = ::crc32(sum, piece.data(), static_cast<uInt>(size));
    at += size;
  }
}

/// Build IDs where both files have one, else the checksum.
bool belongs_to(const Candidate& candidate, const elf::Image& module, const DebugLink& link,
                const Budget& budget) {
  const std::string_view own = candidate.image->build_id();
  if (!own.empty() && !module.build_id().empty()) return own == module.build_id();
  const off_t size = ::lseek(candidate.file.get(), 0, SEEK_END);
  const double seconds = static_cast<double>(size) / static_cast<double>(kChecksumSpeed);
  const auto time =
      std::chrono::duration_cast<Budget::Clock::duration>(std::chrono::duration<double>(seconds));
  return size > 0 && budget.has(time) && checksum_of(candidate.file) == link.checksum;
}

} // namespace

std::unique_ptr<DebugFile> DebugFileFinder::find(const ModuleFile& module, Budget& budget) const {
  std::unique_ptr<DebugFile> found;
  const std::string build_id(module.image->build_id());
  {
    const Budget::Spending spending(budget);
    found = find_own(module, budget);
    if (!found && !build_id.empty()) found = find_by_build_id(build_id, false, budget);
    if (!found) found = find_by_link(module, budget);
  }
  if (!found && !build_id.empty() && fetch_) {
    const std::string path = fetch_(build_id); // has a time of its own
    const Budget::Spending spending(budget);
    auto fetched = path.empty() ? std::nullopt : open_candidate(path);
    if (fetched && fetched->image->build_id() == build_id)
      found = DebugFile::open(std::move(fetched->file), std::move(fetched->image), budget);
  }
  if (!found) return nullptr;
  const Budget::Spending spending(budget);
  found->set_shared(find_shared(*found, budget));
  return found;
}

std::unique_ptr<DebugFile> DebugFileFinder::find_own(const ModuleFile& module,
                                                     const Budget& budget) const {
  if (!has_debug_info(*module.image)) return nullptr;
  auto file = module.open();
  if (!file) return nullptr;
  return DebugFile::open(*std::move(file), module.image, budget);
}

std::unique_ptr<DebugFile> DebugFileFinder::find_by_build_id(const std::string& build_id,
                                                             bool is_shared,
                                                             const Budget& budget) const {
  const std::string digits = hex(build_id);
  constexpr std::size_t kDirectory = 2;
  if (digits.size() <= kDirectory) return nullptr;
  for (const std::string& directory : directories_) {
    const std::string path = directory + "/.build-id/" + digits.substr(0, kDirectory) + "/" +
                             digits.substr(kDirectory) + ".debug";
    auto candidate = open_candidate(path);
    if (!candidate || candidate->image->build_id() != build_id) continue;
    if (!is_shared && !has_debug_info(*candidate->image)) continue;
    if (auto opened =
            DebugFile::open(std::move(candidate->file), std::move(candidate->image), budget))
      return opened;
  }
  return nullptr;
}

std::unique_ptr<DebugFile> DebugFileFinder::find_by_link(const ModuleFile& module,
                                                         const Budget& budget) const {
  const auto link = debug_link_of(*module.image);
  if (!link) return nullptr;
  const std::string own = std::filesystem::path(module.path).parent_path().string();
  std::vector<std::string> paths = {own + "/" + link->name, own + "/.debug/" + link->name};
  for (const std::string& directory : directories_)
    paths.push_back(directory + own + "/" + link->name);
  for (const std::string& path : paths) {
    if (path == module.path) continue;
    auto candidate = open_candidate(path);
    if (!candidate || !has_debug_info(*candidate->image) ||
        !belongs_to(*candidate, *module.image, *link, budget))
      continue;
    if (auto opened =
            DebugFile::open(std::move(candidate->file), std::move(candidate->image), budget))
      return opened;
  }
  return nullptr;
}

std::unique_ptr<DebugFile> DebugFileFinder::find_shared(const DebugFile& of,
                                                        const Budget& budget) const {
  const auto link = of.shared_link();
  if (!link) return nullptr;
  const std::filesystem::path base = std::filesystem::path(of.image().name()).parent_path();
  if (auto candidate = open_candidate((base / link->path).string());
      candidate && candidate->image->build_id() == link->build_id)
    if (auto opened =
            DebugFile::open(std::move(candidate->file), std::move(candidate->image), budget))
      return opened;
  return find_by_build_id(link->build_id, true, budget);
}

} // namespace sonictrace::debuginfo
