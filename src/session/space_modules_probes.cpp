// What is put in for the modules of an address space.

#include <algorithm>

#include "session/space_modules.hpp"
#include "sonictrace/base/clock.hpp"

namespace sonictrace {
namespace {

/// Probes that take some milliseconds on a slow machine.
constexpr std::size_t kFew = 500;

} // namespace

void SpaceModules::probe(const std::vector<std::uint32_t>& fresh, std::optional<Planned> planned,
                         LentTracee& lent, Quiet quiet) {
  Window& window = context_.window;
  if (!window.has_begun) {
    unprobed_.insert(unprobed_.end(), fresh.begin(), fresh.end());
    const auto marks = marks_on_calls(*window.start_on, Mark::Begin, fresh);
    if (!marks.empty())
      (void)context_.engine.install(space_, {{}, marks, {}}, lent.tracee, lent.killed);
    return;
  }
  const Probing all = probing_of(fresh, std::move(planned));
  put_in(all, lent, quiet);
}

SpaceModules::Probing SpaceModules::probing_of(const std::vector<std::uint32_t>& fresh,
                                               std::optional<Planned> planned) {
  if (!planned) planned = plan_for(fresh);
  Probing all;
  all.sites = std::move(planned->sites);
  if (!planned->later.empty()) {
    later_ = std::move(planned->later);
    at_once_ = kFew;
  }
  all.fresh = found(fresh);
  pending_.insert(pending_.end(), planned->pending.begin(), planned->pending.end());
  add_bound_sites(all.sites);
  for (const auto* module : all.fresh) {
    const auto more = marks_in(*module);
    waiting_marks_.insert(waiting_marks_.end(), more.begin(), more.end());
  }
  // They serve the calls that are recorded: while there can be none, they would only cost stops.
  has_probes_ = has_probes_ || !all.sites.empty() || !later_.empty();
  if (has_probes_) all.marks.swap(waiting_marks_);
  // Behind the probes, which may have changed what stands there.
  if (context_.window.stop_on)
    all.ends = marks_on_calls(*context_.window.stop_on, Mark::End, fresh);
  const auto& modules = planned->plan.modules;
  context_.reports.insert(context_.reports.end(), modules.begin(), modules.end());
  spent_ = std::move(planned);
  return all;
}

void SpaceModules::put_in(const Probing& all, LentTracee& lent, Quiet quiet) {
  if (!all.sites.empty() || !all.marks.empty() || !all.fresh.empty()) {
    const auto refused = context_.engine.install(
        space_, {all.sites, all.marks, all.fresh, quiet != Quiet::No, quiet == Quiet::Fresh},
        lent.tracee, lent.killed);
    tell_put_in(all.sites.size(), all.marks.size(), refused.size());
    for (const auto& line : refused)
      context_.complaints.push_back("not traced: " + line);
  }
  if (!all.ends.empty())
    (void)context_.engine.install(space_, {{}, all.ends, {}}, lent.tracee, lent.killed);
}

void SpaceModules::put_in_unseen(Probing& all) {
  std::vector<SiteProbe> unseen, rest;
  for (const auto& site : all.sites) {
    // Of other modules the code may be running; a function's begin may have to be a breakpoint.
    const bool is_fresh =
        site.kind != ProbeKind::Entry &&
        std::find(all.fresh.begin(), all.fresh.end(), site.module) != all.fresh.end();
    (is_fresh ? unseen : rest).push_back(site);
  }
  if (!context_.engine.install_unseen(space_, {unseen, {}, all.fresh, true, true})) return;
  tell_put_in(unseen.size(), 0, 0);
  all.sites = std::move(rest);
  all.fresh.clear();
}

void SpaceModules::put_off(Planned& planned) const {
  if (context_.window.stop_on) return; // its marks come behind all probes
  auto& sites = planned.sites;
  // All at once where that is short: the process makes no call between the first one and the last.
  if (sites.size() <= kFew) return;
  const auto first = std::stable_partition(sites.begin(), sites.end(), [&](const SiteProbe& probe) {
    return !context_.engine.may_wait(probe);
  });
  planned.later.assign(first, sites.end());
  sites.erase(first, sites.end());
  std::stable_sort(planned.later.begin(), planned.later.end(),
                   [](const SiteProbe& a, const SiteProbe& b) { return b.at < a.at; });
}

void SpaceModules::put_in_more(LentTracee& lent, Quiet quiet) {
  constexpr std::uint64_t kLong = 4'000'000; // ns
  constexpr std::size_t kFewest = 100;
  const auto count = std::min(at_once_, later_.size());
  Probing some;
  some.sites.assign(later_.rbegin(), later_.rbegin() + static_cast<std::ptrdiff_t>(count));
  later_.resize(later_.size() - count);
  const std::uint64_t begin = monotonic_ns();
  put_in(some, lent, quiet);
  const std::uint64_t took = std::max<std::uint64_t>(monotonic_ns() - begin, 1);
  at_once_ = std::clamp(static_cast<std::size_t>(at_once_ * kLong / took), kFewest, at_once_ * 2);
}

void SpaceModules::tell_put_in(std::size_t sites, std::size_t marks, std::size_t refused) {
  context_.probes += sites - std::min(sites, refused);
  context_.debug.say(DebugLog::Probes, "process {}: {} probes and {} marks put in, {} refused",
                     space_->pid(), sites, marks, refused);
}

void SpaceModules::begin_recording(LentTracee& lent, Quiet quiet) {
  context_.engine.remove_marks(*space_, Mark::Begin);
  probe(std::exchange(unprobed_, {}), std::nullopt, lent, quiet);
}

/// Where calls are made that the selectors choose. Those that a compiler has hoisted out of loops
/// have no place of their own.
std::vector<MarkSite> SpaceModules::marks_on_calls(SelectorSet& selectors, Mark mark,
                                                   const std::vector<std::uint32_t>& fresh) const {
  const Plan plan = ProbePlanner(selectors, false).plan(modules_, fresh);
  std::vector<MarkSite> marks;
  for (const auto& probe : plan.probes)
    if (probe.kind != ProbeKind::Entry)
      marks.push_back({probe.at, mark, std::nullopt,
                       probe.kind == ProbeKind::Call ? probe.size : std::uint8_t{0}});
  return marks;
}

/// What the module's debug information says of one of its functions.
const proto::Prototype* SpaceModules::prototype_in(const ProbeModule& module,
                                                   const std::string& mangled,
                                                   ElfAddress address) const {
  const ModuleFile file{module.parsed->shared_image(), module.path, [&]() -> Result<UniqueFd> {
                          const auto mapping = space_->mapping_at(module.bias.to_tracee(address));
                          if (!mapping)
                            return Error(std::errc::no_such_file_or_directory, module.path);
                          return open_mapped_file(space_->pid(), *mapping);
                        }};
  return context_.debug_info.find(file, mangled, address);
}

FunctionId SpaceModules::rebind(FunctionId function, TraceeAddress target) {
  const ProbeModule* const module = module_at(target);
  if (module == nullptr) return function;
  const FunctionDefinition definition = context_.recorder.functions().at(function).definition;
  const ModuleId id = context_.book.id_of(*module);
  // In the caller itself: the stub of a slot that is not bound yet.
  if (id == definition.implemented_by || id == definition.caller) return function;
  proto::PrototypeLibrary::Account own;
  own.prototype = [&] {
    return prototype_in(*module, definition.mangled, module->bias.to_elf(target));
  };
  own.scopes = [&] { return &module->parsed->scopes(); };
  const auto rebound = context_.recorder.functions().rebind(
      function, id, is_static() ? std::string() : module->soname, own);
  context_.recorder.define(FunctionRebound{function, id, rebound.is_misread});
  return rebound.now;
}

SpaceModules::Planned SpaceModules::plan_for(const std::vector<std::uint32_t>& fresh) {
  Planned all;
  all.plan = context_.planner.plan(modules_, fresh);
  const Plan& plan = all.plan;
  std::vector<FunctionId> ids;
  for (const auto& planned : plan.functions) {
    FunctionDefinition definition;
    definition.mangled = planned.mangled;
    definition.entry = planned.entry;
    std::string implemented_by;
    proto::PrototypeLibrary::Account own;
    if (planned.caller) definition.caller = context_.book.id_of(*modules_.find(*planned.caller));
    if (planned.implemented_by) {
      const ProbeModule& module = *modules_.find(*planned.implemented_by);
      definition.implemented_by = context_.book.id_of(module);
      definition.entry_in_main = planned.entry && module.is_main;
      // The whole of a static program's C library is in the program.
      if (!is_static()) implemented_by = module.soname;
      if (planned.address)
        own.prototype = [&] { return prototype_in(module, planned.mangled, *planned.address); };
      own.scopes = [&] { return &module.parsed->scopes(); };
    }
    ids.push_back(context_.recorder.functions().intern(std::move(definition), implemented_by, own));
  }
  for (const auto& probe : plan.probes)
    if (probe.through_slot) all.pending.push_back({probe, ids[probe.function]});

  const Loaded* around =
      nullptr; // of the probe before; a module's probes come one behind the other
  const auto module_of = [&](TraceeAddress at) -> const ProbeModule* {
    if (around == nullptr || !around->range.contains(at)) around = loaded_at(at);
    return around == nullptr ? nullptr : modules_.find(around->id);
  };
  for (const auto& probe : plan.probes) {
    if (probe.through_slot) continue;
    all.sites.push_back({probe.kind, probe.at, probe.size, ids[probe.function], probe.slot,
                         module_of(probe.at),
                         probe.only_from ? range_of(*probe.only_from) : std::nullopt});
  }
  return all;
}

/// Those that had to wait for their slot to be bound, and need not any more.
void SpaceModules::add_bound_sites(std::vector<SiteProbe>& sites) {
  std::erase_if(pending_, [&](const Pending& pending) {
    const auto& name = context_.recorder.functions().at(pending.function).definition.mangled;
    const auto at = implementation_of(pending.probe, name);
    if (!at) return false;
    sites.push_back({ProbeKind::Entry,
                     *at,
                     0,
                     pending.function,
                     {},
                     module_at(*at),
                     pending.probe.only_from ? range_of(*pending.probe.only_from) : std::nullopt});
    return true;
  });
}

/// Where an IFUNC's resolver has sent its callers: what a slot of any module holds that is bound to
/// it.
std::optional<TraceeAddress> SpaceModules::implementation_of(const PlannedProbe& probe,
                                                             std::string_view name) const {
  const auto holds_code = [&](TraceeAddress slot) -> std::optional<TraceeAddress> {
    const auto word = space_->memory().read_word(slot);
    if (!word || *word == 0) return std::nullopt;
    const TraceeAddress target(*word);
    const ProbeModule* resolver_module = module_at(probe.at);
    // Not yet bound: it points into its own module's PLT, or is the file's unrelocated word.
    if (module_at(target) != resolver_module || target == probe.at) return std::nullopt;
    return target;
  };
  if (probe.slot != TraceeAddress()) return holds_code(probe.slot);
  for (const auto& module : modules_.all()) {
    const auto& calls = module->parsed->calls();
    if (!calls) continue;
    for (const auto& import : calls->imports) {
      if (import.binding == elf::SlotBinding::Irelative) {
        if (module->bias.to_tracee(import.defined_at) != probe.at) continue;
      } else {
        if (import.name != name) continue;
        const auto found = modules_.resolve(*module, import.name, import.version);
        if (found.symbol == nullptr || found.address() != probe.at) continue;
      }
      if (const auto target = holds_code(module->bias.to_tracee(import.slot))) return target;
    }
  }
  return std::nullopt;
}

} // namespace sonictrace
