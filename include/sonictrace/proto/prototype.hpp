#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sonictrace/proto/type.hpp"

namespace sonictrace::proto {

struct Parameter {
  /// When it is shown what an out parameter points to; else the pointer is.
  enum class When : std::uint8_t {
    Default,    ///< `+`: see Prototype::shows_success_only
    Always,     ///< `+!`
    IfPositive, ///< `+?`: where the result is greater than zero
  };

  const Type* type = nullptr; ///< never null
  /// `+`: what it points to is filled by the function, and shown as it is at the return.
  bool out = false;
  When when = When::Default;
  /// `unless[argN](A, B) LENS`: not there where parameter N (1-based, an integer before this one;
  /// 0: always there) has one of these values.
  std::uint8_t depends_on = 0;
  std::vector<std::int64_t> absent_for = {};
};

/// One way in which the words of a call may be meant, where that is not known before it is made.
struct Reading {
  std::vector<Parameter> parameters; ///< those that take a place and are not shown have Lens::Hide
  bool result_in_memory = false; ///< the first one is where the result goes; rax is the same then
};

/// What is known of a function. Its types live in the arena of the library that it came from.
struct Prototype {
  std::string name;
  const Type* result = nullptr;
  std::vector<Parameter> parameters;
  /// What out parameters point to is shown only where the result does not say that the call failed:
  /// else it may be anything. So it is for those that are built in; `+` in a user's file means
  /// always.
  bool shows_success_only = false;
  bool guessed = false; ///< four words and a result, because nothing is known
  /// Where there is more than one way to read a call. Then `parameters` is what is shown of one for
  /// which it does not turn out which of them is right.
  std::vector<Reading> readings = {};

  /// The one for a function of which nothing is known.
  static const Prototype& unknown();
};

} // namespace sonictrace::proto
