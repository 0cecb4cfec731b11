#include "sonictrace/probe/image_cache.hpp"

#include <sys/stat.h>

namespace sonictrace {

const Result<elf::CallTable>& ParsedImage::calls() {
  if (!calls_) calls_ = std::make_unique<Result<elf::CallTable>>(elf::find_calls(*image_));
  return *calls_;
}

Result<std::shared_ptr<ParsedImage>> ImageCache::get(const UniqueFd& file,
                                                     const std::string& name) {
  struct stat found;
  if (::fstat(file.get(), &found) < 0) return Error::from_errno(name);
  const Identity identity{found.st_dev, found.st_ino, static_cast<std::uint64_t>(found.st_size),
                          static_cast<std::uint64_t>(found.st_mtim.tv_sec),
                          static_cast<std::uint64_t>(found.st_mtim.tv_nsec)};
  if (const auto known = images_.find(identity); known != images_.end()) return known->second;
  auto image = elf::Image::open(file, name);
  if (!image) return std::move(image).error();
  auto parsed = std::make_shared<ParsedImage>(*std::move(image));
  images_.emplace(identity, parsed);
  return parsed;
}

} // namespace sonictrace
