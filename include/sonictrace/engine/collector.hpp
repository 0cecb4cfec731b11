#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sonictrace/base/address_range.hpp"
#include "sonictrace/stream/sink.hpp"

namespace sonictrace {

class Arena;
class TickClock;
struct MappedCode;
struct ProcessCode;

struct CollectorOptions {
  /// Called when a thread waits in the dynamic linker's rendezvous, again and again until it is
  /// answered. From other threads: it may do no more than wake the tracer's.
  std::function<void()> wake_tracer = nullptr;
  /// Once so many calls were recorded, `wake_tracer` is called as well; 0: never.
  std::uint64_t most_calls = 0;
  /// How often what was only counted is told, besides at its thread's end and at the session's; 0:
  /// never. ns
  std::uint64_t counts_every_ns = 0;
};

/// A call that is open in a thread.
struct OpenCallFound {
  std::uint64_t call = 0; ///< its id in the stream: pairs its Enter with its Return
  FunctionId function = 0;
  std::uint16_t depth = 1;
  std::uint32_t number = 0;          ///< the agent's: what Collector::inherited_call wants
  std::uint32_t pool = 0, entry = 0; ///< of its wire::OpenCall
};

/// Collects what is recorded, and hands it to another sink in the order of time: what the traced
/// processes write to their rings, and what the tracer's thread tells. All members are for that
/// thread; the sink is used by a thread of the collector's own, from the first to the end of
/// `stop`.
///
/// That thread takes no signals but SIGURG (ignored by default, so that a late one harms nobody),
/// whose handler does nothing: it ends the sink's wait for a reader who does not read. See
/// `interrupt`.
class Collector final : public Sink {
public:
  explicit Collector(Sink& inner, CollectorOptions options = {});
  ~Collector() override;
  Collector(const Collector&) = delete;

  /// Is passed on when everything was that any thread has recorded before now, and before what is
  /// recorded from now on.
  void define(const Definition& definition) override;
  /// The same, record by record. Waits, a tenth of a second at most, for a sink that is slow.
  void write(RecordBatch batch) override;
  void tick(std::uint64_t) override {} // the collector ticks by itself
  /// Stops, and finishes the other sink.
  Result<void> finish(const SessionSummary& summary) override;
  std::uint64_t bytes_written() const override;
  bool is_healthy() const override;

  /// The tracer deals with a stop that was seen at this time (CLOCK_MONOTONIC), and will have its
  /// records written before `release`: nothing later is passed on before them.
  void hold(std::uint64_t seen_ns);
  void release();

  /// Begins to read the rings of a process, which has none in use yet. `process`: the number that
  /// was reserved for it; 0: none was.
  void add_arena(std::shared_ptr<Arena> arena, std::uint32_t process = 0);
  /// For the backtraces of an arena's calls: to be told before it is added. `frames`: at most.
  void add_code(const std::shared_ptr<Arena>& arena, ProcessCode code, std::size_t frames);
  /// Its code is another from now on.
  void learn_code(const std::shared_ptr<Arena>& arena, std::vector<TraceeAddress> gadgets,
                  std::vector<MappedCode> mapped);
  void forget_code(const std::shared_ptr<Arena>& arena, AddressRange range);
  /// For a process that is to get an arena: for `inherited_call`.
  std::uint32_t reserve_process();
  /// The thread of this ring is gone. What it has left is read, then another thread can take it.
  void end_thread(const Arena& arena, std::uint32_t ring);
  /// The same by the tid that the thread had of itself.
  void end_thread(const Arena& arena, pid_t tid);
  /// The ring of a thread; none: ~0.
  std::uint32_t ring_of(const Arena& arena, pid_t tid) const;
  /// Tells of the calls that are open in a thread, which is stopped or gone, behind all that it has
  /// recorded: those that are to be told as a whole get an Enter, and a Return at their end.
  /// Returns all open ones, the outermost first.
  std::vector<OpenCallFound> publish_open_calls(const std::shared_ptr<Arena>& arena,
                                                std::uint32_t ring);
  /// The id of a call that a process has inherited. `number` is that of the parent's OpenCallFound.
  static std::uint64_t inherited_call(std::uint32_t process, std::uint32_t number);
  /// The process is gone, or was left. What it has recorded is read to its end.
  void remove_arena(const std::shared_ptr<Arena>& arena);

  /// Ends the sink's wait for its reader, now and each time that it waits again, so that whoever
  /// was told to end can do so. What could not be written stays pending in the sink.
  void interrupt();
  /// Reads everything to its end, and stops. While it waits for that, `in_haste` is asked about 20
  /// times a second; once it says yes, `interrupt` is called.
  void stop(const std::function<bool()>& in_haste = nullptr);

  /// The clock of the agents, for the tracer's thread.
  TickClock& clock();
  /// Of the rings, without what the tracer's thread has written.
  std::uint64_t calls() const;
  std::uint64_t lost() const;
  /// Of `calls`.
  LeftOutCalls left_out() const;
  /// What was wrong since it was last asked for, a line each.
  std::vector<std::string> take_complaints();

private:
  class Work;
  std::unique_ptr<Work> work_;
  FunctionId functions_ = 0; ///< no function of this id or above was defined
};

} // namespace sonictrace
