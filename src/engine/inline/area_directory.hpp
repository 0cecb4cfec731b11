#pragma once

#include <memory>
#include <vector>

#include "sonictrace/process/address_space.hpp"
#include "sonictrace/wire/agent_abi.hpp"

namespace sonictrace {

/// Where an agent's process keeps which areas the tracer has mapped (wire::AreaList), for the next
/// session that finds the agent.
class AreaDirectory {
public:
  /// `at`: of the list.
  AreaDirectory(std::shared_ptr<AddressSpace> space, TraceeAddress at)
      : space_(std::move(space)), at_(at) {}

  /// The same in a fork child, which has a copy of it.
  AreaDirectory for_child(std::shared_ptr<AddressSpace> child) const {
    return {std::move(child), at_};
  }

  /// Where there is no room for it, the next session does not find that area.
  void add(const wire::AreaRecord& record) const;
  /// What the process says; not to be trusted.
  std::vector<wire::AreaRecord> read() const;

  /// Patches lead to these areas.
  void say_patched(bool is_patched) const;
  bool is_patched() const;
  /// As many pools of entries were used before this session.
  void say_pools_ever(std::uint32_t pools) const;
  std::uint32_t pools_ever() const;

private:
  std::uint32_t count() const;
  std::uint32_t word(std::int64_t offset) const;
  void put_word(std::int64_t offset, std::uint32_t word) const;

  std::shared_ptr<AddressSpace> space_;
  TraceeAddress at_;
};

} // namespace sonictrace
