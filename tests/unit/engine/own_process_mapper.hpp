#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <utility>
#include <vector>

#include "engine/inline/remote_mapper.hpp"

namespace sonictrace::test {

/// Maps memory in the test's own process, until it goes.
class OwnProcessMapper final : public RemoteMapper {
public:
  ~OwnProcessMapper() override {
    for (const auto& [at, size] : mapped_)
      ::munmap(at, size);
  }
  Result<TraceeAddress> map(TraceeAddress at, std::size_t size, int protection,
                            int flags) override {
    void* const mapped =
        ::mmap(reinterpret_cast<void*>(at.value()), size, protection, flags | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return Error::from_errno("mmap");
    mapped_.emplace_back(mapped, size);
    return TraceeAddress(reinterpret_cast<std::uint64_t>(mapped));
  }
  std::size_t count() const { return mapped_.size(); }

private:
  std::vector<std::pair<void*, std::size_t>> mapped_;
};

} // namespace sonictrace::test
