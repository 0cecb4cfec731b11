#include "sonictrace/arch/signal_frame.hpp"

#include <cpuid.h>

#include <algorithm>
#include <cstring>

namespace sonictrace {
namespace {

// As the kernel has them (arch/x86/include/uapi/asm/ucontext.h); the C library's have other fields
// behind.
constexpr std::uint64_t kHasExtended = 1, kHasStackSegment = 2, kStrictStackSegment = 4;

struct SignalContext { // struct sigcontext_64
  std::uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
  std::uint64_t rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags;
  std::uint16_t cs, gs, fs, ss;
  std::uint64_t error, trap, old_mask, cr2;
  std::uint64_t extended; ///< address
  std::uint64_t reserved[8];
};
static_assert(sizeof(SignalContext) == 256);

struct UserContext { // struct ucontext
  std::uint64_t flags, link;
  std::uint64_t stack_at;
  std::int32_t stack_flags;
  std::uint64_t stack_size;
  SignalContext context;
  std::uint64_t mask;
};
static_assert(sizeof(UserContext) == 304 && offsetof(UserContext, context) == 40);

struct Frame { // struct rt_sigframe
  std::uint64_t return_address;
  UserContext user;
  std::byte info[128];
};
constexpr std::int64_t kPopped = offsetof(Frame, user);

// The XSAVE image (Intel SDM volume 1, 13.4).
constexpr std::size_t kSoftwareAt = 464; ///< for the kernel's use: struct _fpx_sw_bytes
constexpr std::size_t kHeaderAt = 512;   ///< which components are there, not in their initial state
constexpr std::size_t kAreaAt = 576;
constexpr std::uint64_t kX87AndSse = 3, kProtectionKeys = std::uint64_t{1} << 9;
constexpr std::uint64_t kAlignment = 64;

struct SoftwarePart { // struct _fpx_sw_bytes (arch/x86/include/uapi/asm/sigcontext.h)
  std::uint32_t magic;
  std::uint32_t extended_size; ///< with the magic number behind the image
  std::uint64_t components;
  std::uint32_t size;
  std::uint32_t padding[7];
};
static_assert(kSoftwareAt + sizeof(SoftwarePart) == kHeaderAt);
constexpr std::uint32_t kMagic = 0x4650'5853, kMagicBehind = 0x4650'5845;

/// Of an image that has these components, each in its place (not compacted).
std::size_t size_of_image(std::uint64_t components) {
  std::size_t size = kAreaAt;
  for (unsigned component = 2; component < 63; ++component) {
    if ((components >> component & 1) == 0) continue;
    unsigned bytes = 0, offset = 0, ecx = 0, edx = 0;
    if (__get_cpuid_count(0xd, component, &bytes, &offset, &ecx, &edx) == 0) return 0;
    size = std::max<std::size_t>(size, std::size_t{offset} + bytes);
  }
  return size;
}

struct Components {
  std::uint64_t present; ///< as the image's header is to say
  std::uint64_t known;   ///< to the image at all
  std::size_t size;      ///< of the image; 0: there is none
};

Components components_of(std::span<const std::byte> extended) {
  if (extended.size() < kAreaAt) return {};
  // What the processor has; the kernel puts it there for debuggers (fpu/xstate.c).
  std::uint64_t possible = 0, present = 0;
  std::memcpy(&possible, extended.data() + kSoftwareAt, sizeof possible);
  std::memcpy(&present, extended.data() + kHeaderAt, sizeof present);
  // The keys are always in the image, whether its header says so or not (fpu/xstate.c,
  // copy_xstate_to_uabi_buf); and their initial state is not what programs have.
  present |= possible & kProtectionKeys;
  // Only what is there, so that the size is never more than this thread's signal frames have: of a
  // component that it has not asked for (AMX) there is room in the image, but not in those. What
  // is left out gets its initial state (fpu/signal.c, restore_fpregs_from_user).
  const std::uint64_t known = present | kX87AndSse;
  const std::size_t size = size_of_image(known);
  return {present, known, size <= extended.size() ? size : 0};
}

SignalContext context_of(const user_regs_struct& raw) {
  SignalContext context{};
  context.r8 = raw.r8;
  context.r9 = raw.r9;
  context.r10 = raw.r10;
  context.r11 = raw.r11;
  context.r12 = raw.r12;
  context.r13 = raw.r13;
  context.r14 = raw.r14;
  context.r15 = raw.r15;
  context.rdi = raw.rdi;
  context.rsi = raw.rsi;
  context.rbp = raw.rbp;
  context.rbx = raw.rbx;
  context.rdx = raw.rdx;
  context.rax = raw.rax;
  context.rcx = raw.rcx;
  context.rsp = raw.rsp;
  context.rip = raw.rip;
  context.eflags = raw.eflags;
  context.cs = static_cast<std::uint16_t>(raw.cs);
  context.ss = static_cast<std::uint16_t>(raw.ss);
  return context;
}

} // namespace

std::size_t room_for_signal_frame(std::span<const std::byte> extended) {
  const std::size_t size = components_of(extended).size;
  return size == 0 ? 0 : sizeof(Frame) + 16 + size + sizeof kMagicBehind + kAlignment;
}

SignalFrame make_signal_frame(TraceeAddress below, const Registers& registers, std::uint64_t mask,
                              std::span<const std::byte> extended) {
  SignalFrame made{};
  const auto [present, known, size] = components_of(extended);
  if (size == 0) return made;
  const std::uint64_t whole = size + sizeof kMagicBehind;
  const std::uint64_t image_at = (below.value() - whole) & -kAlignment;
  const std::uint64_t begin = (image_at - sizeof(Frame)) & -std::uint64_t{16};
  made.begin = TraceeAddress(begin);
  made.resume_at = made.begin + kPopped;
  made.bytes.resize(image_at - begin + whole);

  Frame frame{};
  frame.user.flags = kHasExtended | kHasStackSegment | kStrictStackSegment;
  // No such flag: the alternate stack stays as it is (kernel/signal.c, do_sigaltstack and
  // restore_altstack).
  frame.user.stack_flags = 0x10;
  frame.user.context = context_of(registers.raw());
  frame.user.context.extended = image_at;
  frame.user.mask = mask;
  std::memcpy(made.bytes.data(), &frame, sizeof frame);

  std::byte* const image = made.bytes.data() + (image_at - begin);
  std::memcpy(image, extended.data(), size);
  std::memcpy(image + kHeaderAt, &present, sizeof present);
  SoftwarePart software{};
  software.magic = kMagic;
  software.extended_size = static_cast<std::uint32_t>(whole);
  software.components = known;
  software.size = static_cast<std::uint32_t>(size);
  std::memcpy(image + kSoftwareAt, &software, sizeof software);
  std::memcpy(image + size, &kMagicBehind, sizeof kMagicBehind);
  return made;
}

} // namespace sonictrace
