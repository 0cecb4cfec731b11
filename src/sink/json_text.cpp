#include "sink/json_text.hpp"

#include "sonictrace/decode/digits.hpp"

namespace sonictrace {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

/// Decimal digits of `value`, with zeros in front, up to but not including `end`.
void put_digits(char* begin, char* end, int value) {
  while (end != begin) {
    *--end = static_cast<char>('0' + value % 10);
    value /= 10;
  }
}

} // namespace

void JsonObject::key(std::string_view name) {
  out_ += is_first_ ? "\"" : ",\"";
  is_first_ = false;
  out_ += name;
  out_ += "\":";
}

void JsonObject::number(std::string_view name, std::uint64_t value) {
  key(name);
  append_decimal(out_, value);
}

void JsonObject::signed_number(std::string_view name, std::int64_t value) {
  key(name);
  append_decimal(out_, value);
}

void append_json_summary(JsonObject& object, const SessionSummary& summary,
                         std::uint64_t damaged_batches) {
  object.number("calls", summary.calls);
  object.number("lost", summary.lost);
  object.number("modules", summary.modules);
  object.number("damaged_batches", damaged_batches);
  object.text_or_null("engine", summary.engine);
  object.number("cost_ns", summary.cost_ns);
  object.text_or_null("reason", summary.reason);
}

void JsonTime::append(JsonObject& object, std::uint64_t time_ns) {
  const std::uint64_t second = time_ns / kSecond;
  if (second != cached_second_) {
    cached_second_ = second;
    const auto when = static_cast<std::time_t>(second);
    std::tm utc = {};
    ::gmtime_r(&when, &utc);
    put_digits(text_, text_ + 4, utc.tm_year + 1900);
    text_[4] = '-';
    put_digits(text_ + 5, text_ + 7, utc.tm_mon + 1);
    text_[7] = '-';
    put_digits(text_ + 8, text_ + 10, utc.tm_mday);
    text_[10] = 'T';
    put_digits(text_ + 11, text_ + 13, utc.tm_hour);
    text_[13] = ':';
    put_digits(text_ + 14, text_ + 16, utc.tm_min);
    text_[16] = ':';
    put_digits(text_ + 17, text_ + 19, utc.tm_sec);
    text_[19] = '.';
  }
  std::string& out = object.value("time");
  out += '"';
  out.append(text_, sizeof text_);
  append_padded(out, time_ns % kSecond, 9);
  out += "Z\"";
  object.number("time_ns", time_ns);
}

} // namespace sonictrace
