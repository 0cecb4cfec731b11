#include "sink/time_text.hpp"

#include <cstring>

#include "sonictrace/decode/digits.hpp"

namespace sonictrace {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

void put_two_digits(char* at, int value) {
  at[0] = static_cast<char>('0' + value / 10);
  at[1] = static_cast<char>('0' + value % 10);
}

} // namespace

TimeText::TimeText(TimeStamp form, bool nanoseconds) : form_(form), nanoseconds_(nanoseconds) {
  ::tzset(); // localtime_r need not do it (POSIX)
}

void TimeText::append(std::string& out, std::uint64_t time_ns) {
  switch (form_) {
    case TimeStamp::None: return;
    case TimeStamp::Epoch:
      append_decimal(out, time_ns / kSecond);
      append_fraction(out, time_ns % kSecond);
      return;
    case TimeStamp::Relative: {
      if (previous_ns_ == 0) previous_ns_ = time_ns;
      const std::uint64_t passed = time_ns > previous_ns_ ? time_ns - previous_ns_ : 0;
      previous_ns_ = time_ns;
      if (passed < 100 * kSecond) out += ' ';
      if (passed < 10 * kSecond) out += ' ';
      append_decimal(out, passed / kSecond);
      append_fraction(out, passed % kSecond);
      return;
    }
    case TimeStamp::Seconds:
    case TimeStamp::Microseconds: break;
  }
  const std::uint64_t second = time_ns / kSecond;
  if (second != cached_second_) {
    cached_second_ = second;
    const auto when = static_cast<std::time_t>(second);
    std::tm local = {};
    ::localtime_r(&when, &local);
    put_two_digits(clock_, local.tm_hour);
    clock_[2] = ':';
    put_two_digits(clock_ + 3, local.tm_min);
    clock_[5] = ':';
    put_two_digits(clock_ + 6, local.tm_sec);
  }
  out.append(clock_, sizeof clock_);
  if (form_ == TimeStamp::Microseconds) append_fraction(out, time_ns % kSecond);
}

void TimeText::append_fraction(std::string& out, std::uint64_t ns) const {
  out += '.';
  if (nanoseconds_) {
    append_padded(out, ns, 9);
  } else {
    append_padded(out, ns / 1000, 6);
  }
}

void append_duration(std::string& out, std::uint64_t duration_ns, bool nanoseconds) {
  out += '<';
  append_decimal(out, duration_ns / kSecond);
  out += '.';
  if (nanoseconds) {
    append_padded(out, duration_ns % kSecond, 9);
  } else {
    append_padded(out, duration_ns % kSecond / 1000, 6);
  }
  out += '>';
}

} // namespace sonictrace
