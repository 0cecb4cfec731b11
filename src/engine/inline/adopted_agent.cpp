// InjectedAgent's way to use an agent once more that is there already.

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <span>

#include "engine/inline/area_directory.hpp"
#include "engine/inline/injected_agent.hpp"
#include "engine/inline/shared_file.hpp"

namespace sonictrace {
namespace {

using wire::AgentPrivate;

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

/// The steps of an adoption, in their order.
class Adoption {
public:
  Adoption(RemoteCaller& caller, const LeftAgent& left, const wire::AgentControl& settings)
      : caller_(caller), left_(left), control_(settings) {}

  Result<void> run(bool counting) {
    for (const long number : {SYS_mremap, SYS_futex, SYS_gettid, SYS_rt_sigprocmask})
      if (auto allowed = caller_.check(number, {}); !allowed) return allowed;
    if (auto done = check_clock(); !done) return done;
    // Nobody is in it, nor will be while all threads are stopped: but who comes then shall find it
    // switched off for as long as it is not whole.
    const wire::AgentSwitch off{};
    if (auto done = write(AgentPrivate::kSwitchAt, off); !done) return done;
    if (auto done = forget_threads(); !done) return done;
    if (auto done = replace_arena(counting); !done) return done;
    return write_control();
  }
  InjectedAgent::Places places() const {
    return {left_.text,           left_.private_data, TraceeAddress(control_.arena),
            left_.thunk_template, left_.thunk_unwind, left_.region};
  }
  const std::shared_ptr<Arena>& arena() const { return arena_; }

private:
  template <class T>
  Result<void> write(std::size_t offset, const T& value) {
    return caller_.space()->memory().write(at_private(offset), bytes_of(value));
  }
  TraceeAddress at_private(std::size_t offset) const {
    return left_.private_data + static_cast<std::int64_t>(offset);
  }

  /// See Injection.
  Result<void> check_clock() {
    const TraceeAddress answer = at_private(kScratchAt);
    if (!caller_.call(SYS_prctl, {PR_GET_TSC, answer.value()})) return {};
    const auto word = caller_.space()->memory().read_word(answer);
    if (!word || static_cast<std::uint32_t>(*word) != PR_TSC_SIGSEGV) return {};
    return Error::saying(
        "it may not read the processor's time stamp counter (prctl(2), PR_SET_TSC)");
  }

  /// What is dropped reads as zeros (madvise(2), of private anonymous memory).
  Result<void> forget_threads() {
    const auto drop = [this](std::size_t begin, std::size_t end) {
      return caller_.call(SYS_madvise, {at_private(begin).value(), end - begin, MADV_DONTNEED});
    };
    if (auto done = drop(AgentPrivate::kSwitchAt, AgentPrivate::kWipedEnd); !done)
      return std::move(done).error();
    if (auto done = drop(AgentPrivate::kBlocksAt, AgentPrivate::kEnd); !done)
      return std::move(done).error();
    wire::AgentBlock mute{};
    mute.is_muted = wire::kMutedByTracer;
    return write(AgentPrivate::kMuteBlockAt, mute);
  }

  Result<void> replace_arena(bool counting) {
    constexpr char kName[] = "sonictrace";
    if (auto written = write(kScratchAt, kName); !written) return written;
    const auto file = SharedFile::make(caller_, at_private(kScratchAt));
    if (!file) return file.error();
    auto arena = Arena::map(file->here(), counting);
    if (!arena) return std::move(arena).error();
    arena_ = *std::move(arena);
    // First of all, for a limit on address space (ulimit -v). Nobody looks at it meanwhile.
    if (left_.arena) {
      const auto& old = *left_.arena;
      if (auto done = caller_.call(SYS_munmap, {old.begin().value(), old.size()}); !done)
        return std::move(done).error();
    }
    // At the same place if there is room for it; else the kernel finds one.
    const std::uint64_t wish = left_.arena ? left_.arena->begin().value() : 0;
    const auto mapped = caller_.call(SYS_mmap, {wish, arena_->size(), PROT_READ | PROT_WRITE,
                                                MAP_SHARED | MAP_NORESERVE, file->there(), 0});
    if (!mapped) return mapped.error();
    (void)caller_.call(SYS_madvise, {*mapped, arena_->size(), MADV_DONTDUMP});
    control_.arena = *mapped;
    control_.max_rings = arena_->max_rings();
    return {};
  }

  Result<void> write_control() {
    control_.region = left_.region.begin().value();
    control_.region_end = left_.region.end().value();
    control_.thunk_template = left_.thunk_template.value();
    control_.thunk_unwind = left_.thunk_unwind.value();
    control_.first_pool = left_.next_first_pool();
    std::copy(left_.group_is_mapped.begin(), left_.group_is_mapped.end(), control_.group_is_mapped);
    arena_->control().pools_used = control_.first_pool;
    AreaDirectory(caller_.space(), at_private(AgentPrivate::kAreasAt))
        .say_pools_ever(left_.pools_ever);
    return write(AgentPrivate::kControlAt, control_);
  }

  /// The page of the mute block has room for a few words.
  static constexpr std::size_t kScratchAt = AgentPrivate::kMuteBlockAt + 2048;

  RemoteCaller& caller_;
  const LeftAgent& left_;
  wire::AgentControl control_;
  std::shared_ptr<Arena> arena_;
};

} // namespace

Result<InjectedAgent> InjectedAgent::adopt(RemoteCaller& caller, const AgentImage& image,
                                           const LeftAgent& left,
                                           const wire::AgentControl& settings, bool counting) {
  Adoption adoption(caller, left, settings);
  if (auto done = adoption.run(counting); !done) return std::move(done).error();
  return InjectedAgent(caller.space(), adoption.arena(), adoption.places(), image);
}

} // namespace sonictrace
