#pragma once

#include <cstddef>

#include "sonictrace/base/address.hpp"
#include "sonictrace/base/result.hpp"

namespace sonictrace {

/// Makes a process map anonymous memory of its own.
class RemoteMapper {
public:
  virtual ~RemoteMapper() = default;
  /// mmap(2) with these, without a file.
  virtual Result<TraceeAddress> map(TraceeAddress at, std::size_t size, int protection,
                                    int flags) = 0;
};

} // namespace sonictrace
