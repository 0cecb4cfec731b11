#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "sonictrace/base/result.hpp"
#include "sonictrace/base/unique_fd.hpp"
#include "sonictrace/elf/calls.hpp"
#include "sonictrace/elf/image.hpp"

namespace sonictrace {

/// An image and, once somebody asks, how it calls others. Shared by all processes that map the file.
class ParsedImage {
public:
  explicit ParsedImage(std::shared_ptr<const elf::Image> image) : image_(std::move(image)) {}

  const elf::Image& image() const { return *image_; }
  /// Found at the first call; a failure is kept as well.
  const Result<elf::CallTable>& calls();

private:
  std::shared_ptr<const elf::Image> image_;
  std::unique_ptr<Result<elf::CallTable>> calls_;
};

/// Parses each file once, however often it is mapped: known by device, inode, size and time.
class ImageCache {
public:
  Result<std::shared_ptr<ParsedImage>> get(const UniqueFd& file, const std::string& name);

private:
  struct Identity {
    std::uint64_t device, inode, size, seconds, nanoseconds;
    auto operator<=>(const Identity&) const = default;
  };
  std::map<Identity, std::shared_ptr<ParsedImage>> images_;
};

} // namespace sonictrace
