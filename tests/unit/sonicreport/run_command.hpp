#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "sonicreport/run.hpp"
#include "sonictrace/base/unique_fd.hpp"

namespace sonictrace::sonicreport::test {

/// A file without a name.
class TextFile {
public:
  explicit TextFile(std::string_view text = {}) : fd_(::memfd_create("log", MFD_CLOEXEC)) {
    EXPECT_EQ(::write(fd_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::string path() const { return fmt::format("/proc/self/fd/{}", fd_.get()); }
  std::string text() const {
    std::string all(1 << 20, '\0');
    const ssize_t n = ::pread(fd_.get(), all.data(), all.size(), 0);
    all.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return all;
  }

private:
  UniqueFd fd_;
};

struct CommandEnd {
  int status = -1;
  std::string out, err;
};

/// Runs `sonicreport ARGUMENTS`, where `LOG` stands for the path of `log`.
inline CommandEnd run_command(std::vector<std::string> arguments, std::string_view log) {
  const TextFile file(log);
  for (auto& one : arguments)
    if (one == "LOG") one = file.path();
  arguments.insert(arguments.begin(), "sonicreport");
  std::vector<const char*> argv;
  for (const auto& one : arguments)
    argv.push_back(one.c_str());
  CommandEnd end;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  end.status = run(argv);
  end.out = testing::internal::GetCapturedStdout();
  end.err = testing::internal::GetCapturedStderr();
  return end;
}

} // namespace sonictrace::sonicreport::test
