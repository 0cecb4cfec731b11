#pragma once

#include <string>
#include <string_view>

#include "sonictrace/base/result.hpp"
#include "sonictrace/base/unique_fd.hpp"

namespace sonictrace::sonicreport {

/// A file that is there whole or not at all: written to NAME.tmp, and renamed by commit(). Where
/// the name is of something else than a file (a pipe), and for stdout, it is written to directly.
class OutputFile {
public:
  /// Empty: stdout.
  static Result<OutputFile> open(const std::string& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  /// Removes what was not committed.
  ~OutputFile();

  Result<void> write(std::string_view text);
  Result<void> commit();

private:
  OutputFile(UniqueFd fd, std::string path, std::string temporary)
      : fd_(std::move(fd)), path_(std::move(path)), temporary_(std::move(temporary)) {}
  Result<void> flush();

  UniqueFd fd_; ///< empty: stdout
  std::string path_;
  std::string temporary_; ///< empty: there is none
  std::string buffer_;
};

} // namespace sonictrace::sonicreport
