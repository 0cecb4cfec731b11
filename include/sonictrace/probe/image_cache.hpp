#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sonictrace/base/result.hpp"
#include "sonictrace/base/unique_fd.hpp"
#include "sonictrace/elf/calls.hpp"
#include "sonictrace/elf/image.hpp"
#include "sonictrace/names/scope_facts.hpp"

namespace sonictrace {

class CallTableStore;

/// An image and, once somebody asks, how it calls others. Shared by all processes that map the
/// file, and safe to use from several threads.
class ParsedImage {
public:
  /// Call tables are kept in `store` as well, where there is one.
  explicit ParsedImage(std::shared_ptr<const elf::Image> image,
                       std::shared_ptr<const CallTableStore> store = nullptr)
      : image_(std::move(image)), store_(std::move(store)) {}

  const elf::Image& image() const { return *image_; }
  std::shared_ptr<const elf::Image> shared_image() const { return image_; }
  /// Found at the first call, by the thread that comes first; a failure is kept as well.
  const Result<elf::CallTable>& calls();
  /// What its symbols tell of scopes and classes of C++; likewise.
  const names::ScopeFacts& scopes();

private:
  std::shared_ptr<const elf::Image> image_;
  std::shared_ptr<const CallTableStore> store_;
  std::once_flag found_;
  std::optional<Result<elf::CallTable>> calls_;
  std::once_flag scopes_read_;
  names::ScopeFacts scopes_;
};

/// Parses each file once, however often it is mapped: known by device, inode, size and time. Safe
/// to use from several threads.
class ImageCache {
public:
  ImageCache();
  ImageCache(ImageCache&&) noexcept;
  ImageCache& operator=(ImageCache&&) noexcept;
  /// Waits for the files that are being parsed, not for those that are still to be.
  ~ImageCache();

  Result<std::shared_ptr<ParsedImage>> get(const UniqueFd& file, const std::string& name);

  /// Keeps call tables that took long to find in `directory`, and takes them from there. To be
  /// called before anything else; see default_cache_directory.
  void keep_tables_in(const std::string& directory);

  /// Parses files on threads of its own, the first ones first, and comes back at once. Who asks for
  /// one of them in the meantime waits for it where it is being parsed, and parses it where it is
  /// not. A file that cannot be opened is left out. The threads have all signals blocked.
  void prefetch(std::vector<std::string> paths);
  /// The same of what has been opened already.
  void prefetch(std::vector<std::shared_ptr<ParsedImage>> images);

private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

/// $XDG_CACHE_HOME/sonictrace, or else ~/.cache/sonictrace. Nothing where neither is known, or in a
/// program that runs with another user's rights (AT_SECURE).
std::optional<std::string> default_cache_directory();

} // namespace sonictrace
