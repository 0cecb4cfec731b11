#include "sonictrace/base/check.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

namespace sonictrace {
namespace {

std::function<void()>& words_slot() {
  static std::function<void()> words;
  return words;
}

/// Taken out before they run: a fault inside them must not run them again.
void speak_once() noexcept {
  auto words = std::exchange(words_slot(), nullptr);
  if (words) words();
}

constexpr std::array kFatal = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

// Not async-signal-safe in the letter: the words allocate. The process is lost anyway; what they
// can still do (pwrite, ptrace, waitpid) is worth the try, and a second fault ends it at once.
void on_fatal_signal(int signal) {
  std::signal(signal, SIG_DFL);
  speak_once();
  std::raise(signal);
}

[[noreturn]] void on_terminate() {
  if (const auto current = std::current_exception()) {
    try {
      std::rethrow_exception(current);
    } catch (const std::exception& caught) {
      std::fprintf(stderr, "sonictrace: bug: uncaught exception: %s\n", caught.what());
    } catch (...) {
      std::fprintf(stderr, "sonictrace: bug: uncaught exception\n");
    }
  }
  speak_once();
  std::abort();
}

} // namespace

void check_failed(const char* file, int line, const char* condition, const char* why) {
  std::fprintf(stderr, "sonictrace: bug: %s:%d: %s: %s\n", file, line, condition, why);
  speak_once();
  std::abort();
}

LastWords::LastWords(std::function<void()> words) {
  SONICTRACE_CHECK(!words_slot(), "one set of last words at a time");
  words_slot() = std::move(words);
  std::set_terminate(on_terminate);
  for (const int signal : kFatal)
    std::signal(signal, on_fatal_signal);
}

LastWords::~LastWords() {
  words_slot() = nullptr;
  for (const int signal : kFatal)
    std::signal(signal, SIG_DFL);
}

} // namespace sonictrace
