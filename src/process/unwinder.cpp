#include "sonictrace/process/unwinder.hpp"

#include <libunwind-ptrace.h>

namespace sonictrace {

struct Unwinder::Space {
  struct Destroy {
    void operator()(unw_addr_space* space) const { unw_destroy_addr_space(space); }
  };
  std::unique_ptr<unw_addr_space, Destroy> handle{unw_create_addr_space(&_UPT_accessors, 0)};
};

Unwinder::Unwinder() : space_(std::make_unique<Space>()) {
  if (space_->handle) unw_set_caching_policy(space_->handle.get(), UNW_CACHE_GLOBAL);
}

Unwinder::~Unwinder() = default;

void Unwinder::forget() {
  if (space_->handle) unw_flush_cache(space_->handle.get(), 0, 0);
}

std::vector<TraceeAddress> Unwinder::frames(pid_t tid, std::size_t limit) {
  std::vector<TraceeAddress> found;
  if (!space_->handle) return found;
  const std::unique_ptr<void, void (*)(void*)> context(_UPT_create(tid), &_UPT_destroy);
  unw_cursor_t cursor;
  if (!context || unw_init_remote(&cursor, space_->handle.get(), context.get()) < 0) return found;
  do {
    unw_word_t address = 0;
    if (unw_get_reg(&cursor, UNW_REG_IP, &address) < 0 || address == 0) break;
    found.push_back(TraceeAddress(address));
  } while (found.size() < limit && unw_step(&cursor) > 0);
  return found;
}

} // namespace sonictrace
