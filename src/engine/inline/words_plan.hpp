#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "sonictrace/wire/capture.hpp"

namespace sonictrace {

/// Makes the fields of a capture plan from a call's words, where the agent has recorded these as
/// they are: the plan looks at nothing else.
class WordsPlan {
public:
  WordsPlan() = default;
  /// `ops` live as long as this. `room`: bytes that they write at most.
  WordsPlan(std::span<const wire::CaptureOp> ops, std::size_t room);

  /// So many bytes may be written by `expand`, and eight behind them.
  std::size_t room() const { return room_; }
  /// `words` may be memory that changes meanwhile: each byte is only copied. `size` is at most
  /// kMostWords.
  std::size_t expand(const std::byte* words, std::size_t size, std::byte* out) const {
    if (size < needed_) [[unlikely]]
      return interpret(words, size, out);
    std::byte* to = out;
    if (whole_words_ != 0) {
      constexpr wire::FieldHeader kWord = {sizeof(std::uint64_t), wire::FieldState::Whole, 0};
      for (std::uint32_t left = whole_words_; left != 0; --left) {
        std::memcpy(to, &kWord, sizeof kWord);
        std::memcpy(to + sizeof kWord, words, sizeof(std::uint64_t));
        words += sizeof(std::uint64_t);
        to += sizeof kWord + sizeof(std::uint64_t);
      }
      return static_cast<std::size_t>(to - out);
    }
    for (const Step& step : steps_) {
      std::memcpy(to, &step.header, sizeof step.header);
      to += sizeof step.header;
      // Eight bytes at a time; what is too much is overwritten by the next field.
      std::memcpy(to, words + step.offset, 8);
      for (std::size_t done = 8; done < step.size; done += 8)
        [[unlikely]] std::memcpy(to + done, words + step.offset + done, 8);
      to += step.size;
    }
    return static_cast<std::size_t>(to - out);
  }

  static constexpr std::size_t kMostWords = 4096; ///< bytes

private:
  struct Step {
    wire::FieldHeader header;
    std::uint32_t offset;
    std::uint32_t size; ///< bytes, as the header says
  };

  std::size_t interpret(const std::byte* words, std::size_t size, std::byte* out) const;

  std::span<const wire::CaptureOp> ops_;
  std::vector<Step> steps_; ///< of a plan of plain values
  /// Of a plan that copies the first so many words as they are, as those of functions without a
  /// prototype do; else 0.
  std::uint32_t whole_words_ = 0;
  std::size_t needed_ =
      0; ///< bytes of words that they look at; more than there can be of another plan
  std::size_t room_ = 0;
};

} // namespace sonictrace
