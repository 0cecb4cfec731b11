#include "engine/inline/linker_line.hpp"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "engine/inline/shared_memory.hpp"
#include "sonictrace/base/clock.hpp"

namespace sonictrace {
namespace {

using wire::LinkerCommand;

void wake(std::uint32_t& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void tell(wire::SharedControl& line, LinkerCommand command) {
  store_shared(line.linker_command, static_cast<std::uint32_t>(command));
  wake(line.linker_command);
}

} // namespace

bool LinkerLine::is_asked() const {
  const auto& line = arena_->control();
  return load_shared(line.linker_asks) != load_shared(line.linker_answers);
}

Registers LinkerLine::caller() const {
  const auto& line = arena_->control();
  const auto word = [&](std::size_t number) { return load_shared(line.linker_registers[number]); };
  user_regs_struct raw{};
  raw.rip = word(0);
  raw.rsp = word(1);
  raw.rbx = word(2);
  raw.rbp = word(3);
  raw.r12 = word(4);
  raw.r13 = word(5);
  raw.r14 = word(6);
  raw.r15 = word(7);
  raw.cs = 0x33; // 64-bit code
  return Registers(raw);
}

void LinkerLine::answer() {
  auto& line = arena_->control();
  store_shared(line.linker_answers, load_shared(line.linker_asks));
  tell(line, LinkerCommand::GoOn);
}

Result<TraceeAddress> LinkerLine::map(TraceeAddress at, std::size_t size, int protection,
                                      int flags) {
  constexpr std::uint64_t kPatience = 1'000'000'000;
  auto& line = arena_->control();
  const std::uint32_t done = load_shared(line.linker_done);
  line.linker_arguments[0] = at.value();
  line.linker_arguments[1] = size;
  line.linker_arguments[2] = static_cast<std::uint64_t>(protection);
  line.linker_arguments[3] = static_cast<std::uint64_t>(flags);
  tell(line, LinkerCommand::Map);
  const std::uint64_t begin = monotonic_ns();
  while (load_shared(line.linker_done) == done) {
    if (monotonic_ns() - begin > kPatience)
      return Error(std::errc::timed_out, "mmap by a thread of the traced process");
    sched_yield();
  }
  const std::int64_t result = load_shared(line.linker_result);
  if (result < 0 && result > -4096)
    return Error(static_cast<std::errc>(-result),
                 fmt::format("mmap of {} bytes at {:#x}", size, at.value()));
  return TraceeAddress(static_cast<std::uint64_t>(result));
}

} // namespace sonictrace
