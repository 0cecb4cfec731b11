#include "sink/plain_lines.hpp"

#include <cstring>

namespace sonictrace {
namespace {

/// Copies a text of a known size.
template <std::size_t kSize>
inline char* put(char* at, const char (&text)[kSize]) {
  std::memcpy(at, text, kSize - 1);
  return at + (kSize - 1);
}

} // namespace

PlainLines::PlainLines(const TextOptions& options, LinePrefix& prefix)
    : options_(options), prefix_(prefix),
      room_(LinePrefix::kRoom + kDurationRoom + kFewBlanks + sizeof "() =  \n" + options.align),
      is_off_(options.time == TimeStamp::Relative), block_(new char[kBlock]) {}

inline char* PlainLines::put_blanks(char* at, std::size_t count) {
  if (count <= kFewBlanks)
    std::memset(at, ' ', kFewBlanks); // of a constant size: two stores
  else
    std::memset(at, ' ', count);
  return at + count;
}

inline char* PlainLines::put_name(char* at, std::string_view name) {
  std::memcpy(at, name.data(), name.size());
  return at + name.size();
}

bool PlainLines::add(const wire::RecordHeader& header, const CallFields& fields,
                     const FunctionNames::Function& function) {
  if (!function.plain || is_off_) return false;
  const std::size_t indent =
      options_.indent != 0 && header.depth > 1 ? options_.indent * (header.depth - 1ul) : 0;
  const std::size_t captured = fields.entry.size() + fields.leave.size();
  if (room_ + indent + function.shown.size() + function.plain->room(captured) > kLongest)
    return false;

  char* const begin = block_.get() + used_;
  char* at = prefix_.put(begin, static_cast<pid_t>(header.thread), header.time_ns, header.call);
  if (indent != 0) at = put_blanks(at, indent);
  at = put_name(at, function.shown);
  *at++ = '(';
  at = function.plain->put_arguments(at, fields.entry, fields.leave);
  if (at == nullptr) return false;
  at = put(at, ") ");
  const auto width = static_cast<std::size_t>(at - begin);
  if (width + 1 < options_.align) at = put_blanks(at, options_.align - 1 - width);
  at = put(at, "= ");
  at = function.plain->put_result(at, fields.leave);
  if (at == nullptr) return false;
  if (options_.durations) {
    *at++ = ' ';
    at = put_duration(at, header.detail, options_.nanoseconds);
  }
  *at++ = '\n';
  used_ = static_cast<std::size_t>(at - block_.get());
  return true;
}

} // namespace sonictrace
