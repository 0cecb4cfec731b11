#include "sonictrace/sink/status_line.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "sonictrace/decode/digits.hpp"
#include "sonictrace/decode/quote.hpp"
#include "sonictrace/names/demangle.hpp"
#include "sonictrace/stream/record_reader.hpp"

namespace sonictrace {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
/// The session's ticks come twice a second, more or less.
constexpr std::uint64_t kPeriod = kSecond * 4 / 10;
constexpr unsigned kUsualColumns = 80;

/// One digit behind the point, cut: `12.3`.
void append_tenths(std::string& out, std::uint64_t value, std::uint64_t unit) {
  append_decimal(out, value / unit);
  out += '.';
  append_decimal(out, value % unit * 10 / unit);
}

void append_size(std::string& out, std::uint64_t bytes) {
  struct Unit {
    std::uint64_t bytes;
    std::string_view name;
  };
  constexpr Unit kUnits[] = {{1'000'000'000, " GB"}, {1'000'000, " MB"}, {1'000, " kB"}};
  for (const Unit& unit : kUnits) {
    if (bytes < unit.bytes) continue;
    append_tenths(out, bytes, unit.bytes);
    out += unit.name;
    return;
  }
  append_decimal(out, bytes);
  out += " B";
}

unsigned columns_of(int terminal) {
  winsize size = {};
  if (::ioctl(terminal, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualColumns;
  return size.ws_col;
}

/// A status line that can't be written is no reason to disturb anything.
void put(int terminal, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(terminal, text.data() + done, text.size() - done);
    if (n <= 0) return;
    done += static_cast<std::size_t>(n);
  }
}

} // namespace

std::string progress_text(const Progress& progress, unsigned columns) {
  std::string text = "sonictrace: ";
  append_decimal(text, progress.calls);
  text += progress.calls == 1 ? " call, " : " calls, ";
  append_decimal(text, progress.calls_per_second);
  text += "/s, log ";
  append_size(text, progress.log_size);
  if (!progress.open_function.empty()) {
    text += ", open for ";
    append_tenths(text, progress.open_for_ns, kSecond);
    text += " s: ";
    append_sanitized(text, progress.open_function);
  }
  if (text.size() > columns) text.resize(columns);
  return text;
}

StatusLine::StatusLine(std::unique_ptr<Sink> inner, int terminal)
    : inner_(std::move(inner)), terminal_(terminal) {}

StatusLine::~StatusLine() { erase(); }

void StatusLine::define(const Definition& definition) {
  inner_->define(definition);
  note(definition);
}

void StatusLine::write(RecordBatch batch) {
  inner_->write(batch);
  note(batch);
}

void StatusLine::tick(std::uint64_t now_ns) {
  inner_->tick(now_ns);
  if (drawn_at_ns_ == 0 || now_ns < drawn_at_ns_) {
    drawn_at_ns_ = now_ns; // the first tick, or the clock was set back: nothing to compare with
    drawn_calls_ = calls_;
  } else if (now_ns - drawn_at_ns_ >= kPeriod) {
    draw(now_ns);
  }
}

Result<void> StatusLine::finish(const SessionSummary& summary) {
  erase();
  return inner_->finish(summary);
}

void StatusLine::erase() {
  if (is_drawn_) put(terminal_, "\r\033[K");
  is_drawn_ = false;
}

void StatusLine::note(const Definition& definition) {
  // A child's inherited calls are left alone: it returns from them at once, or never.
  if (const auto* function = std::get_if<FunctionDefinition>(&definition)) {
    mangled_.insert_or_assign(function->id, function->mangled);
  } else if (const auto* thread = std::get_if<ThreadStarted>(&definition)) {
    threads_[thread->tid] = Thread{thread->pid, {}};
  } else if (const auto* ended = std::get_if<ThreadEnded>(&definition)) {
    threads_.erase(ended->tid);
  } else if (const auto* replaced = std::get_if<ProgramReplaced>(&definition)) {
    const pid_t pid = threads_[replaced->tid].pid;
    for (auto& [tid, other] : threads_)
      if (other.pid == pid) other.open.clear();
  }
}

void StatusLine::note(RecordBatch batch) {
  RecordReader records(batch);
  RecordView record;
  while (records.next(record)) {
    const wire::RecordHeader& header = record.header;
    if (header.kind == wire::RecordKind::Call) {
      ++calls_;
      continue;
    }
    if (header.kind == wire::RecordKind::Counts) {
      calls_ += CountsView(record.payload).sums().calls;
      continue;
    }
    if (header.kind == wire::RecordKind::Frames) continue;
    auto& open = threads_[static_cast<pid_t>(header.thread)].open;
    if (header.kind == wire::RecordKind::Enter) {
      ++calls_;
      open.push_back({header.call, header.function, header.time_ns});
      continue;
    }
    const auto ended = std::find_if(open.rbegin(), open.rend(),
                                    [&](const Open& one) { return one.call == header.call; });
    if (ended != open.rend()) open.erase(std::next(ended).base());
  }
}

void StatusLine::draw(std::uint64_t now_ns) {
  Progress progress;
  progress.calls = calls_;
  progress.calls_per_second = (calls_ - drawn_calls_) * kSecond / (now_ns - drawn_at_ns_);
  progress.log_size = inner_->bytes_written();
  const Open* longest = nullptr;
  for (const auto& [tid, thread] : threads_) {
    if (thread.open.empty()) continue;
    const Open& innermost = thread.open.back();
    if (longest == nullptr || innermost.time_ns < longest->time_ns) longest = &innermost;
  }
  if (longest != nullptr) {
    const auto name = mangled_.find(longest->function);
    progress.open_function =
        name == mangled_.end() ? "?" : demangle(name->second, DemangleStyle::Short);
    progress.open_for_ns = now_ns > longest->time_ns ? now_ns - longest->time_ns : 0;
  }
  // The last column stays free: a character there would make some terminals wrap.
  const unsigned columns = columns_of(terminal_);
  put(terminal_, "\r" + progress_text(progress, columns > 1 ? columns - 1 : 1) + "\033[K");
  is_drawn_ = true;
  drawn_calls_ = calls_;
  drawn_at_ns_ = now_ns;
}

} // namespace sonictrace
