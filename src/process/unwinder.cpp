#include "sonictrace/process/unwinder.hpp"

#include <libunwind-x86_64.h>
#include <sys/ptrace.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

// Searches a table as .eh_frame_hdr has it, through the accessors; exported by libunwind for users
// with tables of their own (perf is one), but in no header.
extern "C" int _Ux86_64_dwarf_search_unwind_table(unw_addr_space_t, unw_word_t, unw_dyn_info_t*,
                                                  unw_proc_info_t*, int, void*);

namespace sonictrace {
namespace {

/// The stack of a stopped thread, read page by page. Nothing else reads it meanwhile, and it is
/// forgotten with the walk.
class StackPages final : public StackReader {
public:
  StackPages(const TraceeMemory& memory, const OwnCode* own) : memory_(memory), own_(own) {}

  std::optional<std::uint64_t> word(std::uint64_t address) override {
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
    if (own_ != nullptr && own_->thunks.contains(TraceeAddress(value)))
      return own_->original(value);
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
  const OwnCode* own_;
  std::array<Page, 4> pages_;
};

/// What the accessors work on.
struct Walk {
  CodeMap& map;
  const AddressSpace& space;
  const user_regs_struct& registers;
  StackReader& stack;
  const OwnCode* own;        ///< null: there is none
  bool has_no_table = false; ///< of the frame to be left
};

Walk& walk_of(void* argument) { return *static_cast<Walk*>(argument); }

constexpr std::size_t kTableHeader = 12; ///< bytes

/// .eh_frame_hdr (Linux Standard Base, "Exception Frames"), as libunwind wants it told.
std::optional<unw_dyn_info_t> unwind_table(AddressRange code, TraceeAddress at,
                                           std::span<const std::byte> header) {
  constexpr std::byte kVersion{1}, kUnsigned4{0x03}, kSigned4FromTable{0x3b}; // DW_EH_PE_*
  if (header.size() < kTableHeader || header[0] != kVersion || header[2] != kUnsigned4 ||
      header[3] != kSigned4FromTable)
    return std::nullopt;
  std::uint32_t entries = 0;
  std::memcpy(&entries, header.data() + 8, sizeof entries);
  unw_dyn_info_t table{};
  table.start_ip = code.begin().value();
  table.end_ip = code.end().value();
  table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
  table.u.rti.segbase = at.value();
  table.u.rti.table_data = table.u.rti.segbase + kTableHeader;
  table.u.rti.table_len = entries; // pairs of 4 bytes, counted in words of 8
  return table;
}

std::optional<unw_dyn_info_t> unwind_table(const CodeModule& module) {
  const auto at = module.image->unwind_table();
  if (!at) return std::nullopt;
  return unwind_table(module.range, module.bias.to_tracee(*at),
                      module.image->bytes_at(*at, kTableHeader));
}

std::optional<unw_dyn_info_t> unwind_table(const OwnCode& own) {
  if (own.unwind_table > own.bytes.size()) return std::nullopt;
  return unwind_table(own.text, own.text.begin() + static_cast<std::int64_t>(own.unwind_table),
                      own.bytes.subspan(own.unwind_table));
}

bool is_own(const OwnCode* own, TraceeAddress address) {
  return own != nullptr && own->text.contains(address);
}

/// What is there of a word in memory that never changes, by its file.
std::span<const std::byte> constant_word(const Walk& walk, TraceeAddress address) {
  if (is_own(walk.own, address)) {
    const auto offset = static_cast<std::uint64_t>(address - walk.own->text.begin());
    if (offset >= walk.own->bytes.size()) return {};
    return walk.own->bytes.subspan(
        offset, std::min<std::size_t>(sizeof(unw_word_t), walk.own->bytes.size() - offset));
  }
  const auto* module = walk.map.known_at(address);
  return module != nullptr ? module->constant_bytes(address, sizeof(unw_word_t))
                           : std::span<const std::byte>();
}

int find_rule(unw_addr_space_t handle, unw_word_t pc, unw_proc_info_t* result, int wanted,
              void* argument) {
  Walk& walk = walk_of(argument);
  std::optional<unw_dyn_info_t> table;
  if (is_own(walk.own, TraceeAddress(pc)))
    table = unwind_table(*walk.own);
  else if (const auto* module = walk.map.at(walk.space, TraceeAddress(pc)).module)
    table = unwind_table(*module);
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
  if (const auto bytes = constant_word(walk, TraceeAddress(address)); !bytes.empty()) {
    *value = 0;
    std::memcpy(value, bytes.data(), bytes.size());
    return 0;
  }
  if (const auto word = walk.stack.word(address)) {
    *value = *word;
    return 0;
  }
  if (walk.map.known_at(TraceeAddress(address)) == nullptr) return -UNW_EINVAL;
  // A module's data: where its personality routine is, which rules refer to by way of a pointer.
  // Nobody calls it here, and so it may be missing, as of a process that is gone.
  const auto word = walk.space.memory().read_word(TraceeAddress(address));
  *value = word ? *word : 0;
  return 0;
}

int read_register(unw_addr_space_t, unw_regnum_t number, unw_word_t* value, int is_write,
                  void* argument) {
  if (is_write != 0) return -UNW_EREADONLYREG;
  walk_of(argument).stack.looks_at_register(static_cast<unsigned>(number));
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
    forget_rules();
  }
  void forget_rules() {
    if (handle) unw_flush_cache(handle.get(), 0, 0);
  }

  CodeMap map;
  std::optional<OwnCode> own;
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

void Unwinder::forget(const AddressSpace& space, AddressRange range) {
  for (auto& [known, content] : spaces_) {
    if (known.lock().get() != &space) continue;
    content->map.forget(range);
    content->forget_rules();
  }
}

void Unwinder::set_own_code(const std::shared_ptr<AddressSpace>& space, OwnCode code) {
  space_of(space).own = std::move(code);
}

void Unwinder::learn(const std::shared_ptr<AddressSpace>& space, std::vector<MappedCode> all) {
  Space& known = space_of(space);
  if (known.map.learn(std::move(all))) known.forget_rules();
}

void Unwinder::forget() {
  for (auto& [known, content] : spaces_)
    content->forget();
}

std::uint64_t Unwinder::questions(const std::shared_ptr<AddressSpace>& space) {
  return space_of(space).map.questions();
}

CodeMap::Place Unwinder::place_of(const std::shared_ptr<AddressSpace>& space,
                                  TraceeAddress address) {
  return space_of(space).map.at(*space, address);
}

std::span<const UnwoundFrame> Unwinder::callers(const std::shared_ptr<AddressSpace>& space,
                                                const Registers& registers, std::size_t limit) {
  const Space& known = space_of(space);
  StackPages stack(space->memory(), known.own ? &*known.own : nullptr);
  return callers(space, registers, limit, stack);
}

std::span<const UnwoundFrame> Unwinder::callers(const std::shared_ptr<AddressSpace>& space,
                                                const Registers& registers, std::size_t limit,
                                                StackReader& stack) {
  found_.clear();
  Space& known = space_of(space);
  if (!known.handle || limit == 0 || registers.machine() != Machine::X86_64) return found_;
  const OwnCode* const own = known.own ? &*known.own : nullptr;
  Walk walk{known.map, *space, registers.raw(), stack, own};
  unw_cursor_t cursor;
  if (unw_init_remote(&cursor, known.handle.get(), &walk) < 0) return found_;
  bool left_trampoline = false;
  constexpr std::size_t kMostOwn = 64; // frames; the stack of a hostile process may have any number
  for (std::size_t steps = 0; found_.size() < limit && steps < limit + kMostOwn; ++steps) {
    const int step = unw_step(&cursor);
    // Where there was no table, libunwind has gone on by the frame pointer: a guess.
    if (step <= 0 || walk.has_no_table) break;
    unw_word_t value = 0;
    if (unw_get_reg(&cursor, UNW_REG_IP, &value) < 0 || value == 0) break;
    const TraceeAddress address(value);
    const bool interrupted = std::exchange(left_trampoline, false);
    if (own != nullptr && (own->text.contains(address) ||
                           std::binary_search(own->gadgets.begin(), own->gadgets.end(), address)))
      continue;
    if (!known.map.at(*space, address).is_code) break;
    left_trampoline = unw_is_signal_frame(&cursor) > 0;
    found_.push_back({address, left_trampoline || interrupted});
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
