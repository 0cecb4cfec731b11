#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/python_frames.hpp"
#include "sonictrace/probe/module_list.hpp"
#include "sonictrace/process/address_space.hpp"

namespace sonictrace {

/// In which Python functions the threads of stopped tracees are, and where the interpreters of all
/// processes are. Of the tracer's thread.
class PythonAtStops {
public:
  explicit PythonAtStops(std::function<void(const FrameDefinition&)> sink)
      : frames_(std::move(sink), FrameIdPool(2, 4)) {}

  /// Looks for the interpreter among modules that have come. May be told of the same ones again.
  void learn(const std::shared_ptr<AddressSpace>& space, std::span<const ProbeModule* const> fresh);
  /// `child` has a copy of the memory of `parent`.
  void copy(const std::shared_ptr<AddressSpace>& parent,
            const std::shared_ptr<AddressSpace>& child);
  /// Null where there is none.
  const wire::PythonLayout* layout_of(const std::shared_ptr<AddressSpace>& space) const;

  /// `thread`: pthread_self(3), which is its %fs base. `hint`: of the thread, zeros at first.
  std::optional<std::uint32_t> frame_of(const std::shared_ptr<AddressSpace>& space,
                                        std::uint64_t thread, wire::PythonHint& hint);

  /// What could not be done since it was last asked for, a line each.
  std::vector<std::string> take_complaints();

private:
  struct Process {
    std::optional<wire::PythonLayout> layout;
    PythonCodes codes;
    bool has_complained = false;
  };

  PythonFrames frames_;
  std::map<std::weak_ptr<AddressSpace>, Process, std::owner_less<>> processes_;
  std::vector<std::string> complaints_;
};

} // namespace sonictrace
