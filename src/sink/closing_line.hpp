#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sonictrace/sink/text_options.hpp"
#include "sonictrace/stream/sink.hpp"

namespace sonictrace {

/// Calls that were recorded and are not in the log.
struct LeftOut {
  std::uint64_t short_calls = 0;     ///< --min-time
  std::uint64_t deep_calls = 0;      ///< --max-depth
  std::uint64_t damaged_batches = 0; ///< cut where they could not be understood
  std::uint64_t sampled_calls = 0;   ///< --sample
  std::uint64_t thinned_calls = 0;   ///< --thin-after
};

/// `+++ sonictrace: 55412 calls, 83 functions, ... +++`. Of the options, those that the left-out
/// calls are told with are looked at.
std::string make_closing_line(const SessionSummary& summary, std::size_t functions,
                              const LeftOut& left_out, const TextOptions& options);

} // namespace sonictrace
