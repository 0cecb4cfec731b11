#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sink/compressor.hpp"
#include "sonictrace/base/result.hpp"
#include "sonictrace/base/unique_fd.hpp"

namespace sonictrace {

/// The end of a Writer that hands text to the kernel, compressed or as it is. Used by one thread at
/// a time: for what happens when that fails, see Writer.
class Outlet {
public:
  Outlet(UniqueFd fd, std::string name, Compression compression);

  /// Writes `text` and leaves in it what could not be written. Compressed, nothing is left in it:
  /// what could not be written is kept here, and is tried again by the next call.
  void write(std::string& text, Compressor::Ending ending);
  /// Ends the stream. What can't be written now never will be.
  void finish(std::string& text);

  /// Bytes written, and those that are compressed and could not be.
  std::uint64_t size() const { return written_ + compressed_.size(); }
  bool is_compressed() const { return compressor_ != nullptr; }
  /// The last try was ended by a signal while it waited for the reader.
  bool is_blocked() const { return is_blocked_; }
  const std::optional<Error>& first_error() const { return first_error_; }
  int fd() const { return fd_.get(); }

private:
  /// What is kept of a log that can't be written at the moment.
  static constexpr std::size_t kMaxPending = std::size_t{4} * 1024 * 1024;
  /// The same for a reader who does not read. Each signal lets the tracees make a few calls, so
  /// this lasts for an hour; no memory is worth a cut log to somebody who looks at it in a pager.
  static constexpr std::size_t kMaxBlocked = 16 * kMaxPending;

  void write_bytes(std::string& bytes);
  bool try_bytes(std::string& bytes);
  void give_up(const char* why);
  void note_failure(Error error);

  UniqueFd fd_;
  std::string name_;
  std::unique_ptr<Compressor> compressor_; ///< null: the text is the log
  std::string compressed_;                 ///< not written yet
  bool is_flushed_ = true;                 ///< the compressor has given out all that it got
  bool is_finished_ = false;
  std::uint64_t written_ = 0;
  std::optional<Error> first_error_;
  bool gave_up_ = false; ///< nothing is written any more
  bool is_blocked_ = false;
};

} // namespace sonictrace
