#include "elf/mapped_file.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

namespace sonictrace::elf {

Result<MappedFile> MappedFile::map(const UniqueFd& file, const std::string& name) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return Error::from_errno(name);
  if (S_ISDIR(status.st_mode)) return Error(std::errc::is_a_directory, name);
  if (!S_ISREG(status.st_mode) || status.st_size <= 0)
    return Error(std::errc::executable_format_error, name + ": not an ELF file");

  const auto size = static_cast<std::size_t>(status.st_size);
  void* const begin = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (begin == MAP_FAILED) return Error::from_errno("map " + name);
  return MappedFile({static_cast<const std::byte*>(begin), size});
}

MappedFile::~MappedFile() {
  // munmap(2) does not write to the memory, so that the const_cast is sound.
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

} // namespace sonictrace::elf
