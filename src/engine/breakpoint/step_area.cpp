// PatchedSpace's way past a breakpoint where no page can be mapped for displaced instructions.

#include <fmt/format.h>

#include <csignal>

#include "engine/breakpoint/patched_space.hpp"

namespace sonictrace {

Result<void> PatchedSpace::step(const Breakpoint& breakpoint, std::optional<StoppedTracee>& tracee,
                                std::optional<Exit>& killed) {
  const Error none(std::errc::not_supported, "no place for displaced instructions");
  if (!step_area_) return none;
  const TraceeAddress area = *step_area_;
  // The entry point itself is about to run, for the first and only time.
  if (area <= breakpoint.at && breakpoint.at < area + DisplacedInstruction::kSlotSize) return none;
  const auto content = breakpoint.instruction.relocate(area);
  if (!content) return content.error();
  if (step_area_content_.empty()) {
    step_area_content_.resize(DisplacedInstruction::kLongest);
    if (auto read = space_->memory().read(area, step_area_content_); !read) return read;
  }
  const auto copy = std::span(content->bytes).first(content->copy_size);
  if (auto written = space_->memory().write(area, copy); !written) return written;
  auto registers = tracee->registers();
  if (!registers) return registers.error();
  registers->set_pc(area);
  if (auto moved = tracee->set_registers(*registers); !moved) return moved;

  const pid_t tid = tracee->tid();
  for (;;) {
    auto next = std::move(*tracee).run_step();
    tracee.reset();
    if (!next) {
      killed = Exit{tid, {StopKind::Killed, SIGKILL}, 0};
      return {};
    }
    if (auto* exit = std::get_if<Exit>(&*next)) {
      killed = *exit;
      return {};
    }
    tracee.emplace(std::get<StoppedTracee>(*std::move(next)));
    auto after = tracee->registers();
    if (!after) continue;
    const bool executed = after->pc() == area + static_cast<std::int64_t>(content->copy_size);
    const bool own_signal = tracee->stop().kind == StopKind::SignalDelivery;
    if (!executed && !own_signal) continue; // an interrupt of ours: the step is still to come
    after->set_pc(executed ? breakpoint.instruction.next() : breakpoint.at);
    (void)tracee->set_registers(*after);
    return {};
  }
}

} // namespace sonictrace
