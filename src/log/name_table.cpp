#include "log/name_table.hpp"

#include <algorithm>

namespace sonictrace::log {
namespace {
constexpr std::size_t kPage = 64 * 1024;
}

std::uint32_t NameTable::add(std::string_view name, std::uint64_t hash, std::size_t slot) {
  if (names_.size() >= capacity_) return kFull;
  const auto number = static_cast<std::uint32_t>(names_.size());
  names_.push_back(keep(name));
  hashes_.push_back(hash);
  slots_[slot] = {static_cast<std::uint32_t>(hash >> 32), number + 1};
  if (names_.size() * 2 > slots_.size()) grow();
  return number;
}

std::string_view NameTable::keep(std::string_view name) {
  if (name.size() > left_) {
    left_ = std::max(kPage, name.size());
    pages_.push_back(std::make_unique<char[]>(left_ + 8)); // see is_same
    page_end_ = pages_.back().get() + left_;
  }
  char* const place = page_end_ - left_;
  std::copy(name.begin(), name.end(), place);
  left_ -= name.size();
  return {place, name.size()};
}

void NameTable::grow() {
  slots_.assign(slots_.size() * 2, {});
  for (std::uint32_t number = 0; number < names_.size(); ++number) {
    std::size_t i = hashes_[number] & (slots_.size() - 1);
    while (slots_[i].number != 0)
      i = (i + 1) & (slots_.size() - 1);
    slots_[i] = {static_cast<std::uint32_t>(hashes_[number] >> 32), number + 1};
  }
}

} // namespace sonictrace::log
