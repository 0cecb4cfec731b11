#include "engine/breakpoint/call_recorder.hpp"

#include <algorithm>

#include "sonictrace/base/clock.hpp"
#include "sonictrace/wire/capture.hpp"

namespace sonictrace {

namespace {

constexpr std::uint16_t kDeepestCounted = 0xffff;

/// From the call's beginning to its end, without the stops in between.
std::uint64_t net_of(const OpenCall& call, const CallEnd& end) {
  const std::uint64_t gross = end.seen_ns > call.begin_ns ? end.seen_ns - call.begin_ns : 0;
  const std::uint64_t ours = end.own_ns - call.own_ns;
  return gross > ours ? gross - ours : 0;
}

/// Half of a stop's latency lies behind the call's beginning, half before its end.
std::uint64_t duration_of(const OpenCall& call, const CallEnd& end, std::uint64_t latency_ns) {
  const std::uint64_t net = net_of(call, end);
  return net > latency_ns ? net - latency_ns : 0;
}

} // namespace

CallRecorder::CallRecorder(const EngineParts& parts)
    : recorder_(parts.recorder), latency_ns_(parts.stop_latency_ns),
      syscall_latency_ns_(parts.syscall_stop_latency_ns) {
  if (parts.frames > 0)
    backtracer_.emplace(
        opener(parts.images), parts.frames,
        [this](const FrameDefinition& frame) { recorder_.define(frame); }, FrameIdPool(0, 4));
  if (parts.python)
    python_.emplace([this](const FrameDefinition& frame) { recorder_.define(frame); });
}

void CallRecorder::learn_modules(const std::shared_ptr<AddressSpace>& space,
                                 std::span<const ProbeModule* const> fresh) {
  if (python_) python_->learn(space, fresh);
}

void CallRecorder::set_own_code(const std::shared_ptr<AddressSpace>& space, OwnCode code) {
  if (backtracer_) backtracer_->set_own_code(space, std::move(code));
}

void CallRecorder::forget_code(const AddressSpace& space, AddressRange range) {
  if (backtracer_) backtracer_->forget(space, range);
}

void CallRecorder::copy_code(const std::shared_ptr<AddressSpace>& parent,
                             const std::shared_ptr<AddressSpace>& child) {
  if (backtracer_) backtracer_->copy(parent, child);
  if (python_) python_->copy(parent, child);
}

void CallRecorder::record_frames(TracedThread& thread, const OpenCall& call,
                                 const Registers& registers, std::uint64_t seen_ns,
                                 std::span<const std::uint32_t> stack) {
  std::span<const std::uint32_t> frames = stack;
  if (python_) {
    const auto python =
        python_->frame_of(thread.space->shared_space(), registers.raw().fs_base, thread.python);
    if (!python && !backtracer_) return;
    if (python) {
      frames_.assign(1, *python);
      frames_.insert(frames_.end(), stack.begin(), stack.end());
      frames = frames_;
    }
  }
  recorder_.records_of(call.function)
      .frames(static_cast<std::uint32_t>(thread.tid), call.function, call.call, call.depth,
              to_realtime(seen_ns), frames);
}

void CallRecorder::record_syscall_frames(TracedThread& thread, const OpenCall& call,
                                         const Registers& registers, std::uint64_t seen_ns) {
  if (!shows_places()) return;
  std::span<const std::uint32_t> stack;
  if (backtracer_) stack = backtracer_->frames_of_syscall(thread.space->shared_space(), registers);
  record_frames(thread, call, registers, seen_ns, stack);
}

void CallRecorder::enter(TracedThread& thread, OpenCall call, const Registers& registers,
                         std::uint64_t seen_ns) {
  const proto::CallPlan& plan = *recorder_.functions().at(call.function).definition.plan;
  record_enter(thread, call, EntryWords::of_call(thread.tid, registers, call.slot, plan), seen_ns);
  if (shows_places()) {
    std::span<const std::uint32_t> stack;
    if (backtracer_)
      stack = backtracer_->frames_of_call(thread.space->shared_space(), registers,
                                          call.return_address, call.slot);
    record_frames(thread, call, registers, seen_ns, stack);
  }
  thread.calls.push(call);
}

void CallRecorder::record_enter(TracedThread& thread, OpenCall& call, const EntryWords& words,
                                std::uint64_t seen_ns) {
  const proto::CallPlan& plan = *recorder_.functions().at(call.function).definition.plan;
  CaptureMemory memory(thread.space->space().memory());
  call.call = recorder_.next_call();
  call.depth = static_cast<std::uint16_t>(
      std::min<std::size_t>(thread.calls.size() + thread.outer_depth + 1, kDeepestCounted));
  auto& records = recorder_.records_of(call.function);
  const auto room =
      records.enter(static_cast<std::uint32_t>(thread.tid), call.function, call.call, call.depth,
                    to_realtime(seen_ns), call.return_address.value(), plan.entry_room);
  records.commit(wire::run_capture(plan.at_entry.data(), plan.at_entry.size(), words.view(), memory,
                                   room.data(), room.size()));
  call.kept = words.keep(plan, memory);
}

void CallRecorder::leave(TracedThread& thread, const std::vector<EndedCall>& ended,
                         const Registers& registers, std::uint64_t seen_ns, pid_t stopped) {
  for (const auto& [call, returned] : ended) {
    if (returned) {
      const proto::CallPlan& plan = *recorder_.functions().at(call.function).definition.plan;
      record_return(thread, call, result_words(stopped, registers, plan), seen_ns,
                    duration_of(call, {seen_ns, thread.own_ns}, latency_ns_));
      continue;
    }
    // A call that was left ended when it was left, not now that we hear of it.
    const bool known = thread.unwound_ns > call.begin_ns;
    const CallEnd end =
        known ? CallEnd{thread.unwound_ns, thread.unwound_own_ns} : CallEnd{seen_ns, thread.own_ns};
    recorder_.records_of(call.function)
        .unwound(static_cast<std::uint32_t>(thread.tid), call.function, call.call, call.depth,
                 to_realtime(end.seen_ns), duration_of(call, end, latency_ns_));
  }
}

void CallRecorder::record_syscall_return(TracedThread& thread, const OpenCall& call,
                                         const ResultWords& results, const CallEnd& ended) {
  // The core may be a faster one now, or have been busy when it was measured: a call takes some
  // time, and a stop no more than the shortest call with it.
  const auto with_stop = net_of(call, ended);
  if (ended.own_ns == call.own_ns)
    syscall_latency_ns_ = std::min(syscall_latency_ns_, with_stop - with_stop / 8);
  record_return(thread, call, results, ended.seen_ns,
                duration_of(call, ended, syscall_latency_ns_));
}

void CallRecorder::record_return(TracedThread& thread, const OpenCall& call,
                                 const ResultWords& results, std::uint64_t seen_ns,
                                 std::uint64_t duration_ns) {
  const proto::CallPlan& plan = *recorder_.functions().at(call.function).definition.plan;
  auto& records = recorder_.records_of(call.function);
  const auto room = records.leave(static_cast<std::uint32_t>(thread.tid), call.function, call.call,
                                  call.depth, to_realtime(seen_ns), duration_ns, plan.return_room);
  CaptureMemory memory(thread.space->space().memory());
  const TraceeAddress stack(call.slot.value() == 0 ? 0 : call.slot.value() + 8);
  const ReturnWords words(results, call.kept.get(), stack);
  records.commit(wire::run_capture(plan.at_return.data(), plan.at_return.size(), words.view(),
                                   memory, room.data(), room.size()));
}

void CallRecorder::count_stop(TracedThread& thread, std::uint64_t seen_ns, std::uint64_t now,
                              std::uint64_t latency_ns) {
  const std::uint64_t held = now > seen_ns ? now - seen_ns : 0;
  held_ns_ += held;
  waited_ns_ += latency_ns;
  ++stops_;
  thread.own_ns += held + latency_ns;
}

void CallRecorder::let_go(TracedThread& thread, std::uint64_t seen_ns, std::size_t opened) {
  const std::uint64_t now = monotonic_ns();
  count_stop(thread, seen_ns, now, latency_ns_);
  thread.calls.start_clocks(opened, now, thread.own_ns);
}

void CallRecorder::let_go_of_syscall(TracedThread& thread, std::uint64_t seen_ns) {
  count_stop(thread, seen_ns, monotonic_ns(), syscall_latency_ns_);
}

} // namespace sonictrace
