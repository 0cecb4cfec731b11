#include "engine/inline/area_directory.hpp"

#include <algorithm>
#include <span>

namespace sonictrace {

using wire::AreaList;
using wire::AreaRecord;

std::uint32_t AreaDirectory::count() const {
  std::uint32_t count = 0;
  const TraceeAddress at = at_ + std::int64_t{offsetof(AreaList, count)};
  if (!space_->memory().read(at, std::as_writable_bytes(std::span(&count, 1)))) return 0;
  return std::min<std::uint32_t>(count, wire::kMaxAreas);
}

void AreaDirectory::add(const AreaRecord& record) const {
  const std::uint32_t number = count();
  if (number == wire::kMaxAreas) return;
  const std::uint32_t next = number + 1;
  const TraceeMemory& memory = space_->memory();
  const TraceeAddress place =
      at_ + static_cast<std::int64_t>(offsetof(AreaList, areas) + number * sizeof record);
  if (!memory.write(place, std::as_bytes(std::span(&record, 1)))) return;
  (void)memory.write(at_ + std::int64_t{offsetof(AreaList, count)},
                     std::as_bytes(std::span(&next, 1)));
}

std::uint32_t AreaDirectory::word(std::int64_t offset) const {
  std::uint32_t word = 0;
  const auto bytes = std::as_writable_bytes(std::span(&word, 1));
  return space_->memory().read(at_ + offset, bytes) ? word : 0;
}

void AreaDirectory::put_word(std::int64_t offset, std::uint32_t word) const {
  (void)space_->memory().write(at_ + offset, std::as_bytes(std::span(&word, 1)));
}

void AreaDirectory::say_patched(bool is_patched) const {
  put_word(offsetof(AreaList, is_patched), is_patched ? 1 : 0);
}

bool AreaDirectory::is_patched() const { return word(offsetof(AreaList, is_patched)) != 0; }

void AreaDirectory::say_pools_ever(std::uint32_t pools) const {
  put_word(offsetof(AreaList, pools_ever), pools);
}

std::uint32_t AreaDirectory::pools_ever() const { return word(offsetof(AreaList, pools_ever)); }

std::vector<AreaRecord> AreaDirectory::read() const {
  std::vector<AreaRecord> records(count());
  const TraceeAddress at = at_ + std::int64_t{offsetof(AreaList, areas)};
  if (!space_->memory().read(at, std::as_writable_bytes(std::span(records)))) records.clear();
  return records;
}

} // namespace sonictrace
