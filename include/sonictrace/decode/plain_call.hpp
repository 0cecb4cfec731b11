#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sonictrace/decode/render.hpp"
#include "sonictrace/proto/call_plan.hpp"

namespace sonictrace {

/// The short way to the text of calls whose values are numbers, addresses and strings, with nothing
/// inside of them and none that is known at the return only: the calls of most functions, and most
/// calls. Also where there are several ways to read them (proto::KnownReadings), as long as a call
/// rules none of them out. What append_arguments and append_result write of such a call, this
/// writes too, several times as fast: to a place that has the room, without looking at a plan.
class PlainCall {
public:
  /// None where the plan has other values.
  static std::optional<PlainCall> make(const proto::CallPlan& plan, const ValueStyle& style);

  /// More bytes than the arguments and the result, together, touch where so many were captured.
  std::size_t room(std::size_t captured) const { return room_ + 4 * captured; }

  /// `1, "text", 0x7f`: the arguments; returns where they end. Null if what was captured is not
  /// what the plan captures as long as all can be read, or if it tells something new:
  /// append_arguments has to show it. `leave`: what was captured at the return.
  char* put_arguments(char* at, std::span<const std::byte> entry,
                      std::span<const std::byte> leave) const {
    if (!readings_.empty()) return put_readings(at, entry, leave);
    return guessed_words_ == arguments_.size() ? put_guesses(at, entry)
                                               : put_values(at, arguments_, entry);
  }
  /// The result, likewise.
  char* put_result(char* at, std::span<const std::byte> leave) const;

private:
  enum class Form : std::uint8_t {
    Signed,
    Unsigned,
    Guess,
    Hex,
    Bool,
    Pointer,
    String,
    Reference, ///< a pointer, whether it leads somewhere or not
    Elided,    ///< `...`: of no field
  };
  struct Step {
    Form form;
    std::uint8_t size;        ///< bytes of a number
    std::uint32_t text_limit; ///< bytes shown of a string
  };

  /// One way to read the call's words.
  struct Reading {
    std::vector<Step> steps;
    std::size_t fields = 0;
    bool is_plain = true; ///< else only that it is there is known
  };

  /// Of a function without a prototype: all are words of which nothing is known.
  char* put_guesses(char* at, std::span<const std::byte> entry) const;
  static char* put_values(char* at, std::span<const Step> steps, std::span<const std::byte> entry);
  bool add_readings(const proto::CallPlan& plan, const ValueStyle& style);
  char* put_readings(char* at, std::span<const std::byte> entry,
                     std::span<const std::byte> leave) const;
  char* put_one_of(char* at, std::uint64_t captured, std::uint32_t possible,
                   std::span<const std::byte> fields) const;
  static std::optional<Step> step_of(const wire::CaptureOp& op, const proto::RenderStep& look,
                                     const ValueStyle& style);
  /// Goes on to the next field. Null as above.
  static char* put_value(char* at, const Step& step, std::span<const std::byte>& fields);
  static char* put_number(char* at, const Step& step, const std::byte* bytes);
  static char* put_string(char* at, const Step& step, std::span<const std::byte> text, bool more);

  std::vector<Step> arguments_;
  std::size_t guessed_words_ = 0; ///< how many of the arguments are such
  std::vector<Reading> readings_; ///< where there are several; the last is for when it is not known
  std::shared_ptr<const proto::KnownReadings> known_;
  bool has_result_word_ = false; ///< rax is captured first at the return
  std::optional<Step> result_;   ///< none: `<void>`, or nothing at all
  bool is_void_ = false;
  std::size_t room_ = 0;
};

} // namespace sonictrace
