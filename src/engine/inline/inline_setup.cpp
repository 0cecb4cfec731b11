#include "engine/inline/inline_setup.hpp"

#include <sys/auxv.h>

#include <algorithm>
#include <span>

extern "C" const std::byte sonictrace_agent_begin[];
extern "C" const std::byte sonictrace_agent_end[];

namespace sonictrace {
namespace {

wire::RecordForm form_of(RecordingOptions::Form form) {
  switch (form) {
    case RecordingOptions::Form::Whole: return wire::RecordForm::Whole;
    case RecordingOptions::Form::Split: return wire::RecordForm::Split;
    case RecordingOptions::Form::Count: return wire::RecordForm::Count;
  }
  return wire::RecordForm::Split;
}

/// How much of a call's stack to copy for so many frames. The first one, which is the return
/// address, needs none. Most frames have less than a hundred bytes, some a buffer for a path.
std::uint32_t stack_size_for(std::size_t frames) {
  if (frames == 0) return 0;
  constexpr std::size_t kOfFrame = 512, kLeast = std::size_t{8} << 10,
                        kMost = std::size_t{32} << 10;
  const std::size_t words = frames == 1 ? 0 : std::clamp(frames * kOfFrame, kLeast, kMost);
  return static_cast<std::uint32_t>(sizeof(wire::RingStack) + words);
}

} // namespace

Result<const InlineSetup::Made*> InlineSetup::get() {
  if (made_) return &*made_;
  if (!clock_.uses_tsc())
    return Error::saying("the processor's time stamp counter can't be used as a clock here");
  auto image = AgentImage::of(std::span(sonictrace_agent_begin, sonictrace_agent_end));
  if (!image) return std::move(image).error();
  // Where a call is made is recorded when it begins.
  const wire::RecordForm form =
      (places_.frames != 0 || places_.python) && recording_.form == RecordingOptions::Form::Whole
          ? wire::RecordForm::Split
          : form_of(recording_.form);
  auto costs = rehearse(*image, clock_, form);
  if (!costs) return std::move(costs).error();

  wire::AgentControl control{};
  control.call_ticks = costs->call_ticks;
  control.inside_ticks = costs->inside_ticks;
  control.ns_per_tick_32 = clock_.ns_per_tick_32();
  control.form = form;
  if (form == wire::RecordForm::Split) control.stack_size = stack_size_for(places_.frames);
  control.wants_histograms = recording_.percentiles;
  // What is sampled are the calls of all times. Where calls are recorded in two parts, the first
  // one comes before it is known how long the call takes.
  if (form == wire::RecordForm::Count ||
      (form == wire::RecordForm::Whole && recording_.sample <= 1))
    control.min_ticks = clock_.ticks_of(recording_.min_time_ns);
  control.max_depth = recording_.max_depth;
  constexpr std::uint64_t kShort = 100'000, kSignOfLife = 2'000'000'000; // ns
  control.thin_ticks = clock_.ticks_of(kShort);
  control.heartbeat_ticks = clock_.ticks_of(kSignOfLife);
  control.page_time_shift = wire::page_time_shift(control.heartbeat_ticks);
  const bool counting = form == wire::RecordForm::Count || recording_.thins;
  made_.emplace(Made{*image, control, counting, *costs});
  return &*made_;
}

std::uint64_t InlineSetup::cost_of_call_ns() const {
  return made_ ? clock_.duration_ns(made_->costs.call_ticks) : 0;
}

} // namespace sonictrace
