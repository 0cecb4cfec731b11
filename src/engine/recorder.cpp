#include "sonictrace/engine/recorder.hpp"

namespace sonictrace {

RecordBuffer& Recorder::records_of(FunctionId function) {
  auto& traced = functions_.at(function);
  if (!traced.announced) {
    traced.announced = true;
    define(traced.definition);
  } else if (buffer_.is_full()) {
    flush();
  }
  return buffer_;
}

void Recorder::define(const Definition& definition) {
  flush();
  sink_.define(definition);
}

void Recorder::flush() {
  if (buffer_.empty()) return;
  sink_.write(buffer_.batch());
  buffer_.clear();
}

} // namespace sonictrace
