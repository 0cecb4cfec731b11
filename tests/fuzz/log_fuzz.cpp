// Any bytes as a log: nothing crashes, every line is accounted for once, and it makes no difference
// how many threads read it.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sonictrace/base/unique_fd.hpp"
#include "sonictrace/log/log_reader.hpp"

namespace {

using namespace sonictrace::log;

void require(bool condition) {
  if (!condition) std::abort();
}

/// Looks at all that it is told.
struct Witness : CallVisitor {
  std::uint64_t ended = 0, open = 0, sum = 0;

  void on_call(const Call& call) override {
    ++(call.end == Call::End::Unfinished ? open : ended);
    sum = sum * 31 + call.line + call.function + call.tid;
    if (call.has_duration()) {
      require(call.self_ns <= call.duration_ns);
      require(call.outermost_ns <= call.duration_ns);
      sum = sum * 31 + call.self_ns + call.outermost_ns;
    }
    if (call.text.empty()) return;
    std::string_view argument;
    ArgumentSplitter arguments(call.arguments());
    while (arguments.next(argument))
      sum += argument.size();
    sum += call.result().size() + call.caller.size();
  }
  void on_event(const Event& event) override { sum += event.text.size(); }
  void on_frame(std::string_view frame) override { sum += frame.size(); }
};

std::uint64_t read(const std::string& path, unsigned jobs, std::size_t lines) {
  ReaderOptions options;
  options.jobs = jobs;
  options.keep_arguments = true;
  auto reader = LogReader::open(path, options);
  require(static_cast<bool>(reader));
  Witness witness;
  const bool whole = static_cast<bool>(reader->pump(witness));
  const auto& account = reader->accounting();
  require(account.adds_up());
  require(account.timed_calls <= account.timed_lines && account.timed_lines <= account.lines);
  // A call that had no end and got one later was counted with its first line.
  require(witness.ended <= account.calls + account.markers);
  require(witness.open == account.unfinished);
  require(!whole || lines == 0 || account.lines == lines);
  return witness.sum * 31 + account.calls;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sonictrace::UniqueFd file(::memfd_create("log", MFD_CLOEXEC));
  if (::write(file.get(), data, size) != static_cast<ssize_t>(size)) return 0;
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  // Of a packed log, the lines are not known here.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool packed = text.starts_with("\x1f\x8b") || text.starts_with("\x28\xb5") ||
                      (size > 3 && text.substr(1, 3) == "\x2a\x4d\x18");
  std::size_t lines = 0;
  if (!packed) {
    for (const char c : text)
      lines += c == '\n' ? 1 : 0;
    lines += size > 0 && text.back() != '\n' ? 1 : 0;
  }
  require(read(path, 1, lines) == read(path, 2, lines));
  return 0;
}
