#include "probe/call_table_store.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <vector>

#include "sonictrace/base/unique_fd.hpp"

namespace sonictrace {
namespace {

/// To be raised with each change of the structures below. A change of what find_calls finds needs
/// nothing: see this_program.
constexpr std::uint32_t kVersion = 2;
constexpr char kMagic[8] = {'s', 't', '-', 'c', 'a', 'l', 'l', 's'};
constexpr std::size_t kLongestBuildId = 64;      ///< bytes; linkers write 8 to 32
constexpr off_t kLargestFile = off_t{256} << 20; ///< bytes
constexpr std::size_t kMostFiles = 1000;         ///< in the directory; then it begins anew

/// Followed by the sites and the hoisted imports.
struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t import_count;
  std::uint32_t site_count;
  std::uint32_t hoisted_count;
  std::uint64_t program;   ///< that has searched the image
  std::uint64_t image_end; ///< where its last segment ends
  std::uint64_t checksum;  ///< of all that follows
};
static_assert(sizeof(Header) == 48);

struct KeptSite {
  std::uint64_t at;
  std::uint32_t import;
  std::uint8_t size;
  std::uint8_t kind;
  std::uint8_t in_plt;
  std::uint8_t unused;
};
static_assert(sizeof(KeptSite) == 16);

/// FNV-1a over words; against broken files, not against people.
std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0xcbf2'9ce4'8422'2325;
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
    sum = (sum ^ word) * 0x100'0000'01b3;
    sum ^= sum >> 29; // carries high bits down, as words are wider than FNV's bytes
  }
  return sum;
}

/// Of this very build: another one may find calls that this one does not, or places that it would
/// not touch. 0: unknown.
std::uint64_t this_program() {
  struct stat status;
  if (::stat("/proc/self/exe", &status) != 0) return 0;
  const std::array<std::uint64_t, 3> facts = {static_cast<std::uint64_t>(status.st_size),
                                              static_cast<std::uint64_t>(status.st_mtim.tv_sec),
                                              static_cast<std::uint64_t>(status.st_mtim.tv_nsec)};
  return checksum_of(std::as_bytes(std::span(facts)));
}

std::uint64_t end_of(const elf::Image& image) {
  std::uint64_t end = 0;
  for (const elf::Segment& segment : image.segments())
    end = std::max(end, segment.begin.value() + segment.memory_size);
  return end;
}

/// The build id's digits; empty where there is none.
std::string file_name(const elf::Image& image) {
  constexpr char kDigits[] = "0123456789abcdef";
  const std::string_view id = image.build_id();
  std::string name;
  if (id.size() < 8 || id.size() > kLongestBuildId) return name;
  for (const char c : id) {
    const auto byte = static_cast<unsigned char>(c);
    name += kDigits[byte >> 4];
    name += kDigits[byte & 0xf];
  }
  return name + ".calls";
}

bool is_ours_alone(const struct stat& status) {
  return status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

enum class Missing : std::uint8_t { Leave, Make };

/// Whether a directory may be made in this one: it is the user's own. (Of root, with the HOME of
/// somebody else in the environment, nothing is left in there.)
bool is_ours(const std::string& directory) {
  struct stat status;
  return ::stat(directory.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid();
}

/// Makes the directory, and its parent as well: nobody has a ~/.cache in a fresh home.
void make_directory(const std::string& path) {
  const auto parent_of = [](const std::string& of) {
    const auto slash = of.find_last_of('/');
    return slash == 0 || slash == std::string::npos ? std::string("/") : of.substr(0, slash);
  };
  const std::string parent = parent_of(path);
  struct stat status;
  if (::stat(parent.c_str(), &status) != 0 && errno == ENOENT && is_ours(parent_of(parent)))
    ::mkdir(parent.c_str(), 0700);
  if (is_ours(parent)) ::mkdir(path.c_str(), 0700);
}

/// The directory itself may not be a symbolic link; its parent may be reached through some.
std::optional<UniqueFd> open_directory(const std::string& path, Missing missing) {
  if (missing == Missing::Make) make_directory(path); // if it is there, what it is decides
  auto directory = UniqueFd::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  struct stat status;
  if (!directory || ::fstat(directory->get(), &status) != 0 || !is_ours_alone(status))
    return std::nullopt;
  return *std::move(directory);
}

std::optional<std::vector<std::byte>> read_file(const UniqueFd& directory,
                                                const std::string& name) {
  const UniqueFd file(
      ::openat(directory.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status;
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      !is_ours_alone(status) || status.st_size > kLargestFile ||
      status.st_size < static_cast<off_t>(sizeof(Header)))
    return std::nullopt;
  // Read, not mapped: a file that is cut meanwhile must not end the tracer.
  std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size));
  std::size_t have = 0;
  while (have < bytes.size()) {
    const auto n = ::read(file.get(), bytes.data() + have, bytes.size() - have);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    have += static_cast<std::size_t>(n);
  }
  return bytes;
}

bool write_all(const UniqueFd& file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto n = ::write(file.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

/// Keeps the directory small: programs are rebuilt, each with another build id.
void make_room(const UniqueFd& directory) {
  UniqueFd again(::openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!again) return;
  DIR* const entries = ::fdopendir(again.get());
  if (entries == nullptr) return;
  (void)again.release(); // closedir(3) closes it
  std::vector<std::string> names;
  while (const dirent* const entry = ::readdir(entries)) {
    const std::string_view name = entry->d_name;
    if (name.ends_with(".calls") || name.starts_with(".new-")) names.emplace_back(name);
  }
  ::closedir(entries);
  if (names.size() < kMostFiles) return;
  for (const std::string& name : names)
    ::unlinkat(directory.get(), name.c_str(), 0);
}

template <class T>
void append(std::vector<std::byte>& to, const T& value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  to.insert(to.end(), bytes.begin(), bytes.end());
}

std::vector<std::byte> bytes_of(const elf::Image& image, const elf::CallTable& table) {
  std::vector<std::byte> content;
  for (const elf::CallSite& site : table.sites)
    append(content,
           KeptSite{site.at.value(), site.import, site.size, static_cast<std::uint8_t>(site.kind),
                    static_cast<std::uint8_t>(site.in_plt), 0});
  for (const std::uint32_t import : table.hoisted)
    append(content, import);

  Header header{};
  std::copy(std::begin(kMagic), std::end(kMagic), header.magic);
  header.version = kVersion;
  header.import_count = static_cast<std::uint32_t>(table.imports.size());
  header.site_count = static_cast<std::uint32_t>(table.sites.size());
  header.hoisted_count = static_cast<std::uint32_t>(table.hoisted.size());
  header.program = this_program();
  header.image_end = end_of(image);
  header.checksum = checksum_of(content);
  std::vector<std::byte> bytes;
  append(bytes, header);
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}

/// Fills in the sites and hoisted imports of a table that has its imports.
bool read_table(std::span<const std::byte> bytes, const elf::Image& image, elf::CallTable& table) {
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const auto content = bytes.subspan(sizeof header);
  const std::size_t sites_size = std::size_t{header.site_count} * sizeof(KeptSite);
  const std::size_t hoisted_size = std::size_t{header.hoisted_count} * sizeof(std::uint32_t);
  if (!std::equal(std::begin(kMagic), std::end(kMagic), header.magic) ||
      header.version != kVersion || header.import_count != table.imports.size() ||
      header.program == 0 || header.program != this_program() ||
      header.image_end != end_of(image) || content.size() != sites_size + hoisted_size ||
      header.checksum != checksum_of(content))
    return false;

  table.sites.reserve(header.site_count);
  for (std::size_t index = 0; index < header.site_count; ++index) {
    KeptSite kept;
    std::memcpy(&kept, content.data() + index * sizeof kept, sizeof kept);
    if (kept.import >= table.imports.size() ||
        kept.kind > static_cast<std::uint8_t>(elf::SiteKind::Call) || kept.in_plt > 1)
      return false;
    const elf::CallSite site{ElfAddress(kept.at), kept.import, kept.size,
                             static_cast<elf::SiteKind>(kept.kind), kept.in_plt != 0};
    const bool in_order = table.sites.empty() || table.sites.back().at < site.at;
    if (!in_order || !elf::refers_to_slot(image, site, table.imports[site.import].slot))
      return false;
    table.sites.push_back(site);
  }
  for (std::size_t index = 0; index < header.hoisted_count; ++index) {
    std::uint32_t import;
    std::memcpy(&import, content.data() + sites_size + index * sizeof import, sizeof import);
    const bool in_order = table.hoisted.empty() || table.hoisted.back() < import;
    if (!in_order || import >= table.imports.size()) return false;
    table.hoisted.push_back(import);
  }
  return true;
}

} // namespace

std::optional<elf::CallTable> CallTableStore::load(const elf::Image& image) const {
  const std::string name = file_name(image);
  if (name.empty() || image.machine() != Machine::X86_64) return std::nullopt;
  const auto directory = open_directory(directory_, Missing::Leave);
  if (!directory) return std::nullopt;
  const auto bytes = read_file(*directory, name);
  if (!bytes) return std::nullopt;
  elf::CallTable table;
  table.imports = elf::find_imports(image);
  if (!read_table(*bytes, image, table)) return std::nullopt;
  return table;
}

void CallTableStore::keep(const elf::Image& image, const elf::CallTable& table) const {
  const std::string name = file_name(image);
  if (name.empty() || image.machine() != Machine::X86_64) return;
  const auto directory = open_directory(directory_, Missing::Make);
  if (!directory) return;
  make_room(*directory);
  // Unique among threads by the image's address, among processes by their number.
  char temporary[64];
  std::snprintf(temporary, sizeof temporary, ".new-%d-%zx", static_cast<int>(::getpid()),
                reinterpret_cast<std::size_t>(&image));
  const auto bytes = bytes_of(image, table);
  UniqueFd file(::openat(directory->get(), temporary,
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return;
  if (!write_all(file, bytes) ||
      ::renameat(directory->get(), temporary, directory->get(), name.c_str()) != 0)
    ::unlinkat(directory->get(), temporary, 0);
}

} // namespace sonictrace
