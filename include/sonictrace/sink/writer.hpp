#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sonictrace/base/result.hpp"
#include "sonictrace/base/unique_fd.hpp"

namespace sonictrace {

/// When a Writer hands its text to the kernel.
enum class Buffering {
  Blocks,     ///< when a large block is full, and at each flush()
  Background, ///< the same, but full blocks of a log in a file are written by a thread of its own
  Immediate,  ///< after each batch too: somebody is looking on
};

enum class Compression { None, Zstd, Gzip };

/// What the name of a log asks for: `.zst`, `.gz`, anything else.
Compression compression_of(std::string_view path);

class BlockQueue;
class Outlet;

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
/// In the background, a few blocks may be on their way; flush() and finish() wait for them. After
/// the first failure there is no background any more, and what was on its way is pending again.
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
    if (pending_.size() >= kBlockSize) write_block();
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
  std::uint64_t size() const;
  bool is_healthy() const;
  /// The first failure, if there was one.
  Result<void> status() const;

private:
  static constexpr std::size_t kBlockSize = std::size_t{256} * 1024;

  void write_block();
  bool put_in_background();
  void settle();

  Buffering buffering_;
  std::string pending_;
  std::unique_ptr<Outlet> outlet_;
  /// Where the thread of the background may run.
  struct Cores;
  std::unique_ptr<const Cores> cores_; ///< null: there is no background
  std::unique_ptr<BlockQueue> queue_;  ///< null: nothing is in the background
};

} // namespace sonictrace
