#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "sonictrace/base/result.hpp"
#include "sonictrace/base/unique_fd.hpp"

namespace sonictrace::log {

class Unpacker;

/// The bytes of a log: a file, or stdin, as it is or packed by gzip or zstd, which its first bytes
/// tell, whatever its name is. Several members or frames behind each other are one log.
class LogInput {
public:
  /// `-` is stdin. Fails with one line that says what to do about it.
  static Result<LogInput> open(const std::string& path);

  LogInput(LogInput&& other) noexcept;
  LogInput& operator=(LogInput&& other) noexcept;
  ~LogInput();

  /// Fills the beginning of `into`; 0 at the end.
  Result<std::size_t> read(std::span<char> into);

  /// For messages: the path, or `standard input`.
  const std::string& name() const { return name_; }
  /// A packed log that has no end (it is still written, or its writer was killed): what could be
  /// unpacked was read.
  bool is_cut() const;

private:
  LogInput(UniqueFd fd, std::string name);

  UniqueFd fd_;
  std::string name_;
  std::string begun_; ///< read to see what it is, and not yet given out
  std::unique_ptr<Unpacker> unpacker_;
};

} // namespace sonictrace::log
