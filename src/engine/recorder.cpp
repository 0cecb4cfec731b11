#include "sonictrace/engine/recorder.hpp"

namespace sonictrace {
namespace {

constexpr std::size_t kMostBuffered = std::size_t{512} * 1024; ///< bytes

} // namespace

RecordBuffer& Recorder::records_of(FunctionId function) {
  auto& traced = functions_.at(function);
  if (!traced.announced) {
    traced.announced = true;
    define(traced.definition);
  } else if (buffer_.batch().size() >= kMostBuffered) { // many tracees, and none leaves us time
    flush();
  }
  return buffer_;
}

void Recorder::announce(FunctionId function) {
  auto& traced = functions_.at(function);
  if (traced.announced) return;
  traced.announced = true;
  define(traced.definition);
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
