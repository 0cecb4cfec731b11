#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "log/name_table.hpp"
#include "sonictrace/log/line.hpp"

namespace sonictrace::log {

/// A line of a block.
struct Record {
  Line line;
  std::uint32_t begin = 0;  ///< in the block's text
  std::uint32_t size = 0;   ///< bytes, without the newline
  std::uint32_t number = 0; ///< of the line in the block, from 0
  /// Of the function, in the numbers of the worker that has scanned the block; NameTable::kFull
  /// where it had no number left.
  std::uint32_t function = NameTable::kFull;
};

/// Some whole lines of a log, and what they say. Blank lines are counted only, and of those that
/// are nothing of the grammar all but the first few.
struct Block {
  static constexpr std::size_t kSlack = 16; ///< bytes behind the text that may be read
  static constexpr std::size_t kSkippedKept = 3;

  std::vector<char> bytes; ///< with the slack
  std::size_t size = 0;    ///< of the text
  std::uint64_t sequence = 0;

  std::vector<Record> records;
  std::uint32_t lines = 0;
  std::uint32_t blank = 0;
  std::uint32_t bad = 0;
  std::uint32_t bad_timed = 0;       ///< of those, that end in a time
  std::vector<Record> first_bad;     ///< kSkippedKept of them
  std::size_t worker = 0;            ///< that has scanned it
  std::vector<std::uint32_t> firsts; ///< records whose function that worker had not seen before

  std::string_view text() const { return {bytes.data(), size}; }
  std::string_view text(const Record& record) const {
    return {bytes.data() + record.begin, record.size};
  }
};

/// Takes the lines of blocks apart. Not shared between threads.
class BlockScanner {
public:
  explicit BlockScanner(std::size_t functions) : names_(functions) {}

  void scan(Block& block);

private:
  NameTable names_;
};

} // namespace sonictrace::log
