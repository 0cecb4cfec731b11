#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/frame_ids.hpp"
#include "sonictrace/arch/registers.hpp"
#include "sonictrace/base/address.hpp"
#include "sonictrace/base/address_range.hpp"
#include "sonictrace/probe/image_cache.hpp"
#include "sonictrace/process/unwinder.hpp"
#include "sonictrace/stream/definition.hpp"

namespace sonictrace {

/// Told of each place once, before its id is used.
using FrameSink = std::function<void(const FrameDefinition&)>;

/// The stacks on which calls are made, as ids of FrameDefinitions, innermost first (-w). Short
/// where the rest is not known; never a frame that is a guess.
class Backtracer {
public:
  /// `limit`: most frames of a list. `open`: see Unwinder. `ids`: of this backtracer alone.
  Backtracer(CodeMap::OpenImage open, std::size_t limit, FrameSink sink, FrameIdPool ids);

  /// Of a call that is about to be made, or has just been: of its caller. The registers are those
  /// at either place; the return address lies, or will, at `slot`. Frame 0 is the return address,
  /// as the callee's own backtrace would show it.
  std::span<const std::uint32_t> frames_of_call(const std::shared_ptr<AddressSpace>& space,
                                                const Registers& registers,
                                                TraceeAddress return_address, TraceeAddress slot);
  /// Of a system call: frame 0 is the pc, which is behind the instruction.
  std::span<const std::uint32_t> frames_of_syscall(const std::shared_ptr<AddressSpace>& space,
                                                   const Registers& registers);
  /// Of a call that was made some time ago, on a stack that was copied then.
  std::span<const std::uint32_t> frames_of_copied_call(const std::shared_ptr<AddressSpace>& space,
                                                       const Registers& registers,
                                                       TraceeAddress return_address,
                                                       TraceeAddress slot, StackReader& stack);
  /// See Unwinder.
  std::uint64_t questions(const std::shared_ptr<AddressSpace>& space) {
    return unwinder_.questions(space);
  }
  void set_own_code(const std::shared_ptr<AddressSpace>& space, OwnCode code) {
    unwinder_.set_own_code(space, std::move(code));
  }
  void learn(const std::shared_ptr<AddressSpace>& space, std::vector<MappedCode> all) {
    unwinder_.learn(space, std::move(all));
  }
  /// Unmapped (dlclose): the same addresses may be other places from now on.
  void forget(const AddressSpace& space, AddressRange range);
  /// `child` has a copy of the memory of `parent`: its places are the same ones.
  void copy(const std::shared_ptr<AddressSpace>& parent,
            const std::shared_ptr<AddressSpace>& child);

private:
  std::span<const std::uint32_t> list(const std::shared_ptr<AddressSpace>& space,
                                      const Registers& inside, TraceeAddress first,
                                      StackReader* stack);
  std::uint32_t id_of(const std::shared_ptr<AddressSpace>& space, std::shared_ptr<FrameIds>& ids,
                      const UnwoundFrame& frame);
  void define(const std::shared_ptr<AddressSpace>& space, std::uint32_t id,
              const UnwoundFrame& frame);

  std::size_t limit_;
  FrameSink sink_;
  Unwinder unwinder_;
  FrameIdPool pool_;
  /// Shared until one of them comes to know another place.
  std::map<std::weak_ptr<AddressSpace>, std::shared_ptr<FrameIds>, std::owner_less<>> ids_;
  std::vector<std::uint32_t> found_;
};

/// Images that the session has parsed already are not parsed again. `images` outlives it.
CodeMap::OpenImage opener(ImageCache& images);

} // namespace sonictrace
