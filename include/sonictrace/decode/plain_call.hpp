#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sonictrace/decode/render.hpp"
#include "sonictrace/proto/call_plan.hpp"

namespace sonictrace {

/// The short way to the text of calls whose values are numbers, addresses and strings, with nothing
/// inside of them and none that is known at the return only: the calls of most functions, and most
/// calls. What append_arguments and append_result write of such a call, this writes too, several
/// times as fast: to a place that has the room, without looking at a plan.
class PlainCall {
public:
  /// None where the plan has other values.
  static std::optional<PlainCall> make(const proto::CallPlan& plan, const ValueStyle& style);

  /// More bytes than the arguments and the result, together, touch where so many were captured.
  std::size_t room(std::size_t captured) const { return room_ + 4 * captured; }

  /// `1, "text", 0x7f`: the arguments; returns where they end. Null if what was captured is not
  /// what the plan captures as long as all can be read: append_arguments has to show it.
  char* put_arguments(char* at, std::span<const std::byte> entry) const {
    return guessed_words_ == arguments_.size() ? put_guesses(at, entry) : put_values(at, entry);
  }
  /// The result, likewise.
  char* put_result(char* at, std::span<const std::byte> leave) const;

private:
  enum class Form : std::uint8_t { Signed, Unsigned, Guess, Hex, Bool, Pointer, String };
  struct Step {
    Form form;
    std::uint8_t size;        ///< bytes of a number
    std::uint32_t text_limit; ///< bytes shown of a string
  };

  /// Of a function without a prototype: all are words of which nothing is known.
  char* put_guesses(char* at, std::span<const std::byte> entry) const;
  char* put_values(char* at, std::span<const std::byte> entry) const;
  static std::optional<Step> step_of(const wire::CaptureOp& op, const proto::RenderStep& look,
                                     const ValueStyle& style);
  /// Goes on to the next field. Null as above.
  static char* put_value(char* at, const Step& step, std::span<const std::byte>& fields);
  static char* put_number(char* at, const Step& step, const std::byte* bytes);
  static char* put_string(char* at, const Step& step, std::span<const std::byte> text, bool more);

  std::vector<Step> arguments_;
  std::size_t guessed_words_ = 0; ///< how many of the arguments are such
  std::optional<Step> result_;    ///< none: `<void>`, or nothing at all
  bool is_void_ = false;
  std::size_t room_ = 0;
};

} // namespace sonictrace
