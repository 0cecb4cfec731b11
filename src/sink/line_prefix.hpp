#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "sink/time_text.hpp"
#include "sonictrace/sink/text_options.hpp"

namespace sonictrace {

/// What stands in front of each line: thread, time, address.
class LinePrefix {
public:
  /// `options` have to live as long.
  explicit LinePrefix(const TextOptions& options);

  /// Without -f, the lines of this thread do not say which it is.
  void set_first_thread(pid_t thread) {
    first_thread_ = thread;
    set_behind_time(thread);
  }

  /// No prefix touches more bytes.
  static constexpr std::size_t kRoom = 128;
  /// Returns where it ends.
  char* put(char* at, pid_t thread, std::uint64_t time_ns, std::uint64_t instruction) {
    if (!is_time_alone_) return put_all(at, thread, time_ns, instruction);
    if (thread != behind_time_of_) set_behind_time(thread);
    at = time_.put(at, time_ns);
    std::memcpy(at, behind_time_, sizeof behind_time_);
    return at + behind_time_size_;
  }
  /// The time alone, and a blank behind it; nothing where lines have none.
  char* put_time(char* at, std::uint64_t time_ns);

private:
  char* put_all(char* at, pid_t thread, std::uint64_t time_ns, std::uint64_t instruction);
  char* put_thread(char* at, pid_t thread) const;
  void set_behind_time(pid_t thread);
  bool is_other(pid_t thread) const {
    return options_.thread_after_time && first_thread_ && thread != *first_thread_;
  }

  const TextOptions& options_;
  bool is_time_alone_; ///< but for the id of other threads
  TimeText time_;
  std::optional<pid_t> first_thread_;
  /// What follows the time in the lines of the thread that was asked for last: ` `, or `/TID `.
  pid_t behind_time_of_ = 0;
  std::size_t behind_time_size_ = 0;
  char behind_time_[32] = {};
};

} // namespace sonictrace
