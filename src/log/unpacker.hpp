#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "sonictrace/base/result.hpp"

namespace sonictrace::log {

/// Fills the beginning of `into` with bytes of a file; 0 at its end.
Result<std::size_t> read_some(int fd, std::span<char> into, const std::string& name);

/// Unpacks what it reads from a file.
class Unpacker {
public:
  virtual ~Unpacker() = default;
  /// Fills the beginning of `into`; 0 at the end.
  virtual Result<std::size_t> read(std::span<char> into) = 0;
  /// The file has ended within a member or a frame.
  virtual bool is_cut() const = 0;
};

/// `begun`: what was read of the file already. Null where that is no packed file's beginning.
std::unique_ptr<Unpacker> make_unpacker(int fd, std::string begun, std::string name);

} // namespace sonictrace::log
