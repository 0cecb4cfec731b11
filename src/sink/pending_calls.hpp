#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sonictrace/stream/definition.hpp"

namespace sonictrace {

/// What a log has of a call while it is open.
enum class CallLine : std::uint8_t {
  Later, ///< nothing: its line is written at the return, or at the end of its thread
  Begun, ///< the first part of a split line
  Never, ///< nothing, and it gets no line at all
};

/// A call that has begun and not returned.
struct PendingCall {
  std::uint64_t call = 0;
  FunctionId function = 0;
  std::uint16_t depth = 1;
  bool inherited = false; ///< begun by the parent process
  bool arguments_known = true;
  CallLine line = CallLine::Later;
  pid_t thread = 0;
  std::uint64_t order = 0; ///< of the entries of all threads
  std::uint64_t time_ns = 0;
  std::uint64_t return_address = 0;
  std::vector<std::byte> captured;   ///< empty where the arguments are not needed any more
  std::vector<std::uint32_t> frames; ///< where it was made, innermost first; empty: not asked for
};

/// The open calls of one thread, outermost first. Their memory is used again and again.
class ThreadCalls {
public:
  ThreadCalls(pid_t pid, pid_t tid) : pid_(pid), tid_(tid) {}

  pid_t pid() const { return pid_; }
  pid_t tid() const { return tid_; }
  /// Valid until the next change.
  std::span<const PendingCall> open() const { return std::span(calls_).first(count_); }

  /// A new innermost call, with fields of an earlier one; `captured` and `frames` are empty.
  PendingCall& push() {
    if (count_ == calls_.size()) calls_.emplace_back();
    PendingCall& call = calls_[count_++];
    call.inherited = false;
    call.arguments_known = true;
    call.line = CallLine::Later;
    call.thread = tid_;
    call.captured.clear();
    call.frames.clear();
    return call;
  }

  /// Ends an open call and returns it, valid until the next change; null if it is not open here.
  /// Most often the innermost one; others where a program changes stacks (swapcontext).
  const PendingCall* pop(std::uint64_t call) {
    for (std::size_t at = count_; at-- > 0;) {
      if (calls_[at].call != call) continue;
      const auto begin = calls_.begin() + static_cast<std::ptrdiff_t>(at);
      const auto end = calls_.begin() + static_cast<std::ptrdiff_t>(count_);
      std::rotate(begin, begin + 1, end);
      return &calls_[--count_];
    }
    return nullptr;
  }

  const PendingCall* find(std::uint64_t call) const {
    for (std::size_t at = count_; at-- > 0;)
      if (calls_[at].call == call) return &calls_[at];
    return nullptr;
  }
  PendingCall* find(std::uint64_t call) {
    return const_cast<PendingCall*>(std::as_const(*this).find(call));
  }

  void clear() { count_ = 0; }

private:
  pid_t pid_;
  pid_t tid_;
  std::vector<PendingCall> calls_;
  std::size_t count_ = 0;
};

/// The open calls of all threads.
class PendingCalls {
public:
  void thread_started(pid_t pid, pid_t tid) {
    forget(tid); // the kernel uses thread ids again
    threads_.try_emplace(tid, pid, tid);
  }

  ThreadCalls& thread(pid_t tid) {
    if (cached_ != nullptr && cached_->tid() == tid) return *cached_;
    // A record of a thread that was not announced: taken as a process of its own.
    cached_ = &threads_.try_emplace(tid, tid, tid).first->second;
    return *cached_;
  }

  const PendingCall* find(std::uint64_t call) const {
    for (const auto& [tid, calls] : threads_)
      if (const PendingCall* found = calls.find(call)) return found;
    return nullptr;
  }

  void forget(pid_t tid) {
    cached_ = nullptr;
    threads_.erase(tid);
  }

  /// The open calls of the threads for which `wanted` holds, in the order they were entered.
  template <class Predicate>
  std::vector<PendingCall> collect(Predicate wanted) const {
    std::vector<PendingCall> found;
    for (const auto& [tid, calls] : threads_)
      if (wanted(calls)) found.insert(found.end(), calls.open().begin(), calls.open().end());
    std::sort(found.begin(), found.end(),
              [](const PendingCall& a, const PendingCall& b) { return a.order < b.order; });
    return found;
  }

  /// The program of process `pid` is replaced: only thread `survivor` goes on, with nothing open.
  void program_replaced(pid_t pid, pid_t survivor) {
    cached_ = nullptr;
    std::erase_if(threads_, [&](const auto& thread) {
      return thread.second.pid() == pid && thread.first != survivor;
    });
    thread(survivor).clear();
  }

private:
  std::unordered_map<pid_t, ThreadCalls> threads_;
  ThreadCalls* cached_ = nullptr; ///< the one asked for last; nodes of the map stay where they are
};

} // namespace sonictrace
