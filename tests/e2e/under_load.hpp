#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <sstream>

#include "counted.hpp"
#include "tracees/under_load.h"

namespace sonictrace::test {

/// The page that a test shares with tests/tracees/under_load.cpp.
class LoadState {
public:
  explicit LoadState(const std::string& path) : path_(path) {
    const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    EXPECT_EQ(::ftruncate(fd.get(), sizeof(load_state)), 0);
    void* const page =
        ::mmap(nullptr, sizeof(load_state), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    EXPECT_NE(page, MAP_FAILED);
    state_ = static_cast<load_state*>(page);
  }
  LoadState(const LoadState&) = delete;
  ~LoadState() { ::munmap(state_, sizeof(load_state)); }

  const std::string& path() const { return path_; }
  long get(long load_state::*field) const {
    return __atomic_load_n(&(state_->*field), __ATOMIC_SEQ_CST);
  }
  void stop() { __atomic_store_n(&state_->stop, 1L, __ATOMIC_SEQ_CST); }

  /// Waits until the program `pid` is at work; false when it ends before, or hangs.
  bool wait_for_start(pid_t pid) const {
    return wait_until([&] { return get(&load_state::started) != 0 || has_ended(pid); }) &&
           get(&load_state::started) != 0;
  }
  /// Waits until it has done `rounds` more.
  bool wait_for_rounds(pid_t pid, long rounds) const {
    const long wanted = get(&load_state::rounds) + rounds;
    return wait_until([&] { return get(&load_state::rounds) >= wanted || has_ended(pid); }) &&
           get(&load_state::rounds) >= wanted;
  }

private:
  static bool has_ended(pid_t pid) {
    const std::string state = status_field(pid, "State");
    return state.empty() || state[0] == 'Z';
  }

  std::string path_;
  load_state* state_ = nullptr;
};

/// The child processes of `pid`, of all its threads.
inline std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  std::error_code ignored;
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", ignored)) {
    std::istringstream list(read_file(task.path().string() + "/children"));
    for (pid_t child; list >> child;)
      children.push_back(child);
  }
  return children;
}

/// The first child of `tracer` that has become `program`; 0 when there is none in time.
inline pid_t wait_for_program(const RunningProgram& tracer, const std::string& program) {
  pid_t found = 0;
  wait_until([&] {
    for (const pid_t child : children_of(tracer.pid())) {
      std::error_code failed;
      const auto exe =
          std::filesystem::read_symlink("/proc/" + std::to_string(child) + "/exe", failed);
      if (!failed && exe == std::filesystem::canonical(program)) found = child;
    }
    return found != 0 || !tracer.is_running();
  });
  return found;
}

} // namespace sonictrace::test
