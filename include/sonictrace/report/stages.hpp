#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sonictrace/base/glob.hpp"
#include "sonictrace/base/result.hpp"
#include "sonictrace/log/function_table.hpp"

namespace sonictrace::report {

/// The stages of a program's work, each known by its functions and libraries:
///
///     # a comment
///     [image encoding]
///     func = "at::native::conv*", "*mkldnn*"
///     lib = "libdnnl*"
///
/// A function belongs to the first stage that one of its `func` globs matches, or else to the first
/// that one of its `lib` globs does; to none where neither is.
class Stages {
public:
  /// Fails with `NAME:LINE: what`.
  static Result<Stages> parse(std::string_view text, const std::string& name);
  static Result<Stages> read(const std::string& path);

  /// The name of its stage, or `other`.
  std::string_view stage_of(const log::Function& function) const;
  /// In the order of the file.
  std::vector<std::string> names() const;

private:
  struct Stage {
    std::string name;
    std::vector<Glob> functions, libraries;
  };
  std::vector<Stage> stages_;
};

} // namespace sonictrace::report
