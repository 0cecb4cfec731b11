#pragma once

#include <cstddef>
#include <vector>

#include "sonictrace/base/address.hpp"
#include "sonictrace/wire/agent_abi.hpp"

namespace sonictrace {

/// The code of a group of return thunks (wire/agent_abi.hpp): kGroupCode bytes, the same for every
/// group. `thunk_exit`: where they go when the call they made has returned.
/// `size`: only so many bytes from the begin are made (for a use that needs few of them).
std::vector<std::byte> make_thunk_template(TraceeAddress thunk_exit,
                                           std::size_t size = wire::kGroupCode);

constexpr std::size_t kThunkUnwindSize = 4096;
constexpr std::size_t kThunkProgramHeadersAt = 512;
constexpr std::size_t kThunkProgramHeaders = 2;
constexpr std::size_t kThunkEhFrameAt = 64;
/// The same tables once more lie here, for the libunwind of nongnu.org.
constexpr std::size_t kThunkUnwindForNongnuAt = 2048;

/// The page that lies directly below the region of thunks and tells unwinders about them:
/// .eh_frame_hdr, .eh_frame, and two program headers for dl_iterate_phdr, relative to the page.
std::vector<std::byte> make_thunk_unwind_page(TraceeAddress region, std::size_t region_size);

} // namespace sonictrace
