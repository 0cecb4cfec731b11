#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "sonictrace/base/result.hpp"
#include "sonictrace/base/unique_fd.hpp"

namespace sonictrace {

/// When a Writer hands its text to the kernel.
enum class Buffering {
  Blocks,    ///< when a large block is full, and at each flush()
  Immediate, ///< after each batch too: somebody is looking on
};

/// Creates or truncates a log file. Fails with one line: `can't open NAME for writing: ...`.
Result<UniqueFd> open_log(const std::string& path);

/// Owns the fd of a log and writes large blocks to it. Text is appended to `text()` and becomes
/// the log in that order, without a gap: after a failure what is pending is kept and tried again,
/// and once something had to be dropped, everything behind it is. The caller has SIGPIPE ignored.
class Writer {
public:
  /// `name`: of the log, for the message about a failure.
  explicit Writer(UniqueFd fd, Buffering buffering = Buffering::Blocks,
                  std::string name = "the log");
  Writer(Writer&&) = default;

  /// Pending text; to be appended to only.
  std::string& text() { return pending_; }

  /// To be called at the end of a line: writes when a block is full.
  void end_line() {
    if (pending_.size() >= kBlockSize) flush();
  }
  /// To be called at the end of a batch of lines: writes when somebody is looking on.
  void end_batch() {
    if (buffering_ == Buffering::Immediate) flush();
  }
  /// Writes everything that is pending, a line that is not complete too.
  void flush();

  /// Bytes of log so far, pending ones included.
  std::uint64_t size() const { return written_ + pending_.size(); }
  bool is_healthy() const { return !first_error_; }
  /// The first failure, if there was one.
  Result<void> status() const;

private:
  static constexpr std::size_t kBlockSize = std::size_t{256} * 1024;
  /// What is kept of a log that can't be written at the moment.
  static constexpr std::size_t kMaxPending = 16 * kBlockSize;

  bool write_pending();
  void note_failure(Error error);

  UniqueFd fd_;
  Buffering buffering_;
  std::string name_;
  std::string pending_;
  std::uint64_t written_ = 0;
  std::optional<Error> first_error_;
  bool gave_up_ = false; ///< nothing is written any more
};

} // namespace sonictrace
