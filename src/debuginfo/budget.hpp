#pragma once

#include <chrono>

namespace sonictrace::debuginfo {

/// How long all reading of debug information may take: the traced program waits for it. What is
/// not read when the time is over stays unread.
class Budget {
public:
  using Clock = std::chrono::steady_clock;

  explicit Budget(Clock::duration total) : left_(total) {}

  bool is_over() const {
    return left_ <= Clock::duration::zero() || (spends_ && now_left() <= Clock::duration::zero());
  }
  /// Is there as much left?
  bool has(Clock::duration time) const { return now_left() >= time; }

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
};

} // namespace sonictrace::debuginfo
