#include "engine/inline/shared_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>

namespace sonictrace {

Result<SharedFile> SharedFile::make(RemoteCaller& caller, TraceeAddress name_at) {
  // Where vm.memfd_noexec is 2, only files that are never to be executed (by execve(2)) may be
  // made (memfd_create(2)); older kernels don't know that flag.
  constexpr std::uint64_t kNoExecSeal = 8;
  auto number = caller.call(SYS_memfd_create, {name_at.value(), MFD_CLOEXEC});
  if (!number && number.error().is(std::errc::permission_denied))
    number = caller.call(SYS_memfd_create, {name_at.value(), MFD_CLOEXEC | kNoExecSeal});
  if (!number) return std::move(number).error();
  SharedFile made(caller, *number);
  // Of the thread, which may have a table of open files of its own (clone(2), CLONE_FILES).
  auto opened =
      UniqueFd::open(fmt::format("/proc/{}/fd/{}", caller.tid(), *number).c_str(), O_RDWR);
  if (!opened) return std::move(opened).error();
  made.here_ = *std::move(opened);
  return made;
}

SharedFile::~SharedFile() {
  if (caller_ != nullptr) (void)caller_->call(SYS_close, {there_});
}

} // namespace sonictrace
