#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sonictrace/probe/module_list.hpp"
#include "sonictrace/probe/selector.hpp"

namespace sonictrace {

enum class ProbeKind : std::uint8_t {
  Jump,  ///< at `jmp *slot`: a PLT entry or a tail call
  Call,  ///< at `call *slot`: code without a PLT
  Entry, ///< at the function's first instruction
};

/// A function to be watched, as one caller calls it or as it is entered.
struct PlannedFunction {
  std::string mangled;
  std::optional<std::uint32_t> caller;         ///< module id; nothing for -x
  std::optional<std::uint32_t> implemented_by; ///< module id; nothing while not known
  bool entry = false;                          ///< chosen by -x
  /// Its first instruction, in the module that implements it; nothing of an IFUNC, whose address is
  /// that of what chooses the function.
  std::optional<ElfAddress> address = {};
};

/// What to watch, and where.
struct PlannedProbe {
  ProbeKind kind = ProbeKind::Jump;
  TraceeAddress at;
  std::uint8_t size = 0;      ///< bytes of the instruction; 0 for Entry
  TraceeAddress slot;         ///< the GOT slot of a Jump or Call
  std::uint32_t function = 0; ///< index into Plan::functions
  /// Only calls that return into this module (of an Entry that stands for hoisted calls).
  std::optional<std::uint32_t> only_from;
  /// The function is an IFUNC: `at` is its resolver's. The probe belongs where `slot` points once
  /// it is bound.
  bool through_slot = false;
};

/// What was decided for one module; for --explain.
struct ModulePlan {
  std::uint32_t module = 0;
  std::size_t calls = 0;    ///< functions that it calls, chosen
  std::size_t sites = 0;    ///< instructions with a probe
  std::size_t hoisted = 0;  ///< chosen functions watched at the callee's entry
  std::size_t entries = 0;  ///< chosen by -x
  std::string left_out;     ///< start-up functions, which are traced by name only
  std::string skipped;      ///< why nothing is looked at; empty: it was
};

struct Plan {
  std::vector<PlannedFunction> functions;
  std::vector<PlannedProbe> probes;
  std::vector<ModulePlan> modules;
};

/// The functions that a module's code calls through its GOT.
std::size_t count_called_imports(const elf::CallTable& calls);

/// Chooses the probes of `fresh` modules (ids in `modules`), by the user's selectors.
class ProbePlanner {
public:
  explicit ProbePlanner(SelectorSet& selectors, bool main_only_by_default)
      : selectors_(selectors), main_only_by_default_(main_only_by_default) {}

  Plan plan(const ModuleList& modules, const std::vector<std::uint32_t>& fresh);

private:
  void plan_calls(const ModuleList& modules, const ProbeModule& module, Plan& plan,
                  ModulePlan& report);
  void plan_entries(const ProbeModule& module, Plan& plan, ModulePlan& report);
  std::optional<FoundSymbol> wanted(const ModuleList& modules, const ProbeModule& caller,
                                    const elf::ImportSlot& import);

  SelectorSet& selectors_;
  bool main_only_by_default_;
};

} // namespace sonictrace
