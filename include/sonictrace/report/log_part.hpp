#pragma once

#include <vector>

#include "sonictrace/log/call.hpp"
#include "sonictrace/log/log_reader.hpp"

namespace sonictrace::report {

/// What a report takes of one log: it is told of the log, and then that this was all. Several of
/// them may be told of one log that is read once.
class LogPart : public log::CallVisitor {
public:
  /// At the end of the log, when the modules of its functions are known.
  virtual void finish(const log::LogReader& reader) = 0;
};

/// Passes on what it is told, to all of its visitors.
class Visitors final : public log::CallVisitor {
public:
  void add(log::CallVisitor& visitor) { all_.push_back(&visitor); }

  void on_call(const log::Call& call) override {
    for (auto* one : all_)
      one->on_call(call);
  }
  void on_begin(const log::Call& call) override {
    for (auto* one : all_)
      one->on_begin(call);
  }
  void on_event(const log::Event& event) override {
    for (auto* one : all_)
      one->on_event(event);
  }
  void on_frame(std::string_view frame) override {
    for (auto* one : all_)
      one->on_frame(frame);
  }

private:
  std::vector<log::CallVisitor*> all_;
};

} // namespace sonictrace::report
