#include "sonictrace/probe/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sonictrace/elf/nameless.hpp"
#include "sonictrace/names/demangle.hpp"

namespace sonictrace {
namespace {

/// Functions that are no calls to look at: compiler support whose calling convention is its own.
/// `__morestack` switches stacks between call and return; mcount and __fentry__ are called before
/// the frame is made, and change no register.
bool is_never_watched(std::string_view name) {
  constexpr std::array<std::string_view, 4> kNever = {"__morestack", "mcount", "_mcount",
                                                      "__fentry__"};
  return std::find(kNever.begin(), kNever.end(), name) != kNever.end();
}

/// What starts and ends a program around `main`. As a caller of everything else it would only push
/// all of it one level down; who wants to see it names it.
bool is_start_up(std::string_view name, bool as_ltrace) {
  if (name == "__libc_start_main") return true;
  // The start-up files call it through a GOT slot, where ltrace doesn't look.
  return as_ltrace && name == "__cxa_finalize";
}

std::vector<bool> called_imports(const elf::CallTable& calls) {
  std::vector<bool> called(calls.imports.size());
  for (const auto& site : calls.sites)
    called[site.import] = true;
  for (const auto import : calls.hoisted)
    called[import] = true;
  return called;
}

std::optional<ElfAddress> address_of(const elf::Symbol* function) {
  const bool is_known = function != nullptr && function->type != elf::SymbolType::Ifunc;
  return is_known ? std::optional(function->value) : std::nullopt;
}

std::string short_name(std::string_view mangled) {
  const bool is_mangled = mangled.starts_with("_Z") || mangled.starts_with("_R");
  return is_mangled ? demangle(mangled, DemangleStyle::Short) : std::string(mangled);
}

/// `libfoo.so+0x1234`, with the address as the file states it: what a backtrace shows.
std::string place_name(const ProbeModule& module, ElfAddress address) {
  return fmt::format("{}+{:#x}", module.soname, address.value());
}

} // namespace

/// Who implements an import of `caller`, if calls of it are wanted; else nothing.
std::optional<FoundSymbol> ProbePlanner::wanted(const ModuleList& modules,
                                                const ProbeModule& caller,
                                                const elf::ImportSlot& import) {
  if (import.name.empty() || is_never_watched(import.name)) return std::nullopt;
  const bool as_ltrace = main_only_by_default_;
  const bool by_default = selectors_.uses_default();
  if ((by_default || as_ltrace) && is_start_up(import.name, as_ltrace)) return std::nullopt;
  const auto display = short_name(import.name);
  const FunctionName function{import.name, display};
  // The search costs more than all else: only for those that it may make a difference to.
  if (!by_default && !selectors_.may_select_call(caller.name(), function)) return std::nullopt;

  FoundSymbol found;
  if (import.binding == elf::SlotBinding::Irelative)
    found.module = &caller;
  else
    found = modules.resolve(caller, import.name, import.version);
  // LTRACE: -l knows no IFUNC functions. Those that the program itself calls are missed too much.
  if (as_ltrace && selectors_.has_only_libraries() && !caller.is_main && found.symbol != nullptr &&
      found.symbol->type == elf::SymbolType::Ifunc)
    return std::nullopt;
  if (by_default) return found;
  const auto callee = found.module != nullptr ? found.module->name() : ModuleName{};
  if (!selectors_.selects_call(caller.name(), function,
                               found.module != nullptr ? &callee : nullptr))
    return std::nullopt;
  return found;
}

void ProbePlanner::plan_calls(const ModuleList& modules, const ProbeModule& module, Plan& plan,
                              ModulePlan& report) {
  if (selectors_.uses_default()) {
    if (main_only_by_default_ ? !module.is_main : !module.is_default) {
      report.skipped = "not in the default set: neither the program nor loaded by it with dlopen";
      return;
    }
  } else if (!selectors_.may_select_calls_of(module.name())) {
    report.skipped = "no selector matches its calls";
    return;
  }
  const auto& calls = module.parsed->calls(); // the work is in this: last
  if (!calls) {
    report.skipped = calls.error().message();
    return;
  }
  const auto called = called_imports(*calls);
  // LTRACE: it can't name the calls that go through such a PLT, libc's own. We do not show them.
  const bool is_nameless =
      main_only_by_default_ && !module.is_main &&
      std::any_of(calls->imports.begin(), calls->imports.end(), [](const elf::ImportSlot& import) {
        return import.binding == elf::SlotBinding::Irelative;
      });
  if (is_nameless) {
    report.skipped = "ltrace does not show its calls";
    return;
  }

  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<std::uint32_t> function_of(calls->imports.size(), kNone);
  std::vector<FoundSymbol> found_of(calls->imports.size());
  for (std::size_t i = 0; i < calls->imports.size(); ++i) {
    if (!called[i]) continue;
    const auto& import = calls->imports[i];
    const auto implementation = wanted(modules, module, import);
    if (!implementation && selectors_.uses_default())
      report.left_out += (report.left_out.empty() ? "" : ", ") + std::string(import.name);
    if (!implementation) continue;
    const FoundSymbol& found = found_of[i] = *implementation;
    ++report.calls;
    function_of[i] = static_cast<std::uint32_t>(plan.functions.size());
    plan.functions.push_back(
        {std::string(import.name), module.id,
         found.module != nullptr ? std::optional(found.module->id) : std::nullopt, false,
         address_of(found.symbol)});
  }
  for (const auto& site : calls->sites) {
    if (function_of[site.import] == kNone) continue;
    ++report.sites;
    plan.probes.push_back({site.kind == elf::SiteKind::Jump ? ProbeKind::Jump : ProbeKind::Call,
                           module.bias.to_tracee(site.at), site.size,
                           module.bias.to_tracee(calls->imports[site.import].slot),
                           function_of[site.import], std::nullopt, false});
  }
  for (const auto import : calls->hoisted) {
    const auto& found = found_of[import];
    if (function_of[import] == kNone || found.symbol == nullptr) continue;
    const bool ifunc = found.symbol->type == elf::SymbolType::Ifunc;
    // Data is loaded through the GOT as well; an import often has no type of its own.
    if (!ifunc && found.symbol->type != elf::SymbolType::Function) continue;
    ++report.hoisted;
    plan.probes.push_back({ProbeKind::Entry, found.address(), 0,
                           module.bias.to_tracee(calls->imports[import].slot), function_of[import],
                           module.id, ifunc});
  }
}

void ProbePlanner::plan_entries(const ProbeModule& module, Plan& plan, ModulePlan& report) {
  if (!selectors_.has_entry_rules() || !selectors_.may_select_entries_of(module.name())) return;
  const bool by_place = selectors_.names_places();
  const auto is_place_selected = [&](const std::string& place) {
    return selectors_.selects_entry(module.name(), {place, place, true});
  };
  std::optional<ElfAddress> previous; // two names of one address are one function
  for (const auto& symbol : module.parsed->image().functions()) {
    if (is_never_watched(symbol.name)) continue;
    if (previous == symbol.value) {
      // LTRACE: it has the name that it finds last.
      if (main_only_by_default_ &&
          selectors_.selects_entry(module.name(), {symbol.name, symbol.name}))
        plan.functions.back().mangled = symbol.name;
      continue;
    }
    // The unlikely part of a function, which is jumped to in the middle of its frame: no return
    // address is on top of the stack there.
    if (symbol.name.ends_with(".cold")) continue;
    const auto display = short_name(symbol.name);
    if (!selectors_.selects_entry(module.name(), {symbol.name, display}) &&
        !(by_place && is_place_selected(place_name(module, symbol.value))))
      continue;
    previous = symbol.value;
    ++report.entries;
    const auto function = static_cast<std::uint32_t>(plan.functions.size());
    plan.functions.push_back({std::string(symbol.name), std::nullopt, module.id, true, address_of(&symbol)});
    plan.probes.push_back({ProbeKind::Entry, module.bias.to_tracee(symbol.value), 0,
                           TraceeAddress(), function, std::nullopt,
                           symbol.type == elf::SymbolType::Ifunc});
  }
  if (!by_place) return;
  for (const ElfAddress address : elf::nameless_functions(module.parsed->image())) {
    std::string place = place_name(module, address);
    if (!is_place_selected(place)) continue;
    ++report.entries;
    const auto function = static_cast<std::uint32_t>(plan.functions.size());
    plan.functions.push_back({std::move(place), std::nullopt, module.id, true});
    plan.probes.push_back({ProbeKind::Entry, module.bias.to_tracee(address), 0, TraceeAddress(),
                           function, std::nullopt, false});
  }
}

std::size_t count_called_imports(const elf::CallTable& calls) {
  const auto called = called_imports(calls);
  return static_cast<std::size_t>(std::count(called.begin(), called.end(), true));
}

Plan ProbePlanner::plan(const ModuleList& modules, const std::vector<std::uint32_t>& fresh) {
  Plan plan;
  for (const auto id : fresh) {
    const ProbeModule* module = modules.find(id);
    if (module == nullptr) continue;
    selectors_.see_module(module->name());
    ModulePlan report;
    report.module = id;
    plan_calls(modules, *module, plan, report);
    plan_entries(*module, plan, report);
    plan.modules.push_back(std::move(report));
  }
  return plan;
}

} // namespace sonictrace
