#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/inline/agent_image.hpp"
#include "sonictrace/base/address_range.hpp"
#include "sonictrace/process/address_space.hpp"
#include "sonictrace/wire/agent_abi.hpp"

namespace sonictrace {

/// An agent that an earlier session has left in a process, complete and the same as ours, to be
/// used again. The process may have changed all that is said there, so that each address is looked
/// up among its mappings, and all that code relies on is compared with what we would write.
struct LeftAgent {
  AddressRange text;
  TraceeAddress private_data;
  std::optional<AddressRange> arena; ///< that session's; nothing where it is not there any more
  TraceeAddress thunk_template, thunk_unwind;
  AddressRange region;
  std::array<std::uint8_t, wire::kMaxGroups> group_is_mapped;
  std::uint32_t first_pool, pools_used; ///< of that session
  std::uint32_t pools_ever;             ///< used by it or by one before
  std::vector<wire::AreaRecord> areas;  ///< those that are as they were

  /// Nothing where there is none. Its patches are undone, where its tracer was killed before it
  /// could do so. Fails where a thread is in one: a fresh agent would not know the frames of its
  /// calls. All threads of the process are stopped; `tid`: one of them.
  static Result<std::optional<LeftAgent>> find(const std::shared_ptr<AddressSpace>& space,
                                               pid_t tid, const AgentImage& image);

  enum class Presence : std::uint8_t {
    None,  ///< there is no such agent
    Quiet, ///< no thread is in it
    Busy,  ///< it was switched off now, so that threads are soon out of it
  };
  static Presence look_for(const std::shared_ptr<AddressSpace>& space, pid_t tid,
                           const AgentImage& image);

  /// Where this session's pools begin. An entry whose call was never seen to return is used again
  /// as late as can be.
  std::uint32_t next_first_pool() const;
};

} // namespace sonictrace
