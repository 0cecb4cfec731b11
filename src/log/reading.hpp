#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "log/block_pipeline.hpp"
#include "log/day_clock.hpp"
#include "log/thread_stacks.hpp"
#include "sonictrace/log/log_reader.hpp"

namespace sonictrace::log {

/// A log while it is read: lines become calls.
class LogReader::Reading {
public:
  Reading(LogInput input, const ReaderOptions& options)
      : input_(std::move(input)), options_(options), functions_(options.modules) {}

  Result<void> pump(CallVisitor& visitor);

  const std::string& name() const { return input_.name(); }
  const FunctionTable& functions() const { return functions_; }
  const Accounting& accounting() const { return account_; }

private:
  /// What is known of a line besides its parts.
  struct Moment {
    std::uint64_t number; ///< of the line
    std::uint64_t time_ns;
    EntryKey key;
  };

  void take(const Block& block);
  void take_line(const Record& record, std::string_view text, FunctionId function,
                 std::uint64_t number);
  void take_call(const Line& line, std::string_view text, FunctionId function, const Moment& now);
  void begin_call(const Line& line, std::string_view text, FunctionId function, const Moment& now);
  void resume_call(const Line& line, std::string_view text, FunctionId function, const Moment& now);
  void take_event(const Line& line, std::string_view text, const Moment& now);
  void note_birth(const ThreadState& thread, const OpenCall& birth);
  void inherit(ThreadState& thread, std::string_view name);
  void tell_ended(ThreadState& thread, const OpenCall& open, const Line& line,
                  std::string_view text, const Moment& now, EndedCalls::Inside inside);
  void abandon(ThreadState& thread, std::size_t from);
  void finish_duration(Call& call, ThreadState& thread, EntryKey key,
                       const EndedCalls::Inside& inside);
  void note_time(std::uint64_t time_ns, const Line& line);
  void skip(std::uint64_t number, std::string_view text);

  LogInput input_;
  ReaderOptions options_;
  FunctionTable functions_;
  Accounting account_;
  DayClock clock_;
  std::uint64_t last_time_ = 0; ///< of the last line that had one, unless it was relative
  ThreadStacks threads_;
  std::vector<OpenCall> last_birth_; ///< the calls that were open when a process was born last
  std::vector<bool> is_birth_;       ///< by function
  CallVisitor* visitor_ = nullptr;
  std::vector<std::vector<FunctionId>> ids_; ///< [worker][its number of a function]
};

} // namespace sonictrace::log
