#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sonictrace/process/unwinder.hpp"
#include "sonictrace/wire/ring.hpp"

namespace sonictrace {

class Arena;

/// A stack that the agent has copied, and of the one that a signal has interrupted. Notes what is
/// looked at.
class CopiedStack final : public StackReader {
public:
  /// `words`: a wire::RingStack and what is behind it, which outlive this.
  explicit CopiedStack(std::span<const std::uint64_t> words);

  std::optional<std::uint64_t> word(std::uint64_t address) override;
  void looks_at_register(unsigned number) override {
    looked_at_ |= std::uint32_t{1} << number % 32;
  }

  const wire::RingStack& head() const { return head_; }
  std::size_t size() const { return words_.size(); }
  std::uint64_t at(std::size_t index) const { return words_[index]; }
  /// Of words in `at`, in the order in which they were asked for.
  const std::vector<std::uint32_t>& indexes_looked_at() const { return indexes_; }
  /// A bit for each DWARF number.
  std::uint32_t registers_looked_at() const { return looked_at_; }

private:
  struct Piece {
    std::uint64_t begin = 0;
    std::size_t first = 0, count = 0; ///< indexes
  };

  std::span<const std::uint64_t> words_;
  wire::RingStack head_;
  std::array<Piece, 2> pieces_;
  std::vector<std::uint32_t> indexes_;
  std::uint32_t looked_at_ = 0;
};

/// Of a call: the process, where it returns to, and where its return address lies.
struct StackKey {
  const Arena* arena;
  std::uint64_t where, slot;

  bool operator==(const StackKey&) const = default;
};

/// Backtraces that were made. What a walk finds follows from the registers and the words that it
/// has looked at; where these are the same, so are the frames. Most calls are made on a stack on
/// which one was made before, and a walk costs microseconds.
class KnownStacks {
public:
  /// Null where it is not known.
  const std::vector<std::uint32_t>* find(const StackKey& key, const CopiedStack& stack) const;
  /// `stack`: with what the walk has looked at.
  void keep(const StackKey& key, const CopiedStack& stack, std::span<const std::uint32_t> frames);
  /// What code is where has changed.
  void clear();

private:
  struct Known {
    StackKey key = {};
    std::size_t size = 0; ///< of the copy: beyond its end nothing was found
    std::uint64_t interrupted = 0, first_words = 0;
    std::uint32_t registers = 0;
    std::array<std::uint64_t, 6> values = {};
    std::vector<std::uint32_t> indexes;
    std::vector<std::uint64_t> words; ///< at these
    std::vector<std::uint32_t> frames;
  };
  static constexpr std::size_t kSets = 1024, kOfSet = 4;
  struct Set {
    std::array<Known, kOfSet> known;
    std::size_t oldest = 0;
  };

  static std::size_t set_of(const StackKey& key);
  static bool is_same(const Known& known, const StackKey& key, const CopiedStack& stack);

  std::unique_ptr<std::array<Set, kSets>> sets_; ///< null: nothing is known
};

} // namespace sonictrace
