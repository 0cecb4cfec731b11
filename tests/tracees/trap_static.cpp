// A static program: nothing of it is called through a PLT but the functions that libc chooses for
// this processor. It throws, makes threads, and forks.
#include <sys/wait.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support.h"

static int compare(const void* a, const void* b) {
  if (*static_cast<const int*>(a) < 0) throw std::runtime_error("negative");
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

int main() {
  long caught = 0, sums[4] = {};
  for (int i = 0; i < 1000; ++i) {
    int values[4] = {4, i % 2 ? -3 : 3, 2, 1};
    try {
      qsort(values, 4, sizeof values[0], compare);
    } catch (const std::exception&) { ++caught; }
  }
  std::vector<std::thread> threads;
  for (auto& sum : sums)
    threads.emplace_back([&sum] {
      std::string text;
      for (int i = 0; i < 5000; ++i)
        text += std::to_string(i);
      for (const char c : text)
        sum += c;
    });
  for (auto& thread : threads)
    thread.join();
  const pid_t child = fork();
  if (child == 0) exit(static_cast<int>(std::string(7, 'x').size()));
  int status = 0;
  waitpid(child, &status, 0);
  say("caught %ld sums %ld %ld child %d", caught, sums[0], sums[3], WEXITSTATUS(status));
  return 6;
}
