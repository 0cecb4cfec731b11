#include "sink/line_prefix.hpp"

#include <cstring>

#include "sonictrace/decode/digits.hpp"

namespace sonictrace {

LinePrefix::LinePrefix(const TextOptions& options)
    : options_(options), is_time_alone_(options.time != TimeStamp::None && !options.pid_prefix &&
                                        !options.instruction_pointer),
      time_(options.time, options.nanoseconds) {
  set_behind_time(0);
}

void LinePrefix::set_behind_time(pid_t thread) {
  static_assert(sizeof behind_time_ >= kDigitsRoom + sizeof "/ ");
  char* at = behind_time_;
  if (is_other(thread)) {
    *at++ = '/';
    at = put_decimal(at, thread);
  }
  *at++ = ' ';
  behind_time_of_ = thread;
  behind_time_size_ = static_cast<std::size_t>(at - behind_time_);
}

char* LinePrefix::put_all(char* at, pid_t thread, std::uint64_t time_ns,
                          std::uint64_t instruction) {
  const bool has_time = options_.time != TimeStamp::None;
  const bool other = is_other(thread);
  if (options_.pid_prefix || (other && !has_time)) at = put_thread(at, thread);
  if (has_time) {
    at = time_.put(at, time_ns);
    if (other && !options_.pid_prefix) {
      *at++ = '/';
      at = put_decimal(at, thread);
    }
    *at++ = ' ';
  }
  if (options_.instruction_pointer) {
    *at++ = '[';
    at = put_hex(at, instruction);
    *at++ = ']';
    *at++ = ' ';
  }
  return at;
}

char* LinePrefix::put_time(char* at, std::uint64_t time_ns) {
  if (options_.time == TimeStamp::None) return at;
  at = time_.put(at, time_ns);
  *at = ' ';
  return at + 1;
}

char* LinePrefix::put_thread(char* at, pid_t thread) const {
  if (options_.brackets) {
    std::memcpy(at, "[pid ", 5);
    at += 5;
  }
  at = put_decimal(at, thread);
  if (options_.brackets) *at++ = ']';
  *at = ' ';
  return at + 1;
}

} // namespace sonictrace
