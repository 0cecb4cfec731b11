// bench_call_text CALLS: as bench_call, of a function that takes a std::string, by one thread.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

int bench_empty_text(const std::string& text);

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  const long calls = argc > 1 ? std::atol(argv[1]) : 0;
  if (calls < 1) {
    std::fprintf(stderr, "usage: bench_call_text CALLS\n");
    return 2;
  }
  const std::string text = "short text";
  long sum = 0;
  const auto started = Clock::now();
  for (long i = 0; i < calls; ++i)
    sum += bench_empty_text(text);
  const std::chrono::duration<double, std::nano> took = Clock::now() - started;
  if (sum != calls * static_cast<long>(text.size())) return 4;
  std::printf("%.2f\n", took.count() / static_cast<double>(calls));
}
