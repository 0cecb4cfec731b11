#pragma once

#include <cstdint>
#include <string>

#include "sonictrace/names/demangle.hpp"

namespace sonictrace {

/// What --output-format=json writes. The options that are named mean what they mean in the text.
struct JsonOptions {
  std::string host;                ///< of every object
  std::uint32_t string_limit = 32; ///< -s
  bool whole_paths = true;
  DemangleStyle demangle = DemangleStyle::Short;
  bool signals = true;           ///< off with -b
  std::uint64_t min_time_ns = 0; ///< --min-time
  unsigned max_depth = 0;        ///< --max-depth
  std::uint64_t sample = 1;      ///< --sample
  bool summary = true;           ///< the last object; off with --quiet
  std::string banner;            ///< the text of a first object, a remark; empty: none

  bool operator==(const JsonOptions&) const = default;
};

} // namespace sonictrace
