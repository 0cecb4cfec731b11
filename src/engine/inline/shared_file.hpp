#pragma once

#include <cstdint>
#include <utility>

#include "engine/inline/remote_caller.hpp"
#include "sonictrace/base/unique_fd.hpp"

namespace sonictrace {

/// A file without a name, open in the process until this goes, and here.
class SharedFile {
public:
  /// `name_at`: where the process has its name.
  static Result<SharedFile> make(RemoteCaller& caller, TraceeAddress name_at);
  SharedFile(SharedFile&& other) noexcept
      : caller_(std::exchange(other.caller_, nullptr)), there_(other.there_),
        here_(std::move(other.here_)) {}
  ~SharedFile();

  std::uint64_t there() const { return there_; }
  const UniqueFd& here() const { return here_; }

private:
  SharedFile(RemoteCaller& caller, std::uint64_t there) : caller_(&caller), there_(there) {}

  RemoteCaller* caller_;
  std::uint64_t there_;
  UniqueFd here_;
};

} // namespace sonictrace
