#include "engine/inline/thunk_template.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include "sonictrace/base/check.hpp"
#include "sonictrace/wire/agent_abi.hpp"

namespace sonictrace {
namespace {

template <class T>
void put(std::span<std::byte> into, std::size_t at, T value) {
  SONICTRACE_CHECK(at + sizeof value <= into.size(), "the piece does not fit");
  std::memcpy(into.data() + at, &value, sizeof value);
}

void put_bytes(std::span<std::byte> into, std::size_t at, std::span<const std::uint8_t> bytes) {
  SONICTRACE_CHECK(at + bytes.size() <= into.size(), "the piece does not fit");
  std::memcpy(into.data() + at, bytes.data(), bytes.size());
}

/// Of an operand whose instruction ends at `end`, both in bytes from the group's begin.
std::int32_t relative(std::size_t target, std::size_t end) {
  return static_cast<std::int32_t>(static_cast<std::int64_t>(target) -
                                   static_cast<std::int64_t>(end));
}

constexpr std::size_t kExitWordAt = 8; ///< in the place of thunk 0, which there is none of

/// Where the entry of a thunk is, for unwinders (DWARF 5, 2.5): it follows from rip alone.
///   entry = (rip & -kGroupStride) + kGroupCode + (rip & (kGroupCode - 1) & -kThunkSize) * 2
constexpr auto kEntry = std::to_array<std::uint8_t>({
    0x80, 0x00,                   // DW_OP_breg16 0: rip
    0x12,                         // DW_OP_dup
    0x0d, 0x00, 0x00, 0x80, 0xff, // DW_OP_const4s -kGroupStride
    0x1a,                         // DW_OP_and: the group
    0x16,                         // DW_OP_swap
    0x0c, 0xe0, 0xff, 0x1f, 0x00, // DW_OP_const4u (kGroupCode - 1) & -kThunkSize
    0x1a,                         // DW_OP_and: the thunk's distance from it
    0x31,                         // DW_OP_lit1
    0x24,                         // DW_OP_shl: the entry's from the first entry
    0x22,                         // DW_OP_plus
    0x23, 0x80, 0x80, 0x80, 0x01, // DW_OP_plus_uconst kGroupCode
});
static_assert(wire::kGroupStride == 0x800000 && wire::kGroupCode == 0x200000 &&
              wire::kThunkSize == 32 && sizeof(wire::AgentEntry) == 2 * wire::kThunkSize &&
              offsetof(wire::AgentEntry, return_address) == 0);
/// Of what lies there to the return address, less one.
constexpr auto kLessOne = std::to_array<std::uint8_t>({
    0x06, // DW_OP_deref: AgentEntry::return_address
    0x31, // DW_OP_lit1
    0x1c, // DW_OP_minus
});

} // namespace

std::vector<std::byte> make_thunk_template(TraceeAddress thunk_exit, std::size_t size) {
  std::vector<std::byte> group(size, std::byte{0xcc}); // int3
  put(group, kExitWordAt, thunk_exit.value());
  for (std::size_t k = 1; k < size / wire::kThunkSize; ++k) {
    const std::size_t at = k * wire::kThunkSize;
    const std::size_t entry = wire::kGroupCode + k * sizeof(wire::AgentEntry);
    // ff 15 rel32     call *target(%rip)     of the entry
    // 4c 8d 1d rel32  lea entry(%rip),%r11   <- kThunkReturnsAt
    // ff 25 rel32     jmp *exit(%rip)        the word in the place of thunk 0
    constexpr std::uint8_t kCode[] = {0xff, 0x15, 0, 0,    0,    0, 0x4c, 0x8d, 0x1d, 0,
                                      0,    0,    0, 0xff, 0x25, 0, 0,    0,    0};
    static_assert(sizeof kCode <= wire::kThunkSize && wire::kThunkReturnsAt == 6);
    put_bytes(group, at, kCode);
    put(group, at + 2, relative(entry + offsetof(wire::AgentEntry, target), at + 6));
    put(group, at + 9, relative(entry, at + 13));
    put(group, at + 15, relative(kExitWordAt, at + 19));
  }
  return group;
}

namespace {

// A thunk's frame has no room of its own: its return address has been taken off the stack, and rsp
// is the caller's. libgcc tells frames apart by their CFA alone, and goes wrong where the caller
// itself catches, unless one of them says that it is a signal frame (unwind-dw2.c,
// uw_identify_context): so the thunks say that (augmentation 'S'). With it goes that the return
// address is taken for that of the very instruction which was interrupted, and not of the one
// behind a call: so it is made one less, as unwinders make it themselves of calls' ones.
//
// The libunwind of nongnu.org, which a program has for its exceptions when it links to it (with
// tcmalloc, say), must not be told that: it would resume the caller by sigreturn(2). It also wants
// the return address to be in memory, where it stores the landing pad's.
void put_tables(std::span<std::byte> page, std::size_t to_region, TraceeAddress region,
                std::size_t region_size, bool as_signal_frame) {
  constexpr std::size_t kCieSize = 56; ///< its length word included
  constexpr std::size_t kFdeAt = kThunkEhFrameAt + kCieSize;
  constexpr std::size_t kFdeSize = 32;

  // .eh_frame_hdr (LSB 5.0 core, 10.6.2): one function.
  put_bytes(page, 0,
            std::to_array<std::uint8_t>({
                1,    // version
                0x1b, // .eh_frame: DW_EH_PE_pcrel | DW_EH_PE_sdata4
                0x03, // count: DW_EH_PE_udata4
                0x3b, // table: DW_EH_PE_datarel | DW_EH_PE_sdata4
            }));
  put(page, 4, static_cast<std::int32_t>(kThunkEhFrameAt) - 4);
  put(page, 8, std::uint32_t{1});
  put(page, 12, static_cast<std::int32_t>(to_region)); // where the function begins
  put(page, 16, static_cast<std::int32_t>(kFdeAt));

  // .eh_frame (LSB 5.0 core, 10.6.1). The bytes that stay 0 are DW_CFA_nop.
  const std::size_t size = kEntry.size() + (as_signal_frame ? kLessOne.size() : 0);
  std::size_t at = kThunkEhFrameAt;
  put(page, at, std::uint32_t{kCieSize - 4});
  std::vector<std::uint8_t> cie = {1, 'z', 'R'};
  if (as_signal_frame) cie.push_back('S');
  for (const std::uint8_t byte : std::to_array<std::uint8_t>({
           0,           // end of the augmentation
           1, 0x78, 16, // alignment of code 1, of data -8; rip
           1, 0x00,     // addresses: DW_EH_PE_absptr
           0x0c, 7, 0,  // DW_CFA_def_cfa rsp, 0
       }))
    cie.push_back(byte);
  cie.push_back(as_signal_frame ? 0x16 : 0x10); // DW_CFA_val_expression, DW_CFA_expression
  cie.push_back(16);                            // of rip
  cie.push_back(static_cast<std::uint8_t>(size));
  cie.insert(cie.end(), kEntry.begin(), kEntry.end());
  if (as_signal_frame) cie.insert(cie.end(), kLessOne.begin(), kLessOne.end());
  SONICTRACE_CHECK(8 + cie.size() <= kCieSize, "the CIE does not fit");
  put_bytes(page, at + 8, cie);
  at = kFdeAt;
  put(page, at, std::uint32_t{kFdeSize - 4});
  put(page, at + 4, static_cast<std::uint32_t>(at + 4 - kThunkEhFrameAt));
  put(page, at + 8, region.value());
  put(page, at + 16, std::uint64_t{region_size});

  std::array<Elf64_Phdr, kThunkProgramHeaders> headers{};
  headers[0].p_type = PT_LOAD;
  headers[0].p_flags = PF_R | PF_X;
  headers[0].p_filesz = headers[0].p_memsz = to_region + region_size;
  headers[0].p_align = 4096;
  headers[1].p_type = PT_GNU_EH_FRAME;
  headers[1].p_flags = PF_R;
  headers[1].p_filesz = headers[1].p_memsz = 20;
  headers[1].p_align = 4;
  static_assert(kFdeAt + kFdeSize + 4 <= kThunkProgramHeadersAt);
  put(page, kThunkProgramHeadersAt, headers);
}

} // namespace

std::vector<std::byte> make_thunk_unwind_page(TraceeAddress region, std::size_t region_size) {
  std::vector<std::byte> page(kThunkUnwindSize);
  const std::span<std::byte> whole(page);
  static_assert(kThunkProgramHeadersAt + kThunkProgramHeaders * sizeof(Elf64_Phdr) <=
                kThunkUnwindForNongnuAt);
  put_tables(whole.first(kThunkUnwindForNongnuAt), kThunkUnwindSize, region, region_size, true);
  put_tables(whole.subspan(kThunkUnwindForNongnuAt), kThunkUnwindSize - kThunkUnwindForNongnuAt,
             region, region_size, false);
  return page;
}

} // namespace sonictrace
