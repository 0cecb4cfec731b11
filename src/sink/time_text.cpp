#include "sink/time_text.hpp"

namespace sonictrace {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

/// `.UUUUUU` or nine digits, of less than a second.
char* put_part_of_second(char* at, std::uint64_t ns, bool nanoseconds) {
  *at++ = '.';
  // 32 bits are enough, and are divided sooner.
  auto rest = static_cast<std::uint32_t>(ns);
  const std::uint32_t below = rest % 1000;
  rest /= 1000;
  put_pair(at, rest / 10'000);
  put_pair(at + 2, rest / 100 % 100);
  put_pair(at + 4, rest % 100);
  return nanoseconds ? put_padded(at + 6, below, 3) : at + 6;
}

} // namespace

TimeText::TimeText(TimeStamp form, bool nanoseconds) : form_(form), nanoseconds_(nanoseconds) {
  ::tzset(); // localtime_r need not do it (POSIX)
  read_clock(0);
}

char* TimeText::put_anew(char* at, std::uint64_t time_ns) {
  switch (form_) {
    case TimeStamp::None: return at;
    case TimeStamp::Epoch:
      at = put_decimal(at, time_ns / kSecond);
      return put_part_of_second(at, time_ns % kSecond, nanoseconds_);
    case TimeStamp::Relative: return put_relative(at, time_ns);
    case TimeStamp::Seconds:
    case TimeStamp::Microseconds: break;
  }
  // Wraps around before that second: as far away as any other one.
  std::uint64_t passed = time_ns - second_begin_ns_;
  if (passed >= kSecond) {
    read_clock(time_ns / kSecond);
    passed = time_ns % kSecond;
  }
  std::memcpy(at, clock_, sizeof clock_);
  at += sizeof clock_;
  if (form_ == TimeStamp::Seconds) return at;
  char* const end = put_part_of_second(at, passed, nanoseconds_);
  if (!nanoseconds_) {
    kept_begin_ns_ = time_ns - passed % kKeepFor;
    kept_for_ns_ = kKeepFor;
    std::memcpy(kept_, at - sizeof clock_, kKeptDigits);
  }
  return end;
}

char* TimeText::put_relative(char* at, std::uint64_t time_ns) {
  if (previous_ns_ == 0) previous_ns_ = time_ns;
  const std::uint64_t passed = time_ns > previous_ns_ ? time_ns - previous_ns_ : 0;
  previous_ns_ = time_ns;
  if (passed < 100 * kSecond) *at++ = ' ';
  if (passed < 10 * kSecond) *at++ = ' ';
  at = put_decimal(at, passed / kSecond);
  return put_part_of_second(at, passed % kSecond, nanoseconds_);
}

void TimeText::read_clock(std::uint64_t second) {
  second_begin_ns_ = second * kSecond;
  const auto when = static_cast<std::time_t>(second);
  std::tm local = {};
  ::localtime_r(&when, &local);
  put_padded(clock_, static_cast<unsigned>(local.tm_hour), 2);
  clock_[2] = ':';
  put_padded(clock_ + 3, static_cast<unsigned>(local.tm_min), 2);
  clock_[5] = ':';
  put_padded(clock_ + 6, static_cast<unsigned>(local.tm_sec), 2);
}

char* put_long_duration(char* at, std::uint64_t duration_ns, bool nanoseconds) {
  *at++ = '<';
  if (duration_ns < kSecond) { // as most are, and no division is needed
    *at++ = '0';
  } else {
    at = put_decimal(at, duration_ns / kSecond);
    duration_ns %= kSecond;
  }
  at = put_part_of_second(at, duration_ns, nanoseconds);
  *at = '>';
  return at + 1;
}

} // namespace sonictrace
