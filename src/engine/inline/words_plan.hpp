#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "sonictrace/proto/call_plan.hpp"
#include "sonictrace/wire/capture.hpp"

namespace sonictrace {

/// Makes the fields of a capture plan from a call's words, where the agent has recorded these as
/// they are: the plan looks at nothing else but whether some of them lead somewhere.
class WordsPlan {
public:
  WordsPlan() = default;
  /// `ops` live as long as this, and so does `known`: what is known so far of the ways to read a
  /// call, where there is more than one. `room`: bytes that they write at most.
  WordsPlan(std::span<const wire::CaptureOp> ops, std::size_t room,
            const proto::KnownReadings* known = nullptr);

  /// So many bytes may be written by `expand`, and eight behind them.
  std::size_t room() const { return room_; }
  /// `words` may be memory that changes meanwhile: each byte is only copied. `size` is at most
  /// kMostWords. `readable`: a bit for each word that leads to something that can be read.
  std::size_t expand(const std::byte* words, std::size_t size, std::uint32_t readable,
                     std::byte* out) const {
    if (size < needed_) [[unlikely]]
      return interpret(words, size, readable, out);
    if (whole_words_ != 0) return put_whole_words(words, out);
    if (readings_.empty()) return put(steps_, words, readable, out);
    return choose(words, readable, out);
  }

  static constexpr std::size_t kMostWords = 4096; ///< bytes

private:
  class Compiler;

  /// Of a value of the words.
  struct Step {
    std::uint32_t header;     ///< a wire::FieldHeader, as a number
    std::uint32_t unreadable; ///< what is to be added to that where the word leads nowhere
    std::uint32_t offset;
    std::uint16_t size; ///< bytes, as the header says
    std::uint16_t word; ///< number of the word that should lead somewhere
  };
  /// What a word must be like; else a reading is wrong.
  struct Check {
    std::uint64_t mask, value; ///< which bits of it are what; a mask of 0: null or an address
    std::uint32_t offset;
    bool is_right(const std::byte* words) const;
  };
  struct Reading {
    std::vector<Check> checks;
    std::vector<Step> steps;
    std::uint32_t readable = 0; ///< words that must lead somewhere
    bool is_right(const std::byte* words, std::uint32_t are_readable) const {
      if ((readable & ~are_readable) != 0) return false;
      for (const Check& check : checks)
        if (!check.is_right(words)) return false;
      return true;
    }
  };

  std::size_t interpret(const std::byte* words, std::size_t size, std::uint32_t readable,
                        std::byte* out) const;
  std::size_t choose(const std::byte* words, std::uint32_t readable, std::byte* out) const;
  const Reading* known_reading() const;

  std::size_t put_whole_words(const std::byte* words, std::byte* out) const {
    constexpr wire::FieldHeader kWord = {sizeof(std::uint64_t), wire::FieldState::Whole, 0};
    std::byte* to = out;
    for (std::uint32_t left = whole_words_; left != 0; --left) {
      std::memcpy(to, &kWord, sizeof kWord);
      std::memcpy(to + sizeof kWord, words, sizeof(std::uint64_t));
      words += sizeof(std::uint64_t);
      to += sizeof kWord + sizeof(std::uint64_t);
    }
    return static_cast<std::size_t>(to - out);
  }

  static std::size_t put(const std::vector<Step>& steps, const std::byte* words,
                         std::uint32_t readable, std::byte* out) {
    std::byte* to = out;
    for (const Step& step : steps) {
      const std::uint32_t header = step.header + (~readable >> step.word & 1) * step.unreadable;
      std::memcpy(to, &header, sizeof header);
      to += sizeof header;
      // Eight bytes at a time; what is too much is overwritten by the next field.
      std::memcpy(to, words + step.offset, 8);
      for (std::size_t done = 8; done < step.size; done += 8)
        [[unlikely]] std::memcpy(to + done, words + step.offset + done, 8);
      to += step.size;
    }
    return static_cast<std::size_t>(to - out);
  }

  std::span<const wire::CaptureOp> ops_;
  std::vector<Step> steps_; ///< of a plan of plain values
  /// Of a plan that copies the first so many words as they are, as those of functions without a
  /// prototype do; else 0.
  std::uint32_t whole_words_ = 0;
  /// Of a plan that is one Choice: its readings; the last one is for when it is not known.
  std::vector<Reading> readings_;
  const proto::KnownReadings* known_ = nullptr;
  std::size_t needed_ =
      0; ///< bytes of words that they look at; more than there can be of another plan
  std::size_t room_ = 0;
};

} // namespace sonictrace
