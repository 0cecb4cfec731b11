#include "engine/inline/linker_knock.hpp"

#include <fmt/format.h>
#include <sys/ptrace.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstring>
#include <string_view>

#include "engine/inline/rendezvous.hpp"
#include "sonictrace/base/clock.hpp"
#include "sonictrace/process/proc_files.hpp"

namespace sonictrace {
namespace {

constexpr std::size_t kSignalAt = 1, kProcessAt = 4;

/// void function: all registers that it changes are its caller's to save.
constexpr std::array<std::byte, LinkerKnock::kSize> kCode = {
    std::byte{0x6a}, std::byte{0},                                              // push $signal
    std::byte{0x5e},                                                            // pop %rsi
    std::byte{0xbf}, std::byte{0},    std::byte{0}, std::byte{0}, std::byte{0}, // mov $process,%edi
    std::byte{0x6a}, std::byte{0x3e}, // push $62, which is kill
    std::byte{0x58},                  // pop %rax
    std::byte{0x0f}, std::byte{0x05}, // syscall
    std::byte{0xc3},                  // ret
};
constexpr std::int64_t kBehindCall = 13;

/// As the process itself knows it (proc(5), NSpid).
std::optional<std::int32_t> own_number(pid_t pid) {
  const auto text = read_file(fmt::format("/proc/{}/status", pid));
  if (!text) return std::nullopt;
  constexpr std::string_view kKey = "\nNSpid:";
  const auto found = text->find(kKey);
  if (found == std::string::npos) return std::nullopt;
  std::string_view line = std::string_view(*text).substr(found + kKey.size());
  line = line.substr(0, line.find('\n'));
  line.remove_prefix(line.find_last_of(" \t") + 1);
  std::int32_t number = 0;
  if (std::from_chars(line.data(), line.data() + line.size(), number).ec != std::errc{})
    return std::nullopt;
  return number;
}

/// One whose default is to be ignored, so that it is nothing to the program; no tracer stops at a
/// blocked one.
std::optional<int> signal_for(pid_t tid) {
  const auto status = read_task_status(tid);
  if (!status) return std::nullopt;
  for (const int signal : {SIGWINCH, SIGURG})
    if (((status->blocked | status->caught) >> (signal - 1) & 1) == 0) return signal;
  return std::nullopt;
}

} // namespace

bool LinkerKnock::is_at(std::span<const std::byte> code) {
  if (code.size() < kSize) return false;
  for (std::size_t i = 0; i < kSize; ++i) {
    const bool varies = i == kSignalAt || (i >= kProcessAt && i < kProcessAt + 4);
    if (!varies && code[i] != kCode[i]) return false;
  }
  return true;
}

std::optional<LinkerKnock> LinkerKnock::put(std::shared_ptr<AddressSpace> space, pid_t tid,
                                            TraceeAddress function) {
  LinkerKnock knock;
  const auto& memory = space->memory();
  if (!Rendezvous::has_room(*space, function, kSize) || !memory.read(function, knock.before_))
    return std::nullopt;
  const auto number = own_number(tid);
  const auto signal = signal_for(tid);
  if (!number || !signal) return std::nullopt;
  auto code = kCode;
  code[kSignalAt] = static_cast<std::byte>(*signal);
  std::memcpy(code.data() + kProcessAt, &*number, sizeof *number);
  if (!memory.write_whole(function, code)) return std::nullopt;
  knock.space_ = std::move(space);
  knock.at_ = function;
  knock.signal_ = *signal;
  return knock;
}

bool LinkerKnock::is_in_it(const StoppedTracee& tracee) const {
  const auto registers = tracee.registers();
  return registers && registers->pc() == at_ + kBehindCall;
}

bool LinkerKnock::is_knocking(const StoppedTracee& tracee) const {
  return tracee.stop().kind == StopKind::Syscall && is_in_it(tracee);
}

bool LinkerKnock::is_heard(const StoppedTracee& tracee) const {
  return tracee.stop() == Stop{StopKind::SignalDelivery, signal_} && is_in_it(tracee);
}

StoppedTracee::Outcome LinkerKnock::answer(StoppedTracee tracee) const {
  const pid_t tid = tracee.tid();
  if (auto registers = tracee.registers()) {
    if (const auto caller = space_->memory().read_word(registers->sp())) {
      registers->set_pc(TraceeAddress(*caller));
      registers->set_sp(registers->sp() + 8);
      (void)tracee.set_registers(*registers);
    }
  }
  for (int signal = 0;;) { // the knock is dropped; another signal that came with it is not
    (void)interrupt(tid);
    (void)std::move(tracee).resume(signal); // killed meanwhile: the wait tells
    auto next = StoppedTracee::wait(tid);
    if (!next) return Exit{tid, {StopKind::Killed, SIGKILL}, monotonic_ns()};
    if (std::holds_alternative<Exit>(*next)) return *std::move(next);
    tracee = std::get<StoppedTracee>(*std::move(next));
    const Stop stop = tracee.stop();
    if (stop == Stop{StopKind::PtraceEvent, PTRACE_EVENT_STOP}) return tracee;
    signal = stop.kind == StopKind::SignalDelivery ? stop.detail : 0;
  }
}

void LinkerKnock::restore() const { (void)space_->memory().write_whole(at_, before_); }

} // namespace sonictrace
