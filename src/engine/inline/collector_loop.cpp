#include "engine/inline/collector_loop.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/inline/shared_memory.hpp"
#include "sonictrace/stream/record_reader.hpp"

namespace sonictrace {
namespace {

/// A record is in its ring so long after its time, or has at least taken its place there. ns
constexpr std::uint64_t kSettled = 20'000;
/// How long a place that was taken and not filled holds up the records of other rings. A thread may
/// lose its processor in between; one that is stopped there must not stop all others. ns
constexpr std::uint64_t kHoldUp = 50'000'000;
/// For a record that is missing in the middle of its ring. ns
constexpr std::uint64_t kPatience = 100'000'000;
/// Rounds until a ring counts as read to its end, though there may still be more: somebody goes on
/// writing to it. Each hole in it takes two.
constexpr int kMostRounds = 64;

/// When what the record tells of has ended or, of an Enter, begun.
std::uint64_t time_of(const RecordView& record) {
  const auto& header = record.header;
  return header.kind == wire::RecordKind::Call ? header.time_ns + header.detail : header.time_ns;
}

} // namespace

CollectorLoop::CollectorLoop(Sink& inner, CollectorQueue& queue, RingNumbers& numbers,
                             TickClock clock)
    : inner_(inner), queue_(queue), numbers_(numbers), clock_(std::move(clock)),
      python_(
          [this](const FrameDefinition& frame) { // see add_code
            flush();
            inner_.define(frame);
          },
          FrameIdPool(3, 4)) {
  maker_.use(python_);
}

bool CollectorLoop::pass() {
  // What the tracer is about to tell is seen to be held, or is in the queue.
  const std::uint64_t held = queue_.held();
  const std::uint64_t now = clock_.now();
  passed_on_ = 0;
  take_queue();
  look(now);
  hold_ = std::min(held, now - std::min(now, clock_.ticks_of(kSettled)));
  hold_back(now);
  return pass_on(now);
}

void CollectorLoop::pass_everything() {
  take_queue();
  const std::uint64_t now = clock_.now();
  // In order as far as nothing is missing, then the rest.
  for (int round = 0; round < kMostRounds; ++round) {
    look(now);
    hold_ = Merge::kNever;
    if (!pass_on(now)) break;
  }
  for (auto& readers : arenas_)
    drain(readers, now);
  look(now);
  hold_ = Merge::kNever;
  pass_on(now);
}

bool CollectorLoop::pass_on(std::uint64_t now) {
  const bool told = pass_on_queue(now);
  const bool read = merge(Merge::kNever, now);
  for (auto& readers : arenas_) {
    readers.for_each([](RingReader& reader) { reader.publish(); });
    if (readers.take_damaged() != 0)
      complaints_.push_back(
          "a traced process has written to memory that it shares with the tracer: "
          "calls of it are missing");
    readers.free_ended(functions_, clock_, now, out_);
  }
  flush();
  return told || read;
}

void CollectorLoop::take_queue() {
  const std::size_t had = pending_.size();
  queue_.take(pending_);
  for (std::size_t i = had; i < pending_.size(); ++i) {
    // Both at once: what comes out of it is put in order by its own time.
    if (auto* added = std::get_if<ArenaAdded>(&pending_[i].what)) {
      arenas_.emplace_back(added->arena, numbers_);
      for (const FunctionId function : thinned_)
        if (function < wire::kMaxFunctions)
          std::atomic_ref(added->arena->function_flags()[function]) |= wire::kFunctionThinned;
    } else if (auto* code = std::get_if<CodeAdded>(&pending_[i].what)) { // comes before its arena
      add_code(*code);
    } else if (const auto* removed = std::get_if<ArenaRemoved>(&pending_[i].what)) {
      for (auto& readers : arenas_)
        if (readers.arena() == removed->arena) readers.end_all();
    }
  }
}

void CollectorLoop::look(std::uint64_t now) {
  merge_.begin();
  const std::uint64_t patience = clock_.ticks_of(kPatience);
  for (auto& readers : arenas_) {
    readers.look(now, patience);
    readers.for_each([this](RingReader& reader) { merge_.add(reader); });
  }
}

void CollectorLoop::hold_back(std::uint64_t now) {
  const std::uint64_t longest = clock_.ticks_of(kHoldUp);
  for (auto& readers : arenas_)
    readers.for_each([&](const RingReader& reader) {
      if (reader.state() == RingReader::State::Blocked && now - reader.blocked_since() < longest)
        hold_ = std::min(hold_, reader.time() + 1);
    });
}

bool CollectorLoop::merge(std::uint64_t until, std::uint64_t now) {
  return merge_.read(until, hold_, now, maker_, out_, [this] { flush(); });
}

void CollectorLoop::flush() {
  if (out_.empty()) return;
  inner_.write(out_.batch());
  passed_on_ += out_.size();
  out_.clear();
}

bool CollectorLoop::pass_on_queue(std::uint64_t now) {
  bool something = false;
  // Where nothing else can come, nothing is waited for.
  while (!pending_.empty() && (pending_.front().ticks < hold_ || arenas_.empty())) {
    const QueueItem& item = pending_.front();
    // What a batch holds was recorded before it was put in, and goes between the others.
    if (!std::holds_alternative<QueuedBatch>(item.what)) {
      merge(item.ticks, now);
      if (item.ticks >= hold_ && !arenas_.empty()) break; // something is missing
    }
    flush();
    pass_on(item, now);
    pending_.pop_front();
    something = true;
  }
  return something;
}

void CollectorLoop::pass_on(const QueueItem& item, std::uint64_t now) {
  if (const auto* definition = std::get_if<Definition>(&item.what))
    define(*definition);
  else if (const auto* batch = std::get_if<QueuedBatch>(&item.what))
    pass_on_batch(batch->bytes, item.ticks, now);
  else if (const auto* open = std::get_if<QueuedOpenCalls>(&item.what))
    pass_on_open_calls(*open, now);
  else if (const auto* removed = std::get_if<ArenaRemoved>(&item.what))
    remove(*removed->arena, now);
  else if (const auto* learned = std::get_if<CodeLearned>(&item.what); learned && stacks_)
    stacks_->learn(*learned->arena, learned->gadgets, learned->mapped);
  else if (const auto* gone = std::get_if<CodeGone>(&item.what); gone && stacks_)
    stacks_->forget(*gone->arena, gone->range);
}

void CollectorLoop::add_code(CodeAdded& added) {
  if (!stacks_) {
    // The definition of a frame comes before the record that it is made for, and behind those that
    // its number may have meant another one for.
    stacks_ = std::make_unique<RecordedStacks>(added.frames, [this](const FrameDefinition& frame) {
      flush();
      inner_.define(frame);
    });
    maker_.use(*stacks_);
  }
  stacks_->add(*added.arena, std::move(added.code));
}

void CollectorLoop::define(const Definition& definition) {
  inner_.define(definition);
  if (const auto* function = std::get_if<FunctionDefinition>(&definition))
    functions_.add(*function);
}

/// All of it is earlier than `until`, as it was recorded before.
void CollectorLoop::pass_on_batch(RecordBatch batch, std::uint64_t until, std::uint64_t now) {
  std::size_t done = 0, run = 0; // bytes: passed on; of the records behind these, to go on together
  const auto write_run = [&] {
    if (run != 0) inner_.write(batch.subspan(done, run));
    done += std::exchange(run, 0);
  };
  std::uint64_t next_of_rings = merge_.next_time();
  RecordReader reader(batch);
  RecordView record;
  while (next_of_rings != Merge::kNever && reader.next(record)) {
    const std::uint64_t ticks = std::min(clock_.ticks_at(time_of(record)), until);
    if (ticks > next_of_rings) {
      write_run();
      merge(ticks, now);
      flush();
      next_of_rings = merge_.next_time();
    }
    run += record.header.size;
  }
  run = batch.size() - done;
  write_run();
  queue_.passed_on(batch.size());
}

void CollectorLoop::pass_on_open_calls(const QueuedOpenCalls& open, std::uint64_t now) {
  for (const auto& found : open.calls) {
    const wire::OpenCall& call = found.call;
    // As the agent would have written it.
    struct {
      wire::RingRecord header;
      std::uint8_t payload[sizeof call.data];
    } record = {};
    auto& header = record.header;
    header.time = call.begin;
    header.where = call.where;
    header.function = call.function;
    header.call = call.call;
    header.depth = call.depth;
    header.flags = call.flags & wire::kRingEntryWords;
    header.readable_words = call.readable_words;
    const std::size_t kept = std::min<std::size_t>(call.kept_words * 8U, sizeof call.data);
    const std::size_t room = sizeof call.data - kept;
    header.entry_size = call.entry_size <= room ? call.entry_size : 0;
    std::memcpy(record.payload, call.data + kept, room);
    if (maker_.write(header, wire::RingKind::Enter, room, {open.thread, open.numbers}, now, out_))
      ++calls_;
    else
      ++lost_;
    if (out_.is_full()) flush();
  }
  flush();
}

void CollectorLoop::drain(RingReader& reader, std::uint64_t now) {
  for (int round = 0; round < kMostRounds; ++round) {
    reader.look(now, 0);
    const std::uint64_t before = reader.position();
    while (reader.state() == RingReader::State::Ready) {
      reader.read(Merge::kNever, now, maker_, out_);
      if (out_.is_full()) flush();
    }
    reader.publish();
    if (reader.state() == RingReader::State::Empty && reader.position() == before) break;
  }
  flush();
}

void CollectorLoop::drain(ArenaReaders& readers, std::uint64_t now) {
  // In order, as far as nothing is missing.
  for (int round = 0; round < kMostRounds; ++round) {
    readers.look(now, 0);
    merge_.begin();
    readers.for_each([this](RingReader& reader) { merge_.add(reader); });
    hold_ = Merge::kNever;
    if (!merge(Merge::kNever, now)) break;
  }
  readers.for_each([&](RingReader& reader) { drain(reader, now); });
}

void CollectorLoop::remove(const Arena& arena, std::uint64_t now) {
  const auto found = std::find_if(arenas_.begin(), arenas_.end(), [&](const ArenaReaders& readers) {
    return readers.arena().get() == &arena;
  });
  if (found == arenas_.end()) return;
  const std::uint64_t hold = hold_; // still holds for the others
  drain(*found, now);
  hold_ = hold;
  found->read_counts(functions_, clock_, clock_.realtime_ns(now), out_);
  flush();
  calls_ += found->calls();
  lost_ += found->lost();
  left_out_ += found->left_out();
  numbers_.forget(arena);
  if (stacks_) stacks_->remove(arena);
  arenas_.erase(found);
  merge_.begin();
  for (auto& readers : arenas_)
    readers.for_each([this](RingReader& reader) { merge_.add(reader); });
}

void CollectorLoop::read_counts() {
  const std::uint64_t time_ns = clock_.realtime_ns(clock_.now());
  for (auto& readers : arenas_) {
    readers.read_counts(functions_, clock_, time_ns, out_);
    flush();
  }
}

void CollectorLoop::thin() {
  for (const FunctionId function : inner_.take_thinned()) {
    if (function >= wire::kMaxFunctions) continue;
    thinned_.push_back(function);
    for (auto& readers : arenas_)
      std::atomic_ref(readers.arena()->function_flags()[function]) |= wire::kFunctionThinned;
  }
}

std::uint64_t CollectorLoop::calls() const {
  std::uint64_t sum = calls_;
  for (const auto& readers : arenas_)
    sum += readers.calls();
  return sum;
}

std::uint64_t CollectorLoop::lost() const {
  std::uint64_t sum = lost_;
  for (const auto& readers : arenas_)
    sum += readers.lost();
  return sum;
}

LeftOutCalls CollectorLoop::left_out() const {
  LeftOutCalls sum = left_out_;
  for (const auto& readers : arenas_)
    sum += readers.left_out();
  return sum;
}

std::vector<std::string> CollectorLoop::take_complaints() { return std::exchange(complaints_, {}); }

} // namespace sonictrace
