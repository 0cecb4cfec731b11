#include "engine/inline/functions_apart.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "engine/inline/thunk_template.hpp"

namespace sonictrace {
namespace {

struct NamedFlags {
  std::string_view name;
  std::uint32_t flags;
};

constexpr auto kByName = std::to_array<NamedFlags>({
    // Return twice, so that their return address must stay the real one (or, of vfork, is taken by
    // the child off the stack that both share).
    {"setjmp", wire::kSiteNoReturn},
    {"_setjmp", wire::kSiteNoReturn},
    {"sigsetjmp", wire::kSiteNoReturn},
    {"__sigsetjmp", wire::kSiteNoReturn},
    {"getcontext", wire::kSiteNoReturn},
    {"savectx", wire::kSiteNoReturn},
    {"vfork", wire::kSiteNoReturn},
    {"__vfork", wire::kSiteNoReturn},
    // Look up the module that calls them by their return address.
    {"dlopen", wire::kSiteLooksAtCaller},
    {"dlmopen", wire::kSiteLooksAtCaller},
    {"dlsym", wire::kSiteLooksAtCaller},
    {"dlvsym", wire::kSiteLooksAtCaller},
    // Leave the calls above a frame.
    {"longjmp", wire::kSiteJumps},
    {"_longjmp", wire::kSiteJumps},
    {"siglongjmp", wire::kSiteJumps},
    {"__longjmp_chk", wire::kSiteJumps},
    {"__cxa_begin_catch", wire::kSiteCatches},
    // May set a seccomp filter.
    {"prctl", wire::kSiteForbids},
    {"syscall", wire::kSiteForbids},
});

constexpr auto kNeverPatched = std::to_array<std::string_view>({
    // Keep more registers than others do: the compiler relies on it.
    "__tls_get_addr",
    "___tls_get_addr",
    "mcount",
    "_mcount",
    "__fentry__",
    // Looks at the bytes behind its call.
    "__morestack",
});

std::optional<AgentRoutine> routine_by_name(std::string_view name) {
  if (name == "_dl_find_object") return AgentRoutine::FindObject;
  if (name == "dl_iterate_phdr") return AgentRoutine::IteratePhdr;
  if (name == "backtrace") return AgentRoutine::Backtrace;
  return std::nullopt;
}

/// Whether the module is the libunwind of nongnu.org, or has it in itself.
bool is_nongnu_unwinder(const elf::Image& image) {
  return image.find_export("_Ux86_64_step", {}) != nullptr ||
         image.find_export("_ULx86_64_step", {}) != nullptr ||
         image.soname().starts_with("libunwind.so.8");
}

std::uint32_t hidden_flags(std::string_view name, bool linker_is_musl) {
  constexpr std::uint32_t kLeaves = wire::kSiteCatches | wire::kSiteJumps | wire::kSiteForbids;
  const std::uint32_t flags = flags_by_name(name, linker_is_musl);
  return (flags & kLeaves) != 0 ? flags | wire::kSiteSilent : 0;
}

} // namespace

std::uint32_t flags_by_name(std::string_view function, bool linker_is_musl) {
  for (const auto& [name, flags] : kByName) {
    if (name != function) continue;
    return linker_is_musl && (flags & wire::kSiteJumps) != 0 ? flags | wire::kSiteMuslJumps : flags;
  }
  return 0;
}

bool is_never_patched(std::string_view function) {
  return std::find(kNeverPatched.begin(), kNeverPatched.end(), function) != kNeverPatched.end() ||
         function.starts_with("_dl_runtime_resolve");
}

bool is_never_patched(const elf::ImportSlot& import, bool program_is_static) {
  return is_never_patched(import.name) ||
         (program_is_static && import.binding == elf::SlotBinding::Irelative);
}

bool is_asked_by_unwinders(std::string_view function) {
  return routine_by_name(function).has_value();
}

std::vector<CallSitePatch> hidden_hooks(const ProbeModule& module, bool linker_is_musl) {
  // Most modules call none of these (the C library has many of them, and calls none through a
  // slot): their code need not be searched.
  const auto imports = elf::find_imports(module.parsed->image());
  const auto is_hooked = [&](const elf::ImportSlot& import) {
    return routine_by_name(import.name).has_value() ||
           hidden_flags(import.name, linker_is_musl) != 0;
  };
  if (std::none_of(imports.begin(), imports.end(), is_hooked)) return {};
  const auto& calls = module.parsed->calls();
  if (!calls) return {};

  // By import: there are a hundred times as many sites.
  std::vector<std::optional<CallSitePatch>> hook_of(calls->imports.size());
  const bool is_nongnu = is_nongnu_unwinder(module.parsed->image());
  for (std::size_t i = 0; i < calls->imports.size(); ++i) {
    const elf::ImportSlot& import = calls->imports[i];
    const auto routine = routine_by_name(import.name);
    const std::uint32_t flags = hidden_flags(import.name, linker_is_musl);
    if (!routine && flags == 0) continue;
    CallSitePatch& hook = hook_of[i].emplace();
    hook.slot = module.bias.to_tracee(import.slot);
    hook.routine = routine.value_or(AgentRoutine::Enter);
    hook.site.flags = routine ? std::uint32_t{wire::kSiteSilent} : flags;
    if (routine == AgentRoutine::IteratePhdr && is_nongnu)
      hook.site.unwind_table = kThunkUnwindForNongnuAt;
  }
  std::vector<CallSitePatch> hooks;
  for (const elf::CallSite& call : calls->sites) {
    if (!hook_of[call.import]) continue;
    CallSitePatch& hook = hooks.emplace_back(*hook_of[call.import]);
    hook.at = module.bias.to_tracee(call.at);
    hook.size = call.size;
  }
  return hooks;
}

void add_hooks(std::vector<CallSitePatch>& sites, const std::vector<CallSitePatch>& hooks) {
  if (hooks.empty()) return;
  std::unordered_map<std::uint64_t, std::size_t> known;
  known.reserve(sites.size());
  for (std::size_t i = 0; i < sites.size(); ++i)
    known.emplace(sites[i].at.value(), i);
  for (const CallSitePatch& hook : hooks) {
    const auto found = known.find(hook.at.value());
    if (found == known.end()) {
      sites.push_back(hook);
      continue;
    }
    CallSitePatch& site = sites[found->second];
    if (hook.routine != AgentRoutine::Enter) {
      site.routine = hook.routine;
      site.site.unwind_table = hook.site.unwind_table;
    } else
      site.site.flags |= hook.site.flags & ~wire::kSiteSilent;
  }
}

} // namespace sonictrace
