#include "engine/inline/rendezvous.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "engine/inline/linker_knock.hpp"

namespace sonictrace {

namespace {

constexpr std::size_t kLooked = 16; ///< to where compilers fill a function up

/// Where the `ret` is of a function that consists of it, with padding behind it up to byte `size`.
std::optional<std::size_t> lonely_return(std::span<const std::byte, kLooked> code,
                                         std::size_t size) {
  constexpr std::array kEndbr = {std::byte{0xf3}, std::byte{0x0f}, std::byte{0x1e},
                                 std::byte{0xfa}};
  constexpr std::byte kRet{0xc3};
  const bool has_endbr = std::equal(kEndbr.begin(), kEndbr.end(), code.begin());
  const std::size_t at = has_endbr ? kEndbr.size() : 0;
  // Nops of many lengths, or int3.
  const auto is_padding = [](std::byte byte) {
    constexpr std::array<unsigned char, 12> kPadding = {0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00,
                                                        0x90, 0xcc, 0x40, 0x44, 0x80, 0x48};
    return std::find(kPadding.begin(), kPadding.end(), std::to_integer<unsigned char>(byte)) !=
           kPadding.end();
  };
  const auto padding = code.first(size).subspan(at + 1);
  if (code[at] != kRet || !std::all_of(padding.begin(), padding.end(), is_padding))
    return std::nullopt;
  return at;
}

} // namespace

Result<TraceeAddress> Rendezvous::place_for_jump(const AddressSpace& space,
                                                 TraceeAddress function) {
  std::array<std::byte, kLooked> code{};
  if (auto read = space.memory().read(function, code); !read) return std::move(read).error();
  if (LinkerKnock::is_at(code)) return function; // of a tracer that was killed
  constexpr std::size_t kEndbr = 4;
  const auto at = lonely_return(code, kEndbr + kJumpSize);
  if (!at)
    return Error::saying(fmt::format("the dynamic linker's _dl_debug_state at {:#x} is more than a "
                                     "ret with padding",
                                     function.value()));
  return function + static_cast<std::int64_t>(*at);
}

bool Rendezvous::has_room(const AddressSpace& space, TraceeAddress function, std::size_t size) {
  std::array<std::byte, kLooked> code{};
  return function.value() % kLooked == 0 && size <= kLooked &&
         space.memory().read(function, code) && lonely_return(code, size);
}

Result<Rendezvous> Rendezvous::patch(std::shared_ptr<AddressSpace> space, TraceeAddress at,
                                     TraceeAddress cell) {
  Rendezvous made;
  made.space_ = std::move(space);
  made.at_ = at;
  const auto& memory = made.space_->memory();
  if (auto read = memory.read(at, made.before_); !read) return std::move(read).error();
  const auto distance =
      static_cast<std::int64_t>(cell.value()) - static_cast<std::int64_t>(at.value() + kJumpSize);
  if (distance != static_cast<std::int32_t>(distance))
    return Error::saying("the jump out of the dynamic linker does not reach");
  std::array<std::byte, kJumpSize> jump = {std::byte{0xff}, std::byte{0x25}};
  const auto narrow = static_cast<std::int32_t>(distance);
  std::memcpy(jump.data() + 2, &narrow, sizeof narrow);
  if (auto written = memory.write_whole(at, jump); !written) return std::move(written).error();
  return made;
}

Rendezvous Rendezvous::for_child(std::shared_ptr<AddressSpace> child) const {
  Rendezvous copy = *this;
  copy.space_ = std::move(child);
  return copy;
}

void Rendezvous::restore() { (void)space_->memory().write_whole(at_, before_); }

} // namespace sonictrace
