#include "engine/inline/injected_agent.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <optional>
#include <span>
#include <vector>

#include "engine/inline/big_room.hpp"
#include "engine/inline/shared_file.hpp"
#include "engine/inline/thunk_template.hpp"

namespace sonictrace {
namespace {

using wire::AgentControl;
using wire::AgentPrivate;

constexpr std::uint64_t kRegionSize = wire::kMaxGroups * wire::kGroupStride;
constexpr std::uint64_t kRegionWithSlack = kRegionSize + wire::kGroupStride + kThunkUnwindSize;
constexpr std::uint64_t kImageSize = wire::kAgentTextRoom + AgentPrivate::kEnd;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kNoFile = ~std::uint64_t{0};
constexpr std::uint64_t kUnbacked = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

/// Mappings of the process that are taken back unless all goes well.
class NewMappings {
public:
  explicit NewMappings(RemoteCaller& caller) : caller_(caller) {}
  NewMappings(const NewMappings&) = delete;
  ~NewMappings() {
    for (const auto& [at, size] : made_)
      (void)caller_.call(SYS_munmap, {at, size});
  }

  /// mmap(2). `at` 0: anywhere.
  Result<std::uint64_t> map(std::uint64_t at, std::uint64_t size, std::uint64_t protection,
                            std::uint64_t flags, std::uint64_t file) {
    auto mapped = caller_.call(SYS_mmap, {at, size, protection, flags, file, 0});
    if (!mapped) return mapped;
    if ((flags & MAP_FIXED) == 0) made_.push_back({*mapped, size});
    return mapped;
  }
  /// Takes a part of a mapping back at once.
  Result<std::uint64_t> unmap(std::uint64_t at, std::uint64_t size) {
    if (size == 0) return std::uint64_t{0};
    return caller_.call(SYS_munmap, {at, size});
  }
  void keep() { made_.clear(); }

private:
  struct Made {
    std::uint64_t at, size;
  };
  RemoteCaller& caller_;
  std::vector<Made> made_;
};

Result<void> fill(const UniqueFd& file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto n = ::write(file.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Error::from_errno("the template of the return thunks");
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

/// What stands behind a lack of memory.
Error explained(Error error, pid_t pid) {
  rlimit limit{};
  if (error.is(std::errc::not_enough_memory) && ::prlimit(pid, RLIMIT_AS, nullptr, &limit) == 0 &&
      limit.rlim_cur != RLIM_INFINITY)
    return Error::saying(
        fmt::format("process {} may have no more than {} MB of address space (ulimit -v), which "
                    "is too little for recording within it",
                    pid, limit.rlim_cur >> 20));
  return error;
}

/// The steps of an injection, in their order.
class Injection {
public:
  Injection(RemoteCaller& caller, const AgentImage& image, AgentControl settings, bool counting)
      : caller_(caller), image_(image), control_(settings), counting_(counting), made_(caller) {}

  Result<void> run() {
    if (auto allowed = check_calls_of_agent(); !allowed) return allowed;
    if (auto done = map_image(); !done) return done;
    if (auto done = check_clock(); !done) return done;
    if (auto done = map_arena(); !done) return done;
    if (auto done = map_thunks(); !done) return done;
    if (auto done = write_control(); !done) return done;
    made_.keep();
    return {};
  }
  InjectedAgent::Places places() const {
    const auto range = [](std::uint64_t begin, std::uint64_t size) {
      return *AddressRange::make(TraceeAddress(begin), TraceeAddress(begin + size));
    };
    return {range(text_, wire::kAgentTextRoom),   TraceeAddress(private_),
            TraceeAddress(control_.arena),        TraceeAddress(control_.thunk_template),
            TraceeAddress(control_.thunk_unwind), range(control_.region, kRegionSize)};
  }
  const std::shared_ptr<Arena>& arena() const { return arena_; }

private:
  const TraceeMemory& memory() const { return caller_.space()->memory(); }

  /// What the agent calls by itself later, so that no filter kills the process for it then.
  Result<void> check_calls_of_agent() {
    for (const long number : {SYS_mremap, SYS_futex, SYS_gettid, SYS_rt_sigprocmask})
      if (auto allowed = caller_.check(number, {}); !allowed) return allowed;
    return {};
  }

  /// prctl(PR_SET_TSC) takes the time stamp counter from a thread, its threads and children, and
  /// the programs that they run; a seccomp filter that refuses the question is no reason to think
  /// so.
  Result<void> check_clock() {
    const TraceeAddress answer = at_private(AgentPrivate::kControlAt);
    auto asked = caller_.call(SYS_prctl, {PR_GET_TSC, answer.value()});
    if (!asked) return {};
    const auto word = memory().read_word(answer);
    constexpr std::uint64_t kNothing = 0;
    if (auto cleared = memory().write(answer, bytes_of(kNothing)); !cleared) return cleared;
    if (!word || static_cast<std::uint32_t>(*word) != PR_TSC_SIGSEGV) return {};
    return Error::saying(
        "it may not read the processor's time stamp counter (prctl(2), PR_SET_TSC)");
  }

  /// An address for something large. Only a wish: the kernel gives another one where it can't be.
  std::uint64_t room_for(std::uint64_t size) {
    if (!room_) {
      const std::uint64_t all =
          kImageSize + (counting_ ? wire::ArenaLayout::kEndWithCounts : wire::ArenaLayout::kEnd) +
          kRegionWithSlack + 4 * kPage;
      const auto mappings = read_mappings(caller_.tid());
      const auto found = mappings ? find_big_room(*mappings, all) : std::nullopt;
      room_ = found ? found->value() : 0;
    }
    if (*room_ == 0) return 0;
    const std::uint64_t at = *room_;
    *room_ += (size + kPage - 1) & ~(kPage - 1);
    return at;
  }

  // Each part is mapped as it is to be: not by mprotect(2), which may not be allowed to make
  // anything executable (prctl(2), PR_SET_MDWE, and seccomp filters to the same end). Code is
  // written as a debugger does it, so that no page is ever writable and executable.
  Result<void> map_image() {
    const auto base = made_.map(room_for(kImageSize), kImageSize, PROT_NONE, kUnbacked, kNoFile);
    if (!base) return base.error();
    text_ = *base;
    private_ = text_ + wire::kAgentTextRoom;
    const std::uint64_t text_size = (image_.bytes().size() + kPage - 1) & ~(kPage - 1);
    if (auto done =
            made_.map(text_, text_size, PROT_READ | PROT_EXEC, kUnbacked | MAP_FIXED, kNoFile);
        !done)
      return std::move(done).error();
    if (auto done = made_.map(private_, AgentPrivate::kEnd, PROT_READ | PROT_WRITE,
                              kUnbacked | MAP_FIXED, kNoFile);
        !done)
      return std::move(done).error();
    if (auto done = memory().write(TraceeAddress(text_), image_.bytes()); !done) return done;
    // A fork child finds zeros there (madvise(2)): it is switched off, and knows no threads.
    auto wiped = caller_.call(SYS_madvise,
                              {private_ + AgentPrivate::kSwitchAt,
                               AgentPrivate::kWipedEnd - AgentPrivate::kSwitchAt, MADV_WIPEONFORK});
    if (!wiped) return std::move(wiped).error();
    wire::AgentBlock mute{};
    mute.is_muted = wire::kMutedByTracer;
    return memory().write(at_private(AgentPrivate::kMuteBlockAt), bytes_of(mute));
  }

  Result<SharedFile> make_file() {
    constexpr char kName[] = "sonictrace"; // where the control comes later
    const TraceeAddress at = at_private(AgentPrivate::kControlAt);
    if (auto written = memory().write(at, bytes_of(kName)); !written)
      return std::move(written).error();
    return SharedFile::make(caller_, at);
  }

  Result<void> map_arena() {
    const auto file = make_file();
    if (!file) return file.error();
    auto arena = Arena::map(file->here(), counting_);
    if (!arena) return std::move(arena).error();
    arena_ = *std::move(arena);
    const auto mapped = made_.map(room_for(arena_->size()), arena_->size(), PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_NORESERVE, file->there());
    if (!mapped) return mapped.error();
    // Or a core file has a hole of tens of gigabytes in it.
    (void)caller_.call(SYS_madvise, {*mapped, arena_->size(), MADV_DONTDUMP});
    control_.arena = *mapped;
    control_.max_rings = arena_->max_rings();
    return {};
  }

  Result<void> map_thunks() {
    const auto file = make_file();
    if (!file) return file.error();
    const TraceeAddress exit = TraceeAddress(text_ + image_.header().thunk_exit);
    if (auto filled = fill(file->here(), make_thunk_template(exit)); !filled) return filled;
    const auto code =
        made_.map(0, wire::kGroupCode, PROT_READ | PROT_EXEC, MAP_SHARED, file->there());
    if (!code) return code.error();
    control_.thunk_template = *code;

    // The region begins at a multiple of its groups' size, and the page for unwinders below it.
    const auto base =
        made_.map(room_for(kRegionWithSlack), kRegionWithSlack, PROT_NONE, kUnbacked, kNoFile);
    if (!base) return base.error();
    control_.region = (*base + kThunkUnwindSize + wire::kGroupStride - 1) & -wire::kGroupStride;
    control_.region_end = control_.region + kRegionSize;
    control_.thunk_unwind = control_.region - kThunkUnwindSize;
    if (auto done = made_.unmap(*base, control_.thunk_unwind - *base); !done)
      return std::move(done).error();
    if (auto done =
            made_.unmap(control_.region_end, *base + kRegionWithSlack - control_.region_end);
        !done)
      return std::move(done).error();

    if (auto done = made_.map(control_.thunk_unwind, kThunkUnwindSize, PROT_READ,
                              kUnbacked | MAP_FIXED, kNoFile);
        !done)
      return std::move(done).error();
    const auto page = make_thunk_unwind_page(TraceeAddress(control_.region), kRegionSize);
    if (auto done = memory().write(TraceeAddress(control_.thunk_unwind), page); !done) return done;
    // As many as a program may need that forbids itself system calls later (seccomp(2)).
    constexpr std::size_t kGroupsFromTheStart = 4;
    for (std::size_t group = 0; group < kGroupsFromTheStart; ++group) {
      const std::uint64_t at = control_.region + group * wire::kGroupStride;
      if (auto done = made_.map(at, wire::kGroupCode, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED,
                                file->there());
          !done)
        return std::move(done).error();
      if (auto done = made_.map(at + wire::kGroupCode, wire::kGroupEntries, PROT_READ | PROT_WRITE,
                                kUnbacked | MAP_FIXED, kNoFile);
          !done)
        return std::move(done).error();
      control_.group_is_mapped[group] = 1;
    }
    return {};
  }

  Result<void> write_control() {
    return memory().write(at_private(AgentPrivate::kControlAt), bytes_of(control_));
  }

  TraceeAddress at_private(std::size_t offset) const { return TraceeAddress(private_ + offset); }

  RemoteCaller& caller_;
  const AgentImage& image_;
  AgentControl control_;
  bool counting_;
  NewMappings made_;
  std::optional<std::uint64_t> room_; ///< where the next large thing goes; 0: anywhere
  std::uint64_t text_ = 0, private_ = 0;
  std::shared_ptr<Arena> arena_;
};

} // namespace

InjectedAgent::InjectedAgent(std::shared_ptr<AddressSpace> space, std::shared_ptr<Arena> arena,
                             const Places& places, const AgentImage& image)
    : space_(std::move(space)), arena_(std::move(arena)), threads_(space_, places.private_data),
      places_(places), header_(image.header()) {
  for (std::size_t i = 0; i < routines_.size(); ++i)
    routines_[i] = image.offset_of(static_cast<AgentRoutine>(i));
}

Result<InjectedAgent> InjectedAgent::inject(RemoteCaller& caller, const AgentImage& image,
                                            const AgentControl& settings, bool counting) {
  Injection injection(caller, image, settings, counting);
  if (auto done = injection.run(); !done)
    return explained(std::move(done).error(), caller.space()->pid());
  return InjectedAgent(caller.space(), injection.arena(), injection.places(), image);
}

Result<void> InjectedAgent::show_python(const wire::PythonLayout& layout) const {
  const TraceeAddress at =
      places_.private_data +
      static_cast<std::int64_t>(AgentPrivate::kControlAt + offsetof(wire::AgentControl, python));
  constexpr std::size_t kRuntime = sizeof layout.runtime;
  static_assert(offsetof(wire::PythonLayout, runtime) == 0);
  // A thread that sees the runtime sees the rest.
  if (auto done = space_->memory().write(at + std::int64_t{kRuntime},
                                         std::as_bytes(std::span(&layout, 1)).subspan(kRuntime));
      !done)
    return done;
  return space_->memory().write_word(at, layout.runtime);
}

TraceeAddress InjectedAgent::area_list() const {
  return places_.private_data + static_cast<std::int64_t>(AgentPrivate::kAreasAt);
}

InjectedAgent InjectedAgent::for_child(std::shared_ptr<AddressSpace> child) const {
  InjectedAgent copy = *this;
  copy.space_ = std::move(child);
  copy.threads_ = AgentThreads(copy.space_, places_.private_data);
  return copy;
}

Result<void> InjectedAgent::replace_arena(RemoteCaller& caller, bool counting) {
  // The page of the mute block has room for the name.
  constexpr char kName[] = "sonictrace";
  const TraceeAddress name_at =
      places_.private_data + static_cast<std::int64_t>(AgentPrivate::kMuteBlockAt + 2048);
  if (auto written = space_->memory().write(name_at, bytes_of(kName)); !written) return written;
  const auto file = SharedFile::make(caller, name_at);
  if (!file) return file.error();
  auto arena = Arena::map(file->here(), counting);
  if (!arena) return std::move(arena).error();
  auto mapped =
      caller.call(SYS_mmap, {places_.arena.value(), (*arena)->size(), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file->there(), 0});
  if (!mapped) return std::move(mapped).error();
  (void)caller.call(SYS_madvise, {places_.arena.value(), (*arena)->size(), MADV_DONTDUMP});
  arena_ = *std::move(arena);
  return {};
}

Result<void> InjectedAgent::switch_on(std::uint32_t inherits) const {
  const TraceeAddress at =
      places_.private_data + static_cast<std::int64_t>(AgentPrivate::kSwitchAt);
  constexpr std::int64_t kInherits = offsetof(wire::AgentSwitch, inherits);
  if (auto done = space_->memory().write(at + kInherits, bytes_of(inherits)); !done) return done;
  return space_->memory().write(at, bytes_of(std::uint32_t{1}));
}

Result<void> InjectedAgent::switch_off() const {
  const TraceeAddress at =
      places_.private_data + static_cast<std::int64_t>(AgentPrivate::kSwitchAt);
  return space_->memory().write(at, bytes_of(std::uint32_t{0}));
}

std::optional<TraceeAddress> InjectedAgent::entry_of_thunk(AddressRange region,
                                                           TraceeAddress address) {
  if (!region.contains(address)) return std::nullopt;
  const std::uint64_t offset = address.value() - region.begin().value();
  const std::uint64_t in_group = offset % wire::kGroupStride;
  const std::uint64_t thunk = in_group / wire::kThunkSize;
  if (thunk == 0 || thunk >= wire::kEntriesOfGroup) return std::nullopt;
  return region.begin() + static_cast<std::int64_t>(offset - in_group + wire::kGroupCode +
                                                    thunk * sizeof(wire::AgentEntry));
}

} // namespace sonictrace
