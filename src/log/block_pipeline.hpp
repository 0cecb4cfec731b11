#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "log/block.hpp"
#include "sonictrace/base/result.hpp"
#include "sonictrace/log/log_input.hpp"

namespace sonictrace::log {

/// Cuts a log into blocks at newlines. A line that is longer than kLongestLine is cut short, and
/// made one that is nothing of the grammar.
class BlockCutter {
public:
  static constexpr std::size_t kLongestLine = 8 * 1024 * 1024; ///< bytes
  /// What fits in a core's own cache together with its records.
  static constexpr std::size_t kBlockSize = 256 * 1024;

  explicit BlockCutter(LogInput& input) : input_(input) {}

  /// False at the end of the log.
  Result<bool> cut(Block& block);

private:
  Result<void> skip_to_newline();

  LogInput& input_;
  std::string carry_; ///< the beginning of a line whose end is in the next block
  std::uint64_t sequence_ = 0;
  bool ended_ = false;
};

/// The blocks of a log in their order, scanned by several threads, of which the caller's is one.
/// Memory is bounded: a fixed number of blocks is on its way.
class BlockPipeline {
public:
  BlockPipeline(LogInput& input, unsigned jobs, std::size_t functions);
  ~BlockPipeline();
  BlockPipeline(const BlockPipeline&) = delete;
  BlockPipeline& operator=(const BlockPipeline&) = delete;

  /// Null at the end. The block is the caller's up to the next call.
  Result<const Block*> next();

  std::size_t workers() const { return scanners_.size(); }

private:
  bool cut_and_scan(std::unique_ptr<Block>& block, std::size_t worker);
  void work(std::size_t worker);

  std::mutex input_lock_; ///< of the next two
  BlockCutter cutter_;
  std::optional<Error> failure_;

  std::vector<BlockScanner> scanners_; ///< one a worker; the caller is worker 0

  std::mutex lock_; ///< of what follows
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Block>> free_;
  std::map<std::uint64_t, std::unique_ptr<Block>> ready_;
  unsigned busy_ = 0; ///< blocks that are being cut and scanned
  bool input_ended_ = false;
  bool stop_ = false;

  std::unique_ptr<Block> given_;
  std::uint64_t wanted_ = 0;
  std::vector<std::thread> threads_;
};

} // namespace sonictrace::log
