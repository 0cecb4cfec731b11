#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "sink/function_names.hpp"
#include "sink/line_prefix.hpp"
#include "sonictrace/stream/record_reader.hpp"

namespace sonictrace {

/// The short way to a whole line, for most calls: it is made in one piece, at a place that has the
/// room for it. Lines are gathered in a small block that stays in the processor's cache.
class PlainLines {
public:
  /// Both have to live as long.
  PlainLines(const TextOptions& options, LinePrefix& prefix);

  /// Adds the line of a call that has returned. False, with nothing done, where the call is none of
  /// the usual kind, or its line is very long.
  bool add(const wire::RecordHeader& header, const CallFields& fields,
           const FunctionNames::Function& function);

  /// The lines that were added since this was asked last: no other line may be written before they
  /// are. Valid until the next `add`.
  std::string_view take() {
    const std::string_view lines(block_.get(), used_);
    used_ = 0;
    return lines;
  }
  /// To be taken now: a line may have no room any more.
  bool is_full() const { return used_ > kBlock - kLongest; }

private:
  static constexpr std::size_t kBlock = std::size_t{16} * 1024;
  static constexpr std::size_t kLongest = std::size_t{4} * 1024; ///< bytes that a line touches
  static constexpr std::size_t kFewBlanks = 32;

  static char* put_blanks(char* at, std::size_t count);
  static char* put_name(char* at, std::string_view name);

  const TextOptions& options_;
  LinePrefix& prefix_;
  std::size_t room_; ///< that each line needs, besides what differs
  bool is_off_;      ///< a time that depends on the line before can't be put twice
  std::unique_ptr<char[]> block_;
  std::size_t used_ = 0;
};

} // namespace sonictrace
