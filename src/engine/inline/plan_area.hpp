#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/inline/area_directory.hpp"
#include "engine/inline/remote_mapper.hpp"
#include "sonictrace/base/address_range.hpp"
#include "sonictrace/process/address_space.hpp"
#include "sonictrace/proto/call_plan.hpp"
#include "sonictrace/stream/definition.hpp"
#include "sonictrace/wire/agent_abi.hpp"

namespace sonictrace {

/// The capture steps of call plans in the memory of a process, where it can only read them. Each
/// plan is there once.
class PlanArea {
public:
  struct Places {
    TraceeAddress at_entry, at_return; ///< 0: no steps
  };

  explicit PlanArea(std::shared_ptr<AddressSpace> space) : space_(std::move(space)) {}
  /// Areas that an earlier session has left: they are used first. New ones are entered into
  /// `directory`.
  void adopt(std::span<const wire::AreaRecord> areas, AreaDirectory directory);
  PlanArea for_child(std::shared_ptr<AddressSpace> child) const;

  /// Where the plan's steps are, once `flush` has written them.
  Result<Places> place(const std::shared_ptr<const proto::CallPlan>& plan, RemoteMapper& mapper);
  /// Before any site that refers to them is used.
  Result<void> flush();

private:
  Result<AddressRange> take_area(std::size_t size, RemoteMapper& mapper);
  Result<TraceeAddress> place_steps(const std::vector<wire::CaptureOp>& steps,
                                    RemoteMapper& mapper);

  std::shared_ptr<AddressSpace> space_;
  std::unordered_map<const proto::CallPlan*, Places> places_;
  std::vector<std::shared_ptr<const proto::CallPlan>> kept_; ///< so that no other gets its address
  std::map<std::string, TraceeAddress> steps_;               ///< by their bytes
  TraceeAddress next_, end_;                                 ///< of the newest area
  TraceeAddress unwritten_at_;
  std::vector<std::byte> unwritten_;
  std::vector<AddressRange> spare_; ///< areas of an earlier session
  std::optional<AreaDirectory> directory_;
};

/// What the agent needs to know of a function's calls, but for what makes the function special and
/// the slot.
wire::Site make_site(const proto::CallPlan& plan, FunctionId function,
                     const PlanArea::Places& places);

} // namespace sonictrace
