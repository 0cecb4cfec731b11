// What one printed line costs: records of calls, made once, written as whole lines to /dev/null.
// `bench_render [CALLS]` prints nanoseconds a line: of calls that two records tell, and one.
#include <fcntl.h>
#include <sys/types.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
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

struct Case {
  const char* conf; ///< null: a function of which nothing is known
  std::vector<std::uint64_t> arguments;
  std::uint64_t result;
};

/// How the engine tells of a call.
enum class Records { EnterAndReturn, Call };

/// Of the processor's time: the machine may be busy with something else.
double now_ns() {
  timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// The median of many rounds: now and then somebody else needs the processor.
double nanoseconds_a_line(const Case& one, Records records, const FakeMemory& memory, long calls) {
  Recording recording;
  RecordBuilder build(recording);
  build.memory = memory;
  build.thread(kThread, true);
  const FunctionId function = one.conf != nullptr ? build.function(one.conf) : build.unknown("f");
  for (int call = 0; call < kBatch; ++call) {
    if (records == Records::Call)
      build.whole_call(kThread, function, {.arguments = one.arguments, .result = one.result});
    else
      build.call(kThread, function, one.arguments, one.result);
  }

  TextOptions options;
  options.time = TimeStamp::Microseconds;
  options.durations = true;
  options.form = LineForm::Whole;
  options.closing_lines = false;
  const auto once = [&](long rounds) {
    TextSink sink(Writer(UniqueFd(::open("/dev/null", O_WRONLY | O_CLOEXEC))), options, false);
    for (const Definition& definition : recording.definitions)
      sink.define(definition);
    const double begin = now_ns();
    for (long round = 0; round < rounds; ++round)
      sink.write(recording.bytes);
    return (now_ns() - begin) / (static_cast<double>(rounds) * kBatch);
  };
  constexpr std::size_t kRounds = 21;
  std::vector<double> rounds;
  for (std::size_t round = 0; round < kRounds; ++round)
    rounds.push_back(once(std::max(1l, calls / kBatch / long{kRounds})));
  std::nth_element(rounds.begin(), rounds.begin() + kRounds / 2, rounds.end());
  return rounds[kRounds / 2];
}

} // namespace

int main(int argc, char** argv) {
  const long calls = argc > 1 ? std::atol(argv[1]) : 1'000'000;
  FakeMemory memory;
  const std::uint64_t abc = memory.text("abc");
  const std::uint64_t text = memory.text("a text of thirty characters, so");
  const std::uint64_t format = memory.text("%s: %d of %ld\n");
  const Case cases[] = {
      {nullptr, {0x7f0012345678, 3, 0x563012345678, 512}, 1},
      {nullptr, {1, 2, 3, 4}, 0x7f0012345678},
      {"addr memcpy(addr, bytes[arg3], ulong);", {0x7f0012345678, abc, 3}, 0x7f0012345678},
      {"int getpid();", {}, 4711},
      {"ulong strlen(string);", {text}, 31},
      {"int open(path, flags(O_RDONLY=0,O_WRONLY=1,O_RDWR=2,O_ACCMODE=3,O_CREAT=0100), octal);",
       {text, 0101, 0644},
       3},
      {"int printf(format);", {format, abc, 7, 12}, 11},
      {"int f(array(int, 4)*, struct(int, long)*);", {text, text}, 0},
  };
  std::printf("  enter and return     one record\n");
  for (const Case& one : cases)
    std::printf("%15.1f ns %11.1f ns  %s\n",
                nanoseconds_a_line(one, Records::EnterAndReturn, memory, calls),
                nanoseconds_a_line(one, Records::Call, memory, calls),
                one.conf != nullptr ? one.conf : "f: no prototype");
}
