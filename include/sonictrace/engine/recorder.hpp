#pragma once

#include <cstdint>

#include "sonictrace/engine/function_table.hpp"
#include "sonictrace/stream/record_writer.hpp"
#include "sonictrace/stream/sink.hpp"

namespace sonictrace {

/// What engines write to: records in batches, definitions in between, in the order of time.
class Recorder {
public:
  Recorder(FunctionTable& functions, Sink& sink) : functions_(functions), sink_(sink) {}

  FunctionTable& functions() { return functions_; }
  /// Room for a record of this function; its definition is sent on first if the sink lacks it.
  RecordBuffer& records_of(FunctionId function);
  /// Sends the function's definition on, if the sink lacks it: for records that come another way.
  void announce(FunctionId function);
  void define(const Definition& definition);
  /// Hands what is buffered to the sink.
  void flush();
  /// The same where it is time to: to be called when no tracee waits.
  void flush_if_full() {
    if (buffer_.is_full()) flush();
  }

  /// The id of a new call.
  std::uint64_t next_call() {
    ++calls_;
    return next_id();
  }
  std::uint64_t next_id() { return ++ids_; }
  std::uint64_t calls() const { return calls_; }
  void count_lost(std::uint64_t calls) { lost_ += calls; }
  std::uint64_t lost() const { return lost_; }

private:
  FunctionTable& functions_;
  Sink& sink_;
  RecordBuffer buffer_;
  std::uint64_t calls_ = 0;
  std::uint64_t ids_ = 0;
  std::uint64_t lost_ = 0;
};

} // namespace sonictrace
