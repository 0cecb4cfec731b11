#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>

#include "sonictrace/stream/sink.hpp"
#include "sonictrace/wire/record.hpp"

namespace sonictrace {

/// Passes on no more than was asked for, where what records is ahead of whoever looks at limits.
class LimitedSink final : public Sink {
public:
  struct Limits {
    std::optional<std::uint64_t> calls;
    std::optional<std::uint64_t> bytes; ///< of log
  };

  LimitedSink(Sink& inner, const Limits& limits) : inner_(inner), limits_(limits) {}

  void define(const Definition& definition) override { inner_.define(definition); }
  void write(RecordBatch batch) override;
  void tick(std::uint64_t now_ns) override { inner_.tick(now_ns); }
  Result<void> finish(const SessionSummary& summary) override { return inner_.finish(summary); }
  std::uint64_t bytes_written() const override { return inner_.bytes_written(); }
  bool is_healthy() const override { return inner_.is_healthy(); }
  std::vector<FunctionId> take_thinned() override { return inner_.take_thinned(); }

private:
  bool takes(const wire::RecordHeader& record);

  Sink& inner_;
  Limits limits_;
  std::uint64_t calls_ = 0;
  std::unordered_set<std::uint64_t> open_; ///< calls whose begin was passed on
};

} // namespace sonictrace
