#pragma once

#include <map>
#include <string>
#include <string_view>

#include "trace.hpp"

// Programs that count their own calls: they print `calls NAME N`, and a child process `child calls
// NAME N`, several times if they like; `slack N` when N calls may have begun and not arrived, `open
// N` when N never return.
namespace sonictrace::test {

using Counts = std::map<std::string, long>;

/// What a program says of its own calls.
struct OwnAccount {
  Counts of_first;    ///< the first process and what it executes
  Counts of_children; ///< those of its children
  long slack = 0;
  long open = 0;     ///< calls that never return
  std::string other; ///< the rest of what it prints, which is the same in each run
};

OwnAccount own_account(const std::string& out);

/// The calls that a text log shows, by name. Reads a million lines in well under a second.
Counts calls_in_log(std::string_view text);

/// The calls that the table of `-c` shows, by name.
Counts calls_in_table(std::string_view text);

/// Each function of `expected` has as many calls in `actual`, or up to `slack` more or `open` less.
void expect_counts(const Counts& actual, const Counts& expected, long slack, long open = 0);

Counts operator+(Counts a, const Counts& b);

/// A setting from the environment, such as a number of rounds.
long setting(const char* name, long otherwise);

/// Fails in CI (CI=true), where all packages are, and skips elsewhere.
#define SKIP_WITHOUT(condition, what)                                                              \
  do {                                                                                             \
    if (condition) break;                                                                          \
    if (std::getenv("CI") != nullptr) FAIL() << what << " is not installed";                       \
    GTEST_SKIP() << what << " is not installed";                                                   \
  } while (false)

} // namespace sonictrace::test
