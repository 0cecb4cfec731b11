#include "log/block_pipeline.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace sonictrace::log {
namespace {

/// Offset behind the last newline; 0 where there is none.
std::size_t end_of_last_line(const char* bytes, std::size_t from, std::size_t size) {
  if (size == from) return 0;
  const auto* newline = static_cast<const char*>(::memrchr(bytes + from, '\n', size - from));
  return newline == nullptr ? 0 : static_cast<std::size_t>(newline - bytes) + 1;
}

} // namespace

Result<bool> BlockCutter::cut(Block& block) {
  if (ended_ && carry_.empty()) return false;
  if (block.bytes.size() < kBlockSize + Block::kSlack)
    block.bytes.resize(kBlockSize + Block::kSlack);
  if (block.bytes.size() > 2 * kBlockSize) { // of a long line, long ago
    block.bytes.resize(kBlockSize + Block::kSlack);
    block.bytes.shrink_to_fit();
  }
  if (block.bytes.size() < carry_.size() + 2 * Block::kSlack)
    block.bytes.resize(carry_.size() + kBlockSize + Block::kSlack);
  std::memcpy(block.bytes.data(), carry_.data(), carry_.size());
  std::size_t size = carry_.size();
  std::size_t whole = 0; // up to the last newline
  carry_.clear();
  while (!ended_) {
    const std::size_t room = block.bytes.size() - Block::kSlack;
    if (size == room) {
      if (whole > 0) break;
      if (size >= kLongestLine) {
        // No name has a NUL in it.
        block.bytes[0] = '\0';
        auto skipped = skip_to_newline();
        if (!skipped) return skipped.error();
        whole = size = 64;
        break;
      }
      block.bytes.resize(2 * room + Block::kSlack);
      continue;
    }
    auto n = input_.read(std::span(block.bytes.data() + size, room - size));
    if (!n) return n.error();
    if (*n == 0) {
      ended_ = true;
      break;
    }
    if (const auto end = end_of_last_line(block.bytes.data(), size, size + *n)) whole = end;
    size += *n;
    // A pipe gives little at a time; whoever looks on wants to see it.
    if (whole > 0 && size >= room / 2) break;
  }
  if (ended_) whole = size; // a last line without a newline
  carry_.append(block.bytes.data() + whole, size - whole);
  block.size = whole;
  block.sequence = sequence_++;
  return whole > 0;
}

Result<void> BlockCutter::skip_to_newline() {
  std::vector<char> bytes(kBlockSize);
  for (;;) {
    auto n = input_.read(bytes);
    if (!n) return n.error();
    if (*n == 0) {
      ended_ = true;
      return {};
    }
    const auto* newline = static_cast<const char*>(std::memchr(bytes.data(), '\n', *n));
    if (newline == nullptr) continue;
    const auto rest = static_cast<std::size_t>(newline + 1 - bytes.data());
    carry_.assign(bytes.data() + rest, *n - rest);
    return {};
  }
}

BlockPipeline::BlockPipeline(LogInput& input, unsigned jobs, std::size_t functions)
    : cutter_(input) {
  for (unsigned worker = 0; worker < std::max(1U, jobs); ++worker)
    scanners_.emplace_back(functions);
  const std::size_t blocks = jobs <= 1 ? 1 : 2 * scanners_.size() + 1;
  for (std::size_t i = 0; i < blocks; ++i)
    free_.push_back(std::make_unique<Block>());
  for (std::size_t worker = 1; worker < scanners_.size(); ++worker)
    threads_.emplace_back([this, worker] { work(worker); });
}

BlockPipeline::~BlockPipeline() {
  {
    const std::lock_guard lock(lock_);
    stop_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_)
    thread.join();
}

/// Takes the block with it, unless the log has ended.
bool BlockPipeline::cut_and_scan(std::unique_ptr<Block>& block, std::size_t worker) {
  {
    const std::lock_guard lock(input_lock_);
    if (failure_) return false;
    auto cut = cutter_.cut(*block);
    if (!cut) failure_ = std::move(cut).error();
    if (failure_ || !*cut) return false;
  }
  block->worker = worker;
  scanners_[worker].scan(*block);
  return true;
}

void BlockPipeline::work(std::size_t worker) {
  std::unique_lock lock(lock_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || input_ended_ || !free_.empty(); });
    if (stop_ || input_ended_) return;
    auto block = std::move(free_.back());
    free_.pop_back();
    ++busy_;
    lock.unlock();
    const bool scanned = cut_and_scan(block, worker);
    lock.lock();
    --busy_;
    if (scanned)
      ready_.emplace(block->sequence, std::move(block));
    else
      input_ended_ = true;
    changed_.notify_all();
  }
}

Result<const Block*> BlockPipeline::next() {
  std::unique_lock lock(lock_);
  if (given_) {
    free_.push_back(std::move(given_));
    changed_.notify_all();
  }
  for (;;) {
    const auto first = ready_.begin();
    if (first != ready_.end() && first->first == wanted_) {
      given_ = std::move(first->second);
      ready_.erase(first);
      ++wanted_;
      return given_.get();
    }
    if (input_ended_ && busy_ == 0) {
      const std::lock_guard input_lock(input_lock_);
      if (failure_) return *failure_;
      return nullptr;
    }
    if (input_ended_ || free_.empty()) {
      changed_.wait(lock);
      continue;
    }
    auto block = std::move(free_.back());
    free_.pop_back();
    ++busy_;
    lock.unlock();
    const bool scanned = cut_and_scan(block, 0);
    lock.lock();
    --busy_;
    if (scanned)
      ready_.emplace(block->sequence, std::move(block));
    else
      input_ended_ = true;
    changed_.notify_all();
  }
}

} // namespace sonictrace::log
