#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sonictrace/base/address.hpp"
#include "sonictrace/base/result.hpp"
#include "sonictrace/wire/agent_abi.hpp"

namespace sonictrace {

/// What a stub jumps to in the agent. The number of its word at an area's begin.
enum class AgentRoutine : std::uint8_t { Enter, FindObject, IteratePhdr, Backtrace };
constexpr std::size_t kAgentRoutines = 4;

/// The agent's text as it is embedded in this program. The bytes outlive it.
class AgentImage {
public:
  /// Fails for what is not the agent, or another version of it.
  static Result<AgentImage> of(std::span<const std::byte> bytes);

  std::span<const std::byte> bytes() const { return bytes_; }
  const wire::AgentHeader& header() const { return header_; }
  /// Where a routine is, in bytes from the text's begin.
  std::uint32_t offset_of(AgentRoutine routine) const;

private:
  AgentImage(std::span<const std::byte> bytes, const wire::AgentHeader& header)
      : bytes_(bytes), header_(header) {}

  std::span<const std::byte> bytes_;
  wire::AgentHeader header_;
};

} // namespace sonictrace
