#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
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
  void set_first_thread(pid_t thread) { first_thread_ = thread; }

  /// No prefix touches more bytes.
  static constexpr std::size_t kRoom = 128;
  /// Returns where it ends.
  char* put(char* at, pid_t thread, std::uint64_t time_ns, std::uint64_t instruction) {
    if (!is_time_alone_ || is_other(thread)) return put_all(at, thread, time_ns, instruction);
    at = time_.put(at, time_ns);
    *at = ' ';
    return at + 1;
  }
  /// The time alone, and a blank behind it; nothing where lines have none.
  char* put_time(char* at, std::uint64_t time_ns);

private:
  char* put_all(char* at, pid_t thread, std::uint64_t time_ns, std::uint64_t instruction);
  char* put_thread(char* at, pid_t thread) const;
  bool is_other(pid_t thread) const {
    return options_.thread_after_time && first_thread_ && thread != *first_thread_;
  }

  const TextOptions& options_;
  bool is_time_alone_; ///< but for lines of other threads
  TimeText time_;
  std::optional<pid_t> first_thread_;
};

} // namespace sonictrace
