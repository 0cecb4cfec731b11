#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sonictrace::test {

/// One call as a log shows it, whole or put together from its two halves.
struct LoggedCall {
  enum class End { Returned, Unwound, NoReturn, Open };

  std::string thread; ///< "" for lines without one
  std::string time;   ///< of its entry, as printed
  std::string caller; ///< of CALLER->NAME
  std::string name;
  std::string module; ///< of NAME@MODULE
  std::vector<std::string> arguments;
  std::string result;
  std::string spent; ///< of -T, without the brackets
  End end = End::Open;

  bool operator==(const LoggedCall&) const = default;
};

/// A text log read back, for tests.
struct Log {
  std::vector<LoggedCall> calls;    ///< in the order in which their first lines stand
  std::vector<std::string> events;  ///< `--- ... ---` and `+++ ... +++`, without prefixes
  std::vector<std::string> strange; ///< lines that are nothing of it, as they are

  std::vector<LoggedCall> of(std::string_view name) const;
  /// Whether one of them matches the regular expression as a whole.
  bool has_event(const std::string& pattern) const;
};

/// Reads whole lines and split ones.
Log parse_log(std::string_view text);

/// `name(first arguments) = result`, as tracees print it.
std::string to_expectation(const LoggedCall& call, std::size_t arguments);

} // namespace sonictrace::test
