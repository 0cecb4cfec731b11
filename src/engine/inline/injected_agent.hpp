#pragma once

#include <cstdint>
#include <memory>

#include "engine/inline/agent_image.hpp"
#include "engine/inline/agent_threads.hpp"
#include "engine/inline/arena.hpp"
#include "engine/inline/left_agent.hpp"
#include "engine/inline/remote_caller.hpp"
#include "sonictrace/base/address_range.hpp"
#include "sonictrace/process/address_space.hpp"

namespace sonictrace {

/// The agent in one process: its text and data, the arena, and the return thunks
/// (wire/agent_abi.hpp). It stays there when this object goes, and when the process is left:
/// threads may be in it.
class InjectedAgent {
public:
  /// Where its parts are in the process.
  struct Places {
    AddressRange text;
    TraceeAddress private_data;
    TraceeAddress arena;
    TraceeAddress thunk_template;
    TraceeAddress thunk_unwind; ///< the page directly below the region
    AddressRange region;        ///< of thunks
  };

  /// `settings`: AgentControl, but for what the injection itself finds out: arena, region,
  /// region_end, thunk_template, thunk_unwind, max_rings, group_is_mapped. The agent records
  /// nothing before `switch_on`. What was mapped is unmapped where a step fails; then the process
  /// is as it was. All other threads of the process are stopped, or there are none.
  static Result<InjectedAgent> inject(RemoteCaller& caller, const AgentImage& image,
                                      const wire::AgentControl& settings, bool counting);
  /// Makes one that an earlier session has left this one's: with an arena of its own, without
  /// threads, and with the calls that may still return through it. The same else. Where a step
  /// fails it is as it was, switched off; but it may have no arena any more.
  static Result<InjectedAgent> adopt(RemoteCaller& caller, const AgentImage& image,
                                     const LeftAgent& left, const wire::AgentControl& settings,
                                     bool counting);
  /// The same agent in a fork child, which has a copy of all but the arena. It is switched off
  /// there, and knows no threads (MADV_WIPEONFORK).
  InjectedAgent for_child(std::shared_ptr<AddressSpace> child) const;

  /// Of a copy: gives it an arena of its own, where the parent's is mapped so far.
  Result<void> replace_arena(RemoteCaller& caller, bool counting);

  /// `inherits`: see wire::AgentSwitch.
  Result<void> switch_on(std::uint32_t inherits = 0) const;
  Result<void> switch_off() const;

  /// From now on the Python functions that make calls are recorded.
  Result<void> show_python(const wire::PythonLayout& layout) const;

  const std::shared_ptr<AddressSpace>& space() const { return space_; }
  const std::shared_ptr<Arena>& arena() const { return arena_; }
  const AgentThreads& threads() const { return threads_; }
  const Places& places() const { return places_; }
  const wire::AgentHeader& header() const { return header_; }
  /// Of an offset in the header.
  TraceeAddress in_text(std::uint32_t offset) const { return places_.text.begin() + offset; }
  TraceeAddress routine(AgentRoutine routine) const {
    return in_text(routines_[static_cast<std::size_t>(routine)]);
  }
  CallingCode calling_code() const { return {in_text(header_.syscall), CallingCode::Kind::Whole}; }
  /// Of the wire::AreaList.
  TraceeAddress area_list() const;
  /// The block of a ring's thread.
  TraceeAddress block(std::uint32_t ring) const {
    return places_.private_data + static_cast<std::int64_t>(wire::AgentPrivate::kBlocksAt +
                                                            ring * sizeof(wire::AgentBlock));
  }
  /// The entry of a return thunk, for an address in one (also the one behind its call).
  std::optional<TraceeAddress> entry_of_thunk(TraceeAddress address) const {
    return entry_of_thunk(places_.region, address);
  }
  static std::optional<TraceeAddress> entry_of_thunk(AddressRange region, TraceeAddress address);

private:
  InjectedAgent(std::shared_ptr<AddressSpace> space, std::shared_ptr<Arena> arena,
                const Places& places, const AgentImage& image);

  std::shared_ptr<AddressSpace> space_;
  std::shared_ptr<Arena> arena_;
  AgentThreads threads_;
  Places places_;
  wire::AgentHeader header_;
  std::array<std::uint32_t, kAgentRoutines> routines_{};
};

} // namespace sonictrace
