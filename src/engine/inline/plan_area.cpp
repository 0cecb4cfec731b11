#include "engine/inline/plan_area.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "engine/inline/areas.hpp"

namespace sonictrace {
namespace {

using wire::CaptureKind;
using wire::CaptureOp;

constexpr std::size_t kAreaSize = std::size_t{128} << 10;

/// What steps look at of a call: nothing but its words, and where some of these lead to.
struct WordsLookedAt {
  std::uint32_t end = 0;   ///< the byte behind the last one
  std::uint8_t probed = 0; ///< a bit for each word of which it matters whether it leads somewhere
};

/// None where the steps look at anything else. Of the words, the first `registers` bytes are of
/// general registers; behind `size` bytes there are none that are recorded.
class WordsOfSteps {
public:
  WordsOfSteps(std::uint32_t registers, std::uint32_t size) : registers_(registers), size_(size) {}

  std::optional<WordsLookedAt> of(std::span<const CaptureOp> steps) {
    if (!look(steps, 0)) return std::nullopt;
    return looked_at_;
  }

private:
  static constexpr std::uint32_t kWord = sizeof(std::uint64_t);

  bool look(std::span<const CaptureOp> steps, std::uint64_t base) {
    for (std::size_t at = 0; at < steps.size(); at += std::size_t{1} + steps[at].body)
      if (!look(steps[at], steps.subspan(at + 1, steps[at].body), base)) return false;
    return true;
  }

  bool look(const CaptureOp& step, std::span<const CaptureOp> body, std::uint64_t base) {
    const std::uint64_t place = base + step.offset;
    switch (step.kind) {
      case CaptureKind::Nothing: return body.empty();
      case CaptureKind::Value:
        return body.empty() && step.length == wire::LengthKind::None &&
               step.combine == wire::Combine::Alone && take(place, step.size);
      case CaptureKind::Check:
        return body.empty() && (step.detail == 1 ? take_probed(step, place)
                                                 : step.size <= kWord && take(place, step.size));
      case CaptureKind::Pointer: return body.empty() && take_probed(step, place);
      case CaptureKind::Struct: return look(body, place);
      case CaptureKind::Choice: return take(0, kWord) && look(body, base); // its head has word 0
      case CaptureKind::Reading: return look(body, base);
      default: return false;
    }
  }

  bool take(std::uint64_t place, std::uint32_t size) {
    if (place + size > size_) return false;
    looked_at_.end = std::max(looked_at_.end, static_cast<std::uint32_t>(place + size));
    return true;
  }
  bool take_probed(const CaptureOp& step, std::uint64_t place) {
    if (step.size != kWord || place % kWord != 0 || place + kWord > registers_) return false;
    looked_at_.probed |= static_cast<std::uint8_t>(1U << place / kWord);
    return take(place, kWord);
  }

  std::uint32_t registers_, size_;
  WordsLookedAt looked_at_;
};

std::uint8_t words_in(std::uint32_t bytes) { return static_cast<std::uint8_t>((bytes + 7) / 8); }

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

  // With vectors the words are numbered through, and all of them are there.
  const bool vectors = plan.vectors_at_entry;
  if (vectors) site.flags |= kSiteVectors;
  if (vectors && plan.has_format) site.flags |= kSiteVectorsByAl;
  WordsOfSteps entry(kVectorWordsAt, vectors ? kStackWordsAt : kVectorWordsAt);
  if (const auto looked_at = entry.of(plan.at_entry)) {
    site.flags |= kSiteEntryWords;
    site.entry_words = words_in(vectors ? kVectorWordsAt : looked_at->end);
    site.probed_words = looked_at->probed;
  }
  if (plan.vectors_at_return) site.flags |= kSiteResultVectors;
  if (plan.x87_at_return) site.flags |= kSiteX87;
  WordsOfSteps result(kResultVectorAt, plan.vectors_at_return ? kResultX87At : kResultVectorAt);
  if (const auto looked_at = result.of(plan.at_return)) {
    site.flags |= kSiteResultWords;
    site.result_words = words_in(plan.vectors_at_return ? kResultVectorAt : looked_at->end);
    site.probed_words |= static_cast<std::uint8_t>(looked_at->probed << kProbedResultsAt);
  }
  if (plan.keeps_words) {
    site.flags |= kSiteKeepsWords;
    site.kept_stack_words = plan.kept_stack_words;
  }
  return site;
}

} // namespace sonictrace
