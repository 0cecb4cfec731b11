#pragma once

#include <ctime>

#include <chrono>

namespace sonictrace::debuginfo {

/// The time that the calling thread has used: what is read does not depend on what else the machine
/// does.
struct ThreadClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<ThreadClock>;
  static constexpr bool is_steady = true;

  static time_point now() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
  }
};

/// How long all reading of debug information may take: the traced program waits for it. What is
/// not read when the time is over stays unread.
class Budget {
public:
  using Clock = ThreadClock;

  explicit Budget(Clock::duration total) : left_(total) {}

  bool is_over() const {
    return left_ <= Clock::duration::zero() || (spends_ && now_left() <= Clock::duration::zero());
  }
  /// Is there as much left? Who asks does without, if not.
  bool has(Clock::duration time) const {
    const bool is_enough = now_left() >= time;
    has_refused_ = has_refused_ || !is_enough;
    return is_enough;
  }
  /// Something was not read for want of time.
  bool has_refused() const { return has_refused_; }

  /// Time counts while one of these is alive.
  class Spending {
  public:
    explicit Spending(Budget& budget) : budget_(budget), is_outer_(!budget.spends_) {
      if (!is_outer_) return;
      budget_.spends_ = true;
      budget_.since_ = Clock::now();
    }
    ~Spending() {
      if (!is_outer_) return;
      budget_.left_ = budget_.now_left();
      budget_.spends_ = false;
    }
    Spending(const Spending&) = delete;
    Spending& operator=(const Spending&) = delete;

  private:
    Budget& budget_;
    bool is_outer_;
  };

private:
  Clock::duration now_left() const { return spends_ ? left_ - (Clock::now() - since_) : left_; }

  Clock::duration left_;
  Clock::time_point since_ = {};
  bool spends_ = false;
  mutable bool has_refused_ = false;
};

} // namespace sonictrace::debuginfo
