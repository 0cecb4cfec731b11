#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "sonictrace/stream/sink.hpp"

namespace sonictrace {

/// What the status line tells.
struct Progress {
  std::uint64_t calls = 0;
  std::uint64_t calls_per_second = 0;
  std::uint64_t log_size = 0; ///< bytes
  std::string open_function;  ///< of the call that has been open longest; empty: none is open
  std::uint64_t open_for_ns = 0;
};

/// One line of at most `columns` columns, without a newline:
/// `sonictrace: 1234567 calls, 55412/s, log 12.3 MB, open for 3.2 s: pthread_cond_wait`
std::string progress_text(const Progress& progress, unsigned columns);

/// Passes everything on to another sink, and keeps a line on a terminal that is renewed about each
/// half second and erased at the end. Of the calls that are open it looks at the innermost one of
/// each thread: the outer ones (main, the interpreter's loop) are always open.
class StatusLine final : public Sink {
public:
  /// `terminal`: an fd that the caller keeps open as long.
  StatusLine(std::unique_ptr<Sink> inner, int terminal);
  ~StatusLine() override;

  void define(const Definition& definition) override;
  void write(RecordBatch batch) override;
  void tick(std::uint64_t now_ns) override;
  Result<void> finish(const SessionSummary& summary) override;
  std::vector<FunctionId> take_thinned() override { return inner_->take_thinned(); }
  std::uint64_t bytes_written() const override { return inner_->bytes_written(); }
  bool is_healthy() const override { return inner_->is_healthy(); }

  Sink& inner() { return *inner_; }
  /// Takes the line off the terminal, for a message that is to stand there.
  void erase();

private:
  struct Open {
    std::uint64_t call;
    FunctionId function;
    std::uint64_t time_ns;
  };
  struct Thread {
    pid_t pid = 0;
    std::vector<Open> open;
  };

  void note(const Definition& definition);
  void note(RecordBatch batch);
  void draw(std::uint64_t now_ns);

  std::unique_ptr<Sink> inner_;
  int terminal_;
  bool is_drawn_ = false;
  std::uint64_t calls_ = 0;
  std::uint64_t drawn_calls_ = 0; ///< calls_ when the line was drawn last
  std::uint64_t drawn_at_ns_ = 0;
  std::unordered_map<FunctionId, std::string> mangled_;
  std::unordered_map<pid_t, Thread> threads_;
};

} // namespace sonictrace
