// What one printed line costs: records of calls, made once, written as whole lines to /dev/null.
// `bench_render [CALLS]` prints nanoseconds a line.
#include <fcntl.h>
#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "sonictrace/sink/text_sink.hpp"
#include "support/record_builder.hpp"

using namespace sonictrace;

namespace {

/// Keeps what it is told.
class Recording final : public Sink {
public:
  void define(const Definition& definition) override { definitions.push_back(definition); }
  void write(RecordBatch batch) override { bytes.insert(bytes.end(), batch.begin(), batch.end()); }
  void tick(std::uint64_t) override {}
  Result<void> finish(const SessionSummary&) override { return {}; }
  std::uint64_t bytes_written() const override { return 0; }
  bool is_healthy() const override { return true; }

  std::vector<Definition> definitions;
  std::vector<std::byte> bytes;
};

constexpr int kBatch = 500; ///< calls
constexpr pid_t kThread = 4711;

double nanoseconds_a_line(const std::string& conf, const std::vector<std::uint64_t>& arguments,
                          std::uint64_t result, const FakeMemory& memory, long calls) {
  Recording recording;
  RecordBuilder build(recording);
  build.memory = memory;
  build.thread(kThread, true);
  const FunctionId function = build.function(conf);
  for (int call = 0; call < kBatch; ++call)
    build.call(kThread, function, arguments, result);

  TextOptions options;
  options.time = TimeStamp::Microseconds;
  options.durations = true;
  options.form = LineForm::Whole;
  options.closing_lines = false;
  const auto once = [&](long rounds) {
    TextSink sink(Writer(UniqueFd(::open("/dev/null", O_WRONLY | O_CLOEXEC))), options, false);
    for (const Definition& definition : recording.definitions)
      sink.define(definition);
    const auto begin = std::chrono::steady_clock::now();
    for (long round = 0; round < rounds; ++round)
      sink.write(recording.bytes);
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
    return spent.count() / (static_cast<double>(rounds) * kBatch);
  };
  double best = once(1);
  for (int attempt = 0; attempt < 10; ++attempt) // what others on the machine cost is not ours
    best = std::min(best, once(std::max(1l, calls / kBatch / 10)));
  return best;
}

} // namespace

int main(int argc, char** argv) {
  const long calls = argc > 1 ? std::atol(argv[1]) : 1'000'000;
  FakeMemory memory;
  const std::uint64_t abc = memory.text("abc");
  const std::uint64_t text = memory.text("a text of thirty characters, so");
  const std::uint64_t format = memory.text("%s: %d of %ld\n");
  struct Case {
    const char* conf;
    std::vector<std::uint64_t> arguments;
    std::uint64_t result;
  };
  const Case cases[] = {
      {"addr memcpy(addr, bytes[arg3], ulong);", {0x7f0012345678, abc, 3}, 0x7f0012345678},
      {"int getpid();", {}, 4711},
      {"ulong strlen(string);", {text}, 31},
      {"int open(path, flags(O_RDONLY=0,O_WRONLY=1,O_RDWR=2,O_ACCMODE=3,O_CREAT=0100), octal);",
       {text, 0101, 0644},
       3},
      {"int printf(format);", {format, abc, 7, 12}, 11},
      {"int f(array(int, 4)*, struct(int, long)*);", {text, text}, 0},
  };
  for (const Case& one : cases)
    std::printf("%6.0f ns  %s\n",
                nanoseconds_a_line(one.conf, one.arguments, one.result, memory, calls), one.conf);
}
