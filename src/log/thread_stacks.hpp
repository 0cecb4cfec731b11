#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "log/nesting.hpp"
#include "sonictrace/log/call.hpp"

namespace sonictrace::log {

/// A call that has begun on a line of its own.
struct OpenCall {
  FunctionId function = 0;
  EntryKey key = 0;
  std::uint64_t entry_ns = kNoTime;
  std::uint64_t line = 0;
  std::size_t floor = 0; ///< of the ended calls, those behind are inside of it
  bool no_return = false;
  bool is_inherited = false; ///< begun by the parent of a forked child
  std::string caller;
  std::string arguments;
};

/// One thread of a log, between two of its lines.
struct ThreadState {
  std::uint32_t tid = kNoTid;
  bool is_new = true; ///< no line of it was used yet
  std::vector<OpenCall> open;
  EndedCalls ended;
  IndentKeys indents;
  std::vector<std::uint32_t> place_of; ///< function -> place in `same`, plus one
  std::vector<SameFunction> same;

  std::size_t floor() const { return open.empty() ? 0 : open.back().floor; }
};

/// The threads of a log. Bounded.
class ThreadStacks {
public:
  ThreadState& thread(std::uint32_t tid) {
    if (last_ != nullptr && last_->tid == tid) return *last_;
    return find(tid);
  }
  /// Time that calls of the same function took inside a call that has ended.
  std::uint64_t same_function_inside(ThreadState& thread, FunctionId function, EntryKey key,
                                     std::uint64_t total_ns) {
    if (function < thread.place_of.size() && thread.place_of[function] != 0)
      return thread.same[thread.place_of[function] - 1].take_inside(key, total_ns);
    return first_of_function(thread, function, key, total_ns);
  }
  /// Takes a thread's calls away.
  void end_thread(ThreadState& thread);

  template <class Visit>
  void for_each(Visit visit) {
    for (auto& [tid, thread] : threads_)
      visit(*thread);
  }
  std::uint64_t seen() const { return seen_; }

private:
  static constexpr std::size_t kMostThreads = 10'000;
  static constexpr std::size_t kMostPlaces = 2'000'000;

  ThreadState& find(std::uint32_t tid);
  std::uint64_t first_of_function(ThreadState& thread, FunctionId function, EntryKey key,
                                  std::uint64_t total_ns);

  std::unordered_map<std::uint32_t, std::unique_ptr<ThreadState>> threads_;
  ThreadState* last_ = nullptr;
  std::uint64_t seen_ = 0;
  std::size_t places_ = 0; ///< in all place_of and, ten times, in all `same`
};

} // namespace sonictrace::log
