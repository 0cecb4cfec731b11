#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "sonictrace/base/result.hpp"
#include "sonictrace/process/address_space.hpp"

namespace sonictrace {

/// The dynamic linker's `_dl_debug_state`, which does nothing and is called whenever the list of
/// modules changes, turned into a jump to the agent. Not a breakpoint: that would kill the process
/// when the tracer is gone.
class Rendezvous {
public:
  static constexpr std::size_t kJumpSize = 6; ///< ff 25 rel32: jmp *cell(%rip)

  /// Where the jump can stand: in place of the `ret`, and of the padding behind it; an endbr64
  /// before stays, as a thread may have just passed it. Fails where there is something else.
  static Result<TraceeAddress> place_for_jump(const AddressSpace& space, TraceeAddress function);
  /// Whether the function is no more than that in its first `size` bytes, which nobody has entered.
  static bool has_room(const AddressSpace& space, TraceeAddress function, std::size_t size);
  /// `cell`: a word that holds the agent's address, within reach. No thread runs.
  static Result<Rendezvous> patch(std::shared_ptr<AddressSpace> space, TraceeAddress at,
                                  TraceeAddress cell);

  Rendezvous for_child(std::shared_ptr<AddressSpace> child) const;
  void restore();

private:
  std::shared_ptr<AddressSpace> space_;
  TraceeAddress at_;
  std::array<std::byte, kJumpSize> before_{};
};

} // namespace sonictrace
