#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sonictrace/base/result.hpp"
#include "sonictrace/base/unique_fd.hpp"

namespace sonictrace {

/// When a Writer hands its text to the kernel.
enum class Buffering {
  Blocks,    ///< when a large block is full, and at each flush()
  Immediate, ///< after each batch too: somebody is looking on
};

enum class Compression { None, Zstd, Gzip };

/// What the name of a log asks for: `.zst`, `.gz`, anything else.
Compression compression_of(std::string_view path);

class Compressor;

/// Creates or truncates a log file. Fails with one line: `can't open NAME for writing: REASON`.
Result<UniqueFd> open_log(const std::string& path);

/// Owns the fd of a log and writes large blocks to it. Text is appended to `text()` and becomes
/// the log in that order, without a gap: after a failure what is pending is kept and tried again,
/// and once something had to be dropped, everything behind it is. The caller has SIGPIPE ignored.
///
/// A reader who does not read makes us wait: tracees must not run ahead of the log. A signal (one
/// with a handler, without SA_RESTART) ends the wait, with the text still pending, so that whoever
/// was told to end can do so; flush() tries again. finish() that is ended so gives up.
///
/// A compressed log can be read up to the last flush() as long as it has no end, and whatever came
/// in between: each flush makes the compressor give out all that it has. finish() ends the stream.
class Writer {
public:
  /// `name`: of the log, for the message about a failure.
  explicit Writer(UniqueFd fd, Buffering buffering = Buffering::Blocks,
                  std::string name = "the log", Compression compression = Compression::None);
  Writer(Writer&& other) noexcept;
  ~Writer();

  /// Pending text; to be appended to only.
  std::string& text() { return pending_; }

  /// To be called at the end of a line: writes when a block is full.
  void end_line() {
    if (pending_.size() >= kBlockSize && !is_blocked_) write_block();
  }
  /// To be called at the end of a batch of lines: writes when somebody is looking on.
  void end_batch() {
    if (buffering_ == Buffering::Immediate) flush();
  }
  /// Writes everything that is pending, a line that is not complete too.
  void flush();
  /// The same, and the end of a compressed stream: no text may follow. What can't be written now
  /// never will be.
  void finish();

  /// Bytes of log so far, as the file has them; pending ones are included, as far as they need not
  /// be compressed first.
  std::uint64_t size() const { return written_ + outgoing().size(); }
  bool is_healthy() const { return !first_error_; }
  /// The first failure, if there was one.
  Result<void> status() const;

private:
  static constexpr std::size_t kBlockSize = std::size_t{256} * 1024;
  /// What is kept of a log that can't be written at the moment.
  static constexpr std::size_t kMaxPending = 16 * kBlockSize;
  /// The same for a reader who does not read. Each signal lets the tracees make a few calls, so
  /// this lasts for an hour; no memory is worth a cut log to somebody who looks at it in a pager.
  static constexpr std::size_t kMaxBlocked = 16 * kMaxPending;

  const std::string& outgoing() const { return compressor_ ? compressed_ : pending_; }
  std::string& outgoing() { return compressor_ ? compressed_ : pending_; }
  void write_block();
  void write_outgoing();
  bool try_outgoing();
  void give_up(const char* why);
  void note_failure(Error error);

  UniqueFd fd_;
  Buffering buffering_;
  std::string name_;
  std::string pending_;
  std::unique_ptr<Compressor> compressor_; ///< null: the text is the log
  std::string compressed_;                 ///< not written yet
  bool is_flushed_ = true;                 ///< the compressor has given out all that it got
  bool is_finished_ = false;
  std::uint64_t written_ = 0;
  std::optional<Error> first_error_;
  bool gave_up_ = false;    ///< nothing is written any more
  bool is_blocked_ = false; ///< the last try ended by a signal, while it waited for the reader
};

} // namespace sonictrace
