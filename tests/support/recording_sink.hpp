#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sonictrace/proto/call_plan.hpp"
#include "sonictrace/stream/record_reader.hpp"
#include "sonictrace/stream/sink.hpp"

namespace sonictrace {

/// A sink that keeps what it is given.
class RecordingSink : public Sink {
public:
  struct Record {
    wire::RecordHeader header;
    std::vector<std::byte> payload;
  };
  /// In the order in which they came: a record, or a definition.
  struct Entry {
    std::vector<Record> record; ///< one or none
    std::vector<Definition> definition;
  };

  void define(const Definition& definition) override { entries.push_back({{}, {definition}}); }
  void write(RecordBatch batch) override {
    RecordReader reader(batch);
    RecordView view;
    while (reader.next(view)) {
      entries.push_back({{{view.header, {view.payload.begin(), view.payload.end()}}}, {}});
    }
    is_sound &= reader.error() == nullptr;
  }
  void tick(std::uint64_t) override { ++ticks; }
  Result<void> finish(const SessionSummary&) override { return {}; }
  std::vector<FunctionId> take_thinned() override { return std::exchange(thinned, {}); }
  std::uint64_t bytes_written() const override { return entries.size(); }
  bool is_healthy() const override { return true; }

  std::vector<Record> records() const {
    std::vector<Record> all;
    for (const auto& entry : entries)
      all.insert(all.end(), entry.record.begin(), entry.record.end());
    return all;
  }

  std::vector<Entry> entries;
  std::vector<FunctionId> thinned;
  std::uint64_t ticks = 0;
  bool is_sound = true;
};

/// A function of four words and a word as its result.
inline FunctionDefinition words_function(FunctionId id, std::size_t words = 4) {
  auto plan = std::make_shared<proto::CallPlan>();
  for (std::size_t i = 0; i < words; ++i) {
    wire::CaptureOp op;
    op.offset = static_cast<std::uint32_t>(i * 8);
    plan->at_entry.push_back(op);
  }
  plan->at_return.push_back({});
  plan->entry_room = static_cast<std::uint32_t>(words * 12);
  plan->return_room = 12;
  FunctionDefinition function;
  function.id = id;
  function.mangled = "f" + std::to_string(id);
  function.plan = std::move(plan);
  return function;
}

/// The values of fields of eight bytes.
inline std::vector<std::uint64_t> values_of(std::span<const std::byte> fields) {
  std::vector<std::uint64_t> values;
  wire::FieldHeader header;
  while (fields.size() >= sizeof header) {
    std::memcpy(&header, fields.data(), sizeof header);
    if (header.size == 0 || header.size > 8 || fields.size() < sizeof header + header.size) break;
    std::uint64_t value = 0;
    std::memcpy(&value, fields.data() + sizeof header, header.size);
    values.push_back(value);
    fields = fields.subspan(sizeof header + header.size);
  }
  return values;
}

} // namespace sonictrace
