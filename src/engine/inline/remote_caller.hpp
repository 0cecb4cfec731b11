#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "engine/inline/remote_mapper.hpp"
#include "sonictrace/process/address_space.hpp"
#include "sonictrace/process/remote_call.hpp"
#include "sonictrace/process/stopped_tracee.hpp"

namespace sonictrace {

/// Makes system calls in a stopped thread. The thread may be at a breakpoint (a
/// signal-delivery-stop of SIGTRAP, which is dropped), or wherever it was interrupted
/// (PTRACE_EVENT_STOP), also in a system call. When this object goes, the thread is in a
/// PTRACE_EVENT_STOP, to be resumed without a signal, its registers as they were: a system call
/// that waits for its restart is restarted, or interrupted by a signal, as if nothing had been.
class RemoteCaller final : public RemoteMapper {
public:
  /// `tracee` holds the thread's token, until the first call, and again when this object is gone;
  /// or `killed` says how it died. Both outlive this object.
  RemoteCaller(std::shared_ptr<AddressSpace> space, std::optional<StoppedTracee>& tracee,
               std::optional<Exit>& killed)
      : space_(std::move(space)), tracee_(tracee), killed_(killed) {}
  RemoteCaller(const RemoteCaller&) = delete;
  ~RemoteCaller() override;

  /// Fails with operation_not_permitted where a seccomp filter would not let the call pass (it is
  /// not made then), with no_such_process when the thread is gone, else as the call itself.
  Result<std::uint64_t> call(long number, const std::array<std::uint64_t, 6>& arguments);
  /// Whether `call` would be tried.
  Result<void> check(long number, const std::array<std::uint64_t, 6>& arguments) {
    return prepare(number, arguments);
  }
  Result<TraceeAddress> map(TraceeAddress at, std::size_t size, int protection, int flags) override;

  const std::shared_ptr<AddressSpace>& space() const { return space_; }
  /// The thread; 0: it is gone.
  pid_t tid() const;
  /// So that none need be searched.
  void use_code(CallingCode code) { code_ = code; }

private:
  Result<void> prepare(long number, const std::array<std::uint64_t, 6>& arguments);
  std::shared_ptr<AddressSpace> space_;
  std::optional<StoppedTracee>& tracee_;
  std::optional<Exit>& killed_;
  std::optional<CallingCode> code_;
  std::optional<RemoteCalls> calls_; ///< has the token, from the first call on
  bool is_filtered_ = true;          ///< not known yet, or by seccomp
};

} // namespace sonictrace
