#pragma once

#include <cstdint>
#include <vector>

#include "sonictrace/proto/prototype.hpp"
#include "sonictrace/wire/capture.hpp"

namespace sonictrace::proto {

/// Which bytes to copy of one call, for wire::run_capture.
struct CapturePlan {
  std::vector<wire::CaptureOp> at_entry;
  std::vector<wire::CaptureOp> at_return; ///< argument 0 is the result word
  std::uint8_t argument_words = 0;        ///< how many argument words the plan looks at
  std::uint32_t entry_room = 0;           ///< bytes that at_entry can fill at most
  std::uint32_t return_room = 0;
};

/// `string_limit`: -s, characters of a string to copy at most (one more is copied, to know whether
/// there was more). Paths are copied whole, up to PATH_MAX.
CapturePlan compile(const Prototype& prototype, std::uint32_t string_limit);

} // namespace sonictrace::proto
