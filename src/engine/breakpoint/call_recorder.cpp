#include "engine/breakpoint/call_recorder.hpp"

#include <algorithm>
#include <array>

#include "sonictrace/base/clock.hpp"
#include "sonictrace/wire/capture.hpp"

namespace sonictrace {
namespace {

/// The tracee's memory as the capture interpreter wants it.
struct CaptureMemory {
  const TraceeMemory& memory;

  std::size_t read(std::uint64_t address, std::byte* into, std::size_t size) const {
    return memory.read_some(TraceeAddress(address), std::span(into, size));
  }
};

constexpr std::size_t kMostArguments = 32;
constexpr std::uint16_t kDeepest = 0xffff;

} // namespace

void CallRecorder::enter(TracedThread& thread, const OpenCall& place, const Registers& registers,
                         std::uint64_t seen_ns) {
  const proto::CapturePlan& plan = *recorder_.functions().at(place.function).plan;
  const TraceeMemory& memory = thread.space->space().memory();

  std::array<std::uint64_t, kMostArguments> arguments{};
  const auto in_registers = registers.arguments();
  std::copy(in_registers.begin(), in_registers.end(), arguments.begin());
  if (plan.argument_words > in_registers.size()) {
    // The rest lies above the return address (psABI 3.2.3).
    const std::size_t wanted =
        std::min<std::size_t>(plan.argument_words, kMostArguments) - in_registers.size();
    (void)memory.read_some(
        place.slot + 8,
        std::as_writable_bytes(std::span(arguments).subspan(in_registers.size(), wanted)));
  }

  OpenCall call = place;
  call.call = recorder_.next_call();
  call.depth = static_cast<std::uint16_t>(std::min<std::size_t>(thread.calls.size() + 1, kDeepest));
  auto& records = recorder_.records_of(call.function);
  const auto room = records.enter(static_cast<std::uint32_t>(thread.tid), call.function, call.call,
                                  call.depth, to_realtime(seen_ns), call.return_address.value(),
                                  plan.entry_room);
  CaptureMemory readable{memory};
  records.commit(wire::run_capture(plan.at_entry.data(), plan.at_entry.size(), arguments.data(),
                                   readable, room.data(), room.size()));
  thread.calls.push(call);
}

void CallRecorder::leave(TracedThread& thread, const std::vector<EndedCall>& ended,
                         const Registers& registers, std::uint64_t seen_ns) {
  for (const auto& [call, returned] : ended) {
    // A call that was left ended when it was left, not now that we hear of it.
    const bool known = !returned && thread.unwound_ns > call.begin_ns;
    const std::uint64_t end_ns = known ? thread.unwound_ns : seen_ns;
    const std::uint64_t own_ns = (known ? thread.unwound_own_ns : thread.own_ns) - call.own_ns;
    const std::uint64_t gross_ns = end_ns > call.begin_ns ? end_ns - call.begin_ns : 0;
    const std::uint64_t ours_ns = own_ns + latency_ns_;
    const std::uint64_t duration_ns = gross_ns > ours_ns ? gross_ns - ours_ns : 0;

    const auto tid = static_cast<std::uint32_t>(thread.tid);
    auto& records = recorder_.records_of(call.function);
    if (!returned) {
      records.unwound(tid, call.function, call.call, call.depth, to_realtime(end_ns), duration_ns);
      continue;
    }
    const proto::CapturePlan& plan = *recorder_.functions().at(call.function).plan;
    const auto room = records.leave(tid, call.function, call.call, call.depth, to_realtime(end_ns),
                                    duration_ns, plan.return_room);
    const std::array<std::uint64_t, 1> result = {registers.result()};
    CaptureMemory readable{thread.space->space().memory()};
    records.commit(wire::run_capture(plan.at_return.data(), plan.at_return.size(), result.data(),
                                     readable, room.data(), room.size()));
  }
}

void CallRecorder::let_go(TracedThread& thread, std::uint64_t seen_ns, std::size_t opened) {
  const std::uint64_t now = monotonic_ns();
  const std::uint64_t held = now > seen_ns ? now - seen_ns : 0;
  held_ns_ += held;
  ++stops_;
  thread.own_ns += held + latency_ns_;
  thread.calls.start_clocks(opened, now, thread.own_ns);
}

} // namespace sonictrace
