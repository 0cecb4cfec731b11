#include "engine/inline/plan_area.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "engine/inline/areas.hpp"

namespace sonictrace {
namespace {

using wire::CaptureKind;
using wire::CaptureOp;

constexpr std::size_t kAreaSize = std::size_t{128} << 10;

/// Whether all that the steps look at are the first `size` bytes of the call's words.
bool looks_at_words_only(const std::vector<CaptureOp>& steps, std::uint32_t size) {
  return std::all_of(steps.begin(), steps.end(), [&](const CaptureOp& step) {
    if (step.body != 0) return false;
    if (step.kind == CaptureKind::Nothing) return true;
    return step.kind == CaptureKind::Value && step.length == wire::LengthKind::None &&
           step.combine == wire::Combine::Alone && std::uint64_t{step.offset} + step.size <= size;
  });
}

/// How many words from the first one on the steps look at, of those that end at byte `end`.
std::uint8_t words_looked_at(const std::vector<CaptureOp>& steps, std::uint32_t end) {
  std::uint32_t last = 0;
  for (const CaptureOp& step : steps)
    if (step.kind == CaptureKind::Value && step.offset < end)
      last = std::max(last, std::min(step.offset + step.size, end));
  return static_cast<std::uint8_t>((last + 7) / 8);
}

/// With zeros for padding.
std::string bytes_of(const std::vector<CaptureOp>& steps) {
  constexpr std::size_t kPaddingBegin = offsetof(CaptureOp, detail) + sizeof(CaptureOp::detail);
  constexpr std::size_t kPaddingEnd = offsetof(CaptureOp, offset);
  std::string bytes(reinterpret_cast<const char*>(steps.data()), steps.size() * sizeof(CaptureOp));
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(CaptureOp))
    std::fill(&bytes[at + kPaddingBegin], &bytes[at + kPaddingEnd], '\0');
  return bytes;
}

} // namespace

PlanArea PlanArea::for_child(std::shared_ptr<AddressSpace> child) const {
  PlanArea copy = *this;
  if (directory_) copy.directory_ = directory_->for_child(child);
  copy.space_ = std::move(child);
  return copy;
}

void PlanArea::adopt(std::span<const wire::AreaRecord> areas, AreaDirectory directory) {
  directory_.emplace(std::move(directory));
  for (const auto& record : areas)
    if (record.kind == kPlanAreaKind)
      spare_.push_back(*AddressRange::make(TraceeAddress(record.begin),
                                           TraceeAddress(record.begin + record.size)));
}

Result<AddressRange> PlanArea::take_area(std::size_t size, RemoteMapper& mapper) {
  const auto spare = std::find_if(spare_.begin(), spare_.end(),
                                  [size](const auto& range) { return range.size() >= size; });
  if (spare != spare_.end()) {
    const AddressRange taken = *spare;
    spare_.erase(spare);
    return taken;
  }
  const auto at = mapper.map(TraceeAddress(0), size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS);
  if (!at) return at.error();
  if (directory_) directory_->add({at->value(), size, kPlanAreaKind, 0});
  return *AddressRange::make(*at, *at + static_cast<std::int64_t>(size));
}

Result<PlanArea::Places> PlanArea::place(const std::shared_ptr<const proto::CallPlan>& plan,
                                         RemoteMapper& mapper) {
  if (const auto known = places_.find(plan.get()); known != places_.end()) return known->second;
  const auto at_entry = place_steps(plan->at_entry, mapper);
  if (!at_entry) return at_entry.error();
  const auto at_return = place_steps(plan->at_return, mapper);
  if (!at_return) return at_return.error();
  const Places places{*at_entry, *at_return};
  places_.emplace(plan.get(), places);
  kept_.push_back(plan);
  return places;
}

Result<TraceeAddress> PlanArea::place_steps(const std::vector<CaptureOp>& steps,
                                            RemoteMapper& mapper) {
  if (steps.empty()) return TraceeAddress(0);
  std::string key = bytes_of(steps);
  if (const auto known = steps_.find(key); known != steps_.end()) return known->second;

  const auto bytes = std::as_bytes(std::span(key));
  if (end_.value() - next_.value() < bytes.size()) {
    if (auto flushed = flush(); !flushed) return std::move(flushed).error();
    const std::size_t size = std::max(kAreaSize, (bytes.size() + 4095) & ~std::size_t{4095});
    const auto area = take_area(size, mapper);
    if (!area) return area.error();
    next_ = area->begin();
    end_ = area->end();
  }
  if (unwritten_.empty()) unwritten_at_ = next_;
  unwritten_.insert(unwritten_.end(), bytes.begin(), bytes.end());
  const TraceeAddress at = next_;
  next_ = next_ + static_cast<std::int64_t>(bytes.size());
  steps_.emplace(std::move(key), at);
  return at;
}

Result<void> PlanArea::flush() {
  if (unwritten_.empty()) return {};
  if (auto done = space_->memory().write(unwritten_at_, unwritten_); !done) return done;
  unwritten_.clear();
  return {};
}

wire::Site make_site(const proto::CallPlan& plan, FunctionId function,
                     const PlanArea::Places& places) {
  using namespace wire; // the flags
  Site site{};
  site.function = function;
  site.entry_ops = places.at_entry.value();
  site.return_ops = places.at_return.value();
  site.entry_count = static_cast<std::uint16_t>(plan.at_entry.size());
  site.return_count = static_cast<std::uint16_t>(plan.at_return.size());
  site.entry_room = plan.entry_room;
  site.return_room = plan.return_room;

  const bool vectors = plan.vectors_at_entry;
  if (vectors) site.flags |= kSiteVectors;
  if (vectors && plan.has_format) site.flags |= kSiteVectorsByAl;
  if (looks_at_words_only(plan.at_entry, kStackWordsAt)) {
    site.flags |= kSiteEntryWords;
    // With vectors the words are numbered through, and all of them are there.
    site.entry_words =
        vectors ? std::uint8_t{kVectorWordsAt / 8} : words_looked_at(plan.at_entry, kVectorWordsAt);
  }
  if (plan.vectors_at_return) site.flags |= kSiteResultVectors;
  if (plan.x87_at_return) site.flags |= kSiteX87;
  if (looks_at_words_only(plan.at_return, kResultX87At)) {
    site.flags |= kSiteResultWords;
    site.result_words = plan.vectors_at_return ? std::uint8_t{kResultVectorAt / 8}
                                               : words_looked_at(plan.at_return, kResultVectorAt);
  }
  if (plan.keeps_words) {
    site.flags |= kSiteKeepsWords;
    site.kept_stack_words = plan.kept_stack_words;
  }
  return site;
}

} // namespace sonictrace
