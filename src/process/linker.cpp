#include "sonictrace/process/linker.hpp"

#include <elf.h>
#include <link.h>

#include <array>
#include <cstddef>
#include <set>
#include <span>

namespace sonictrace {
namespace {

// <link.h>, as the 64-bit linkers lay them out. glibc 2.35 and newer have r_version 2 and a pointer
// to the next namespace's state behind the rest (struct r_debug_extended).
struct DebugState {
  std::int32_t version;
  std::int32_t padding;
  std::uint64_t map;
  std::uint64_t breakpoint;
  std::int32_t state;
  std::int32_t padding2;
  std::uint64_t linker_base;
};
static_assert(sizeof(DebugState) == sizeof(r_debug) && offsetof(r_debug, r_state) == 24);

struct LinkMap {
  std::uint64_t bias;
  std::uint64_t name;
  std::uint64_t dynamic;
  std::uint64_t next;
  std::uint64_t previous;
};
static_assert(offsetof(link_map, l_next) == 24);

constexpr std::size_t kMostModules = 65536; ///< a broken or hostile list must end
constexpr std::size_t kMostNamespaces = 64; ///< glibc has 16
constexpr std::size_t kLongestPath = 4096;

template <class T>
Result<T> read_object(const TraceeMemory& memory, TraceeAddress from) {
  T object;
  if (auto done = memory.read(from, std::as_writable_bytes(std::span(&object, 1))); !done)
    return std::move(done).error();
  return object;
}

std::optional<TraceeAddress> exported(const elf::Image& image, LoadBias bias, const char* name) {
  const elf::Symbol* symbol = image.find_export(name, {});
  if (symbol == nullptr) return std::nullopt;
  return bias.to_tracee(symbol->value);
}

} // namespace

DynamicLinker DynamicLinker::find(const AuxiliaryVector& auxiliary, const elf::Image& program,
                                  const elf::Image* linker) {
  DynamicLinker found;
  const LoadBias program_bias(auxiliary.entry, program.entry());
  if (const auto dynamic = program.dynamic())
    found.program_dynamic_ = program_bias.to_tracee(*dynamic);
  const bool program_is_linker = linker == nullptr;
  const elf::Image& image = program_is_linker ? program : *linker;
  const LoadBias bias =
      program_is_linker ? program_bias : LoadBias(auxiliary.linker_base, ElfAddress(0));
  found.state_symbol_ = exported(image, bias, "_r_debug");
  found.rendezvous_ = exported(image, bias, "_dl_debug_state");
  return found;
}

std::optional<TraceeAddress> DynamicLinker::find_state(const TraceeMemory& memory) const {
  if (state_symbol_) return state_symbol_;
  if (!program_dynamic_) return std::nullopt;
  // The linker writes the address of its state into the program's DT_DEBUG entry (System V ABI).
  for (TraceeAddress at = *program_dynamic_;; at = at + 16) {
    const auto entry = read_object<std::array<std::uint64_t, 2>>(memory, at);
    if (!entry || (*entry)[0] == DT_NULL) return std::nullopt;
    if ((*entry)[0] != DT_DEBUG) continue;
    if ((*entry)[1] == 0) return std::nullopt;
    return TraceeAddress((*entry)[1]);
  }
}

Result<std::optional<std::vector<LinkedModule>>>
DynamicLinker::modules(const TraceeMemory& memory) {
  std::optional<std::vector<LinkedModule>> none;
  auto state_at = find_state(memory);
  if (!state_at) return none;
  found_state_ = state_at;

  std::vector<LinkedModule> modules;
  std::set<std::uint64_t> seen;
  for (unsigned name_space = 0; state_at && name_space < kMostNamespaces; ++name_space) {
    const auto state = read_object<DebugState>(memory, *state_at);
    if (!state) return state.error();
    if (state->state != r_debug::RT_CONSISTENT) return none;
    if (!rendezvous_ && state->breakpoint != 0) rendezvous_ = TraceeAddress(state->breakpoint);
    if (state->map == 0 && name_space == 0) return none;
    for (std::uint64_t at = state->map; at != 0 && modules.size() < kMostModules;) {
      if (!seen.insert(at).second) break;
      const auto map = read_object<LinkMap>(memory, TraceeAddress(at));
      if (!map) return map.error();
      auto name = memory.read_string(TraceeAddress(map->name), kLongestPath);
      modules.push_back({TraceeAddress(at), LoadBias::of(map->bias), TraceeAddress(map->dynamic),
                         name ? *std::move(name) : std::string(),
                         name_space == 0 && at == state->map, name_space});
      at = map->next;
    }
    if (state->version < 2) break;
    const auto next = memory.read_word(*state_at + static_cast<std::int64_t>(sizeof(DebugState)));
    if (!next || *next == 0) break;
    state_at = TraceeAddress(*next);
  }
  return std::optional(std::move(modules));
}

} // namespace sonictrace
