#include "sonictrace/process/unwinder.hpp"

#include <libunwind-x86_64.h>
#include <sys/ptrace.h>

#include <array>
#include <cstring>
#include <optional>

// Searches a table as .eh_frame_hdr has it, through the accessors; exported by libunwind for users
// with tables of their own (perf is one), but in no header.
extern "C" int _Ux86_64_dwarf_search_unwind_table(unw_addr_space_t, unw_word_t, unw_dyn_info_t*,
                                                  unw_proc_info_t*, int, void*);

namespace sonictrace {
namespace {

/// The stack of one walk, read page by page. Nothing else reads it meanwhile, and it is forgotten
/// with the walk.
class StackPages {
public:
  explicit StackPages(const TraceeMemory& memory) : memory_(memory) {}

  std::optional<std::uint64_t> word(std::uint64_t address) {
    const auto offset = address % kPage;
    if (offset > kPage - sizeof(std::uint64_t)) return std::nullopt; // never: words are aligned
    const auto number = address / kPage;
    Page& page = pages_[number % pages_.size()];
    if (page.number != number) {
      page.number = kNone;
      if (!memory_.read(TraceeAddress(number * kPage), page.bytes)) return std::nullopt;
      page.number = number;
    }
    std::uint64_t value = 0;
    std::memcpy(&value, page.bytes.data() + offset, sizeof value);
    return value;
  }

private:
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  struct Page {
    std::uint64_t number = kNone;
    std::array<std::byte, kPage> bytes;
  };

  const TraceeMemory& memory_;
  std::array<Page, 4> pages_;
};

/// What the accessors work on.
struct Walk {
  CodeMap& map;
  const AddressSpace& space;
  const user_regs_struct& registers;
  StackPages stack;
  bool has_no_table = false; ///< of the frame to be left
};

Walk& walk_of(void* argument) { return *static_cast<Walk*>(argument); }

/// .eh_frame_hdr of a module (Linux Standard Base, "Exception Frames"), as libunwind wants it told.
std::optional<unw_dyn_info_t> unwind_table(const CodeModule& module) {
  constexpr std::size_t kHeader = 12;
  constexpr std::byte kVersion{1}, kUnsigned4{0x03}, kSigned4FromTable{0x3b}; // DW_EH_PE_*
  const auto at = module.image->unwind_table();
  if (!at) return std::nullopt;
  const auto header = module.image->bytes_at(*at, kHeader);
  if (header.size() < kHeader || header[0] != kVersion || header[2] != kUnsigned4 ||
      header[3] != kSigned4FromTable)
    return std::nullopt;
  std::uint32_t entries = 0;
  std::memcpy(&entries, header.data() + 8, sizeof entries);
  unw_dyn_info_t table{};
  table.start_ip = module.range.begin().value();
  table.end_ip = module.range.end().value();
  table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
  table.u.rti.segbase = module.bias.to_tracee(*at).value();
  table.u.rti.table_data = table.u.rti.segbase + kHeader;
  table.u.rti.table_len = entries; // pairs of 4 bytes, counted in words of 8
  return table;
}

int find_rule(unw_addr_space_t handle, unw_word_t pc, unw_proc_info_t* result, int wanted,
              void* argument) {
  Walk& walk = walk_of(argument);
  const auto place = walk.map.at(walk.space, TraceeAddress(pc));
  auto table = place.module != nullptr ? unwind_table(*place.module) : std::nullopt;
  const int error =
      table ? _Ux86_64_dwarf_search_unwind_table(handle, pc, &*table, result, wanted, argument)
            : -UNW_ENOINFO;
  walk.has_no_table = error < 0;
  return error;
}

void keep_rule(unw_addr_space_t, unw_proc_info_t*, void*) {}

int no_generated_code(unw_addr_space_t, unw_word_t*, void*) { return -UNW_ENOINFO; }

/// Code and tables come from the files: without our breakpoints, and without a system call.
int read_memory(unw_addr_space_t, unw_word_t address, unw_word_t* value, int is_write,
                void* argument) {
  Walk& walk = walk_of(argument);
  if (is_write != 0) return -UNW_EINVAL;
  if (const auto* module = walk.map.known_at(TraceeAddress(address))) {
    const auto bytes = module->constant_bytes(TraceeAddress(address), sizeof *value);
    if (!bytes.empty()) {
      *value = 0;
      std::memcpy(value, bytes.data(), bytes.size());
      return 0;
    }
  }
  const auto word = walk.stack.word(address);
  if (!word) return -UNW_EINVAL;
  *value = *word;
  return 0;
}

int read_register(unw_addr_space_t, unw_regnum_t number, unw_word_t* value, int is_write,
                  void* argument) {
  if (is_write != 0) return -UNW_EREADONLYREG;
  const user_regs_struct& raw = walk_of(argument).registers;
  switch (number) {
    case UNW_X86_64_RAX: *value = raw.rax; return 0;
    case UNW_X86_64_RDX: *value = raw.rdx; return 0;
    case UNW_X86_64_RCX: *value = raw.rcx; return 0;
    case UNW_X86_64_RBX: *value = raw.rbx; return 0;
    case UNW_X86_64_RSI: *value = raw.rsi; return 0;
    case UNW_X86_64_RDI: *value = raw.rdi; return 0;
    case UNW_X86_64_RBP: *value = raw.rbp; return 0;
    case UNW_X86_64_RSP: *value = raw.rsp; return 0;
    case UNW_X86_64_R8: *value = raw.r8; return 0;
    case UNW_X86_64_R9: *value = raw.r9; return 0;
    case UNW_X86_64_R10: *value = raw.r10; return 0;
    case UNW_X86_64_R11: *value = raw.r11; return 0;
    case UNW_X86_64_R12: *value = raw.r12; return 0;
    case UNW_X86_64_R13: *value = raw.r13; return 0;
    case UNW_X86_64_R14: *value = raw.r14; return 0;
    case UNW_X86_64_R15: *value = raw.r15; return 0;
    case UNW_X86_64_RIP: *value = raw.rip; return 0;
    default: return -UNW_EBADREG;
  }
}

int no_float_register(unw_addr_space_t, unw_regnum_t, unw_fpreg_t*, int, void*) {
  return -UNW_EBADREG;
}
int no_resume(unw_addr_space_t, unw_cursor_t*, void*) { return -UNW_EINVAL; }
int no_name(unw_addr_space_t, unw_word_t, char*, size_t, unw_word_t*, void*) {
  return -UNW_ENOINFO;
}

struct DestroyAddressSpace {
  void operator()(unw_addr_space* handle) const { unw_destroy_addr_space(handle); }
};

/// The rules found are kept by libunwind, by address.
std::unique_ptr<unw_addr_space, DestroyAddressSpace> make_handle() {
  unw_accessors_t accessors{find_rule,     keep_rule,         no_generated_code, read_memory,
                            read_register, no_float_register, no_resume,         no_name};
  std::unique_ptr<unw_addr_space, DestroyAddressSpace> handle(unw_create_addr_space(&accessors, 0));
  if (handle) {
    unw_set_caching_policy(handle.get(), UNW_CACHE_GLOBAL);
    unw_set_cache_size(handle.get(), 1024, 0);
  }
  return handle;
}

} // namespace

struct Unwinder::Space {
  explicit Space(const CodeMap::OpenImage& open) : map(open) {}

  void forget() {
    map.forget();
    if (handle) unw_flush_cache(handle.get(), 0, 0);
  }

  CodeMap map;
  std::unique_ptr<unw_addr_space, DestroyAddressSpace> handle = make_handle();
};

Unwinder::Unwinder(CodeMap::OpenImage open) : open_(std::move(open)) {
  if (!open_)
    open_ = [](const UniqueFd& file, const std::string& name) {
      return elf::Image::open(file, name);
    };
}

Unwinder::~Unwinder() = default;

Unwinder::Space& Unwinder::space_of(const std::shared_ptr<AddressSpace>& space) {
  const auto known = spaces_.find(space);
  if (known != spaces_.end()) return *known->second;
  std::erase_if(spaces_, [](const auto& entry) { return entry.first.expired(); });
  return *spaces_.emplace(space, std::make_unique<Space>(open_)).first->second;
}

void Unwinder::forget(const AddressSpace& space) {
  for (auto& [known, content] : spaces_)
    if (known.lock().get() == &space) content->forget();
}

void Unwinder::forget() {
  for (auto& [known, content] : spaces_)
    content->forget();
}

CodeMap::Place Unwinder::place_of(const std::shared_ptr<AddressSpace>& space,
                                  TraceeAddress address) {
  return space_of(space).map.at(*space, address);
}

std::span<const UnwoundFrame> Unwinder::callers(const std::shared_ptr<AddressSpace>& space,
                                                const Registers& registers, std::size_t limit) {
  found_.clear();
  Space& known = space_of(space);
  if (!known.handle || limit == 0 || registers.machine() != Machine::X86_64) return found_;
  Walk walk{known.map, *space, registers.raw(), StackPages(space->memory())};
  unw_cursor_t cursor;
  if (unw_init_remote(&cursor, known.handle.get(), &walk) < 0) return found_;
  bool left_trampoline = false;
  while (found_.size() < limit) {
    const int step = unw_step(&cursor);
    // Where there was no table, libunwind has gone on by the frame pointer: a guess.
    if (step <= 0 || walk.has_no_table) break;
    unw_word_t address = 0;
    if (unw_get_reg(&cursor, UNW_REG_IP, &address) < 0 || address == 0) break;
    if (!known.map.at(*space, TraceeAddress(address)).is_code) break;
    const bool is_trampoline = unw_is_signal_frame(&cursor) > 0;

    found_.push_back({TraceeAddress(address), is_trampoline || left_trampoline});
    left_trampoline = is_trampoline;
  }
  return found_;
}

std::vector<TraceeAddress> Unwinder::frames(pid_t tid, std::size_t limit) {
  std::vector<TraceeAddress> all;
  user_regs_struct raw;
  if (limit == 0 || ::ptrace(PTRACE_GETREGS, tid, nullptr, &raw) < 0) return all;
  const Registers registers(raw);
  all.push_back(registers.pc());
  auto space = AddressSpace::open(tid);
  if (!space) return all;
  for (const auto& frame : callers(*space, registers, limit - 1))
    all.push_back(frame.address);
  return all;
}

} // namespace sonictrace
