#include "engine/inline/inline_space.hpp"

#include <fmt/format.h>
#include <x86intrin.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "engine/inline/functions_apart.hpp"
#include "engine/inline/left_agent.hpp"
#include "engine/inline/return_addresses.hpp"
#include "engine/inline/shared_memory.hpp"
#include "engine/inline/threads_inside.hpp"

namespace sonictrace {
namespace {

/// Where no thread is stopped, one that waits in the agent can map memory.
class MapperAtHand final : public RemoteMapper {
public:
  MapperAtHand(RemoteCaller* caller, LinkerLine* line) : caller_(caller), line_(line) {}
  Result<TraceeAddress> map(TraceeAddress at, std::size_t size, int protection,
                            int flags) override {
    if (caller_ != nullptr) return caller_->map(at, size, protection, flags);
    if (line_ != nullptr && line_->is_asked()) return line_->map(at, size, protection, flags);
    return Error::saying("no thread of the process is there to map memory");
  }

private:
  RemoteCaller* caller_;
  LinkerLine* line_;
};

enum class Way : std::uint8_t { Never, Call, Entry, Breakpoint };

/// How a probe is put in, as far as that is a matter of what it is.
Way way_of(const SiteProbe& probe, std::string_view function, bool linker_is_musl) {
  if (is_never_patched(function)) return Way::Never; // see docs/AGENT.md
  if (probe.kind != ProbeKind::Entry && probe.slot != TraceeAddress()) return Way::Call;
  // Without a symbol it is called from its own file only, where a compiler that sees both leaves
  // values in registers that the callee does not change (gcc's -fipa-ra). Return thunks change
  // them.
  if (function.find("+0x") != std::string_view::npos) return Way::Breakpoint;
  // Of a function that returns twice, or looks at its caller, the entry has no slot of its own.
  if (probe.kind != ProbeKind::Entry || probe.module == nullptr ||
      (flags_by_name(function, linker_is_musl) & ~wire::kSiteForbids) != 0)
    return Way::Breakpoint;
  return Way::Entry;
}

bool is_of_musl(std::span<const ProbeModule* const> modules) {
  return std::any_of(modules.begin(), modules.end(), [](const auto* module) {
    return module->path.find("musl") != std::string::npos;
  });
}

/// Surveys them all, module by module.
template <class Probes>
void survey_entries(ImageKnowledge& images, const Probes& probes) {
  std::map<const ProbeModule*, std::vector<ElfAddress>> asked;
  for (const SiteProbe* const probe : probes)
    asked[probe->module].push_back(probe->module->bias.to_elf(probe->at));
  for (const auto& [module, entries] : asked)
    images.survey(module->parsed->shared_image(), entries);
}

} // namespace

void InlineSpace::prepare(const Installation& what, FunctionTable& functions,
                          ImageKnowledge& images) {
  const bool is_musl = is_of_musl(what.fresh);
  std::vector<const SiteProbe*> entries;
  for (const auto& probe : what.probes) {
    const std::string_view function = functions.at(probe.function).definition.mangled;
    const Way way = way_of(probe, function, is_musl);
    if (way == Way::Entry) entries.push_back(&probe);
    if (way == Way::Call && probe.module != nullptr &&
        (flags_by_name(function, is_musl) & wire::kSiteLooksAtCaller) != 0)
      (void)images.gadget(probe.module->parsed->shared_image());
  }
  survey_entries(images, entries);
  for (const ProbeModule* const module : what.fresh)
    (void)images.hooks(*module, is_musl);
}

/// What there is to put in, by how it is done.
struct InlineSpace::Sorted {
  std::vector<CallSitePatch> calls;
  std::vector<EntryPatch> entries;
  std::vector<const SiteProbe*> entry_probes; ///< of each of `entries`
  std::vector<SiteProbe> left;
};

Result<void> InlineSpace::inject(RemoteCaller& caller, const InlineSetup::Made& setup) {
  wire::AgentControl control = setup.control;
  if (linker_mark_ && linker_mark_->linker_state)
    control.linker_state = linker_mark_->linker_state->value();
  // One that an earlier session has left is used again, so that nothing of ours piles up.
  const auto found = nothing_is_left_ ? Result<std::optional<LeftAgent>>(std::nullopt)
                                      : LeftAgent::find(space_, caller.tid(), setup.image);
  if (!found) return found.error();
  const auto& left = *found;
  if (left) {
    auto adopted = InjectedAgent::adopt(caller, setup.image, *left, control, setup.counting);
    if (adopted) agent_.emplace(*std::move(adopted));
  }
  const bool is_adopted = agent_.has_value();
  if (!is_adopted) {
    auto agent = InjectedAgent::inject(caller, setup.image, control, setup.counting);
    if (!agent) return std::move(agent).error();
    agent_.emplace(*std::move(agent));
  }
  caller.use_code(agent_->calling_code());
  Areas::Routines routines{};
  for (std::size_t i = 0; i < routines.size(); ++i)
    routines[i] = agent_->routine(static_cast<AgentRoutine>(i));
  if (control.stack_size != 0)
    routines[static_cast<std::size_t>(AgentRoutine::Enter)] =
        agent_->in_text(agent_->header().enter_with_stack);
  image_ = setup.image.bytes();
  writer_.emplace(space_, routines);
  plans_.emplace(space_);
  const AreaDirectory directory(space_, agent_->area_list());
  const auto areas = is_adopted ? left->areas : std::vector<wire::AreaRecord>();
  directory.say_patched(true);
  if (is_adopted) {
    first_pool_ = left->next_first_pool();
    older_pools_ = std::max(left->pools_used, left->pools_ever);
  }
  writer_->adopt(areas, directory);
  plans_->adopt(areas, directory);
  line_.emplace(agent_->arena());
  counting_ = setup.counting;
  return agent_->switch_on();
}

void InlineSpace::note_linker_mark(const Installation& what) {
  for (const auto& mark : what.marks)
    if (mark.mark == Mark::Linker) linker_mark_ = mark;
}

InlineSpace::Left InlineSpace::install(const Installation& what,
                                       std::optional<StoppedTracee>& stopped,
                                       std::optional<Exit>& killed,
                                       std::vector<std::string>& refused) {
  note_linker_mark(what);
  Left left;
  is_musl_ = is_musl_ || is_of_musl(what.fresh);
  if (!agent_) {
    left.probes.assign(what.probes.begin(), what.probes.end());
    std::copy_if(what.marks.begin(), what.marks.end(), std::back_inserter(left.marks),
                 [&](const MarkSite& mark) { return !knock_ || mark.mark != Mark::Linker; });
    return left;
  }
  std::optional<RemoteCaller> caller;
  if (stopped) {
    caller.emplace(space_, stopped, killed);
    caller->use_code(agent_->calling_code());
  }
  MapperAtHand mapper(caller ? &*caller : nullptr, line_ ? &*line_ : nullptr);

  Sorted sorted;
  sort(what, mapper, sorted);
  // First what tells unwinders of the thunks: the tracer may be killed at any moment, and the
  // threads run then.
  const auto calls = std::stable_partition(
      sorted.calls.begin(), sorted.calls.end(),
      [](const CallSitePatch& site) { return site.routine != AgentRoutine::Enter; });
  for (const auto part :
       {std::span(sorted.calls.begin(), calls), std::span(calls, sorted.calls.end())})
    for (auto& line : writer_->patch(part, mapper))
      refused.push_back(std::move(line));
  for (const CallSitePatch& call : sorted.calls)
    if ((call.site.flags & (wire::kSiteSilent | wire::kSiteFiltered)) == 0)
      bound_.await(*agent_->arena(), call.site.function);
  const auto why_not = writer_->patch_entries(sorted.entries, mapper);
  for (std::size_t i = 0; i < why_not.size(); ++i)
    if (why_not[i]) sorted.left.push_back(*sorted.entry_probes[i]);
  left.probes = std::move(sorted.left);
  has_breakpoints_ = has_breakpoints_ || !left.probes.empty();
  for (const auto& mark : what.marks) {
    if (mark.mark == Mark::Begin || mark.mark == Mark::End)
      left.marks.push_back(mark);
    else if (mark.mark != Mark::Linker && mark.mark != Mark::Start)
      withheld_marks_.push_back(mark);
  }
  if (has_breakpoints_)
    left.marks.insert(left.marks.end(), withheld_marks_.begin(), withheld_marks_.end());
  if (has_breakpoints_) withheld_marks_.clear();
  return left;
}

void InlineSpace::sort(const Installation& what, RemoteMapper& mapper, Sorted& into) {
  const auto is_quiet = [&](const SiteProbe& probe) {
    if (!what.code_is_quiet) return false;
    return !what.only_fresh_is_quiet ||
           std::find(what.fresh.begin(), what.fresh.end(), probe.module) != what.fresh.end();
  };
  for (const auto& probe : what.probes) {
    const auto& definition = functions_.at(probe.function).definition;
    const Way way = way_of(probe, definition.mangled, is_musl_);
    if (way == Way::Never) continue;
    const auto places = is_quiet(probe) ? plans_->place(definition.plan, mapper)
                                        : Result<PlanArea::Places>(Error::saying("busy code"));
    if (!places) {
      into.left.push_back(probe);
      continue;
    }
    wire::Site site = make_site(*definition.plan, probe.function, *places);
    if (probe.only_from) {
      site.flags |= wire::kSiteFiltered;
      site.only_from = probe.only_from->begin().value();
      site.only_to = probe.only_from->end().value();
    }
    if (way == Way::Call) {
      site.flags |= flags_by_name(definition.mangled, is_musl_);
      if ((site.flags & wire::kSiteLooksAtCaller) != 0 && probe.module != nullptr)
        if (const auto at = images_.gadget(probe.module->parsed->shared_image()))
          note_gadget(site.gadget = probe.module->bias.to_tracee(*at).value());
      into.calls.push_back({probe.at, probe.size, probe.slot, site, AgentRoutine::Enter});
      continue;
    }
    if (way == Way::Breakpoint) {
      into.left.push_back(probe);
      continue;
    }
    const auto code =
        images_.code(probe.module->parsed->shared_image(), probe.module->bias.to_elf(probe.at));
    into.entries.push_back({probe.at, code, site, {}});
    into.entry_probes.push_back(&probe);
  }
  find_ways(into);
  std::vector<CallSitePatch> hooks;
  if (what.code_is_quiet)
    for (const ProbeModule* const module : what.fresh) {
      const auto more = images_.hooks(*module, is_musl_);
      hooks.insert(hooks.end(), more.begin(), more.end());
    }
  add_hooks(into.calls, hooks);
  (void)plans_->flush();
}

/// Finds out how entries can be patched, and leaves to breakpoints those that can't.
void InlineSpace::find_ways(Sorted& into) {
  survey_entries(images_, into.entry_probes);
  for (std::size_t i = 0; i < into.entries.size(); ++i) {
    EntryPatch& entry = into.entries[i];
    const ProbeModule& module = *into.entry_probes[i]->module;
    const auto& way = images_.way(module.parsed->shared_image(), module.bias.to_elf(entry.at));
    if (!way.jump) entry.function = {};
    for (const auto& island : way.islands)
      entry.islands.push_back({module.bias.to_tracee(island.at), island.bytes});
  }
  std::vector<EntryPatch> safe;
  std::vector<const SiteProbe*> safe_probes;
  for (std::size_t i = 0; i < into.entries.size(); ++i) {
    if (into.entries[i].function.empty()) {
      into.left.push_back(*into.entry_probes[i]);
      continue;
    }
    safe.push_back(std::move(into.entries[i]));
    safe_probes.push_back(into.entry_probes[i]);
  }
  into.entries = std::move(safe);
  into.entry_probes = std::move(safe_probes);
}

bool InlineSpace::knock_in_linker(pid_t tid, const MarkSite& mark) {
  if (agent_ || why_not_ || knock_) return false;
  knock_ = LinkerKnock::put(space_, tid, mark.at);
  if (knock_) linker_mark_ = mark;
  return knock_.has_value();
}

void InlineSpace::end_knocking() {
  if (knock_) knock_->restore();
  knock_.reset();
}

Result<void> InlineSpace::patch_rendezvous(std::optional<StoppedTracee>& stopped,
                                           std::optional<Exit>& killed) {
  const TraceeAddress function = linker_mark_->at;
  const auto at = Rendezvous::place_for_jump(*space_, function);
  if (!at) return at.error();
  if (!stopped) return Error::saying("no thread of it is stopped");
  RemoteCaller caller(space_, stopped, killed);
  caller.use_code(agent_->calling_code());
  const auto near = AddressRange::make(*at, *at + Rendezvous::kJumpSize);
  const auto cell =
      writer_->word_near(*near, agent_->in_text(agent_->header().linker_changed).value(), caller);
  if (!cell) return cell.error();
  auto patched = Rendezvous::patch(space_, *at, *cell);
  if (!patched) return std::move(patched).error();
  rendezvous_.emplace(*std::move(patched));
  return {};
}

void InlineSpace::note_gadget(std::uint64_t gadget) {
  const TraceeAddress at(gadget);
  const auto place = std::lower_bound(gadgets_.begin(), gadgets_.end(), at);
  if (gadget != 0 && (place == gadgets_.end() || *place != at)) gadgets_.insert(place, at);
}

const std::vector<MappedCode>& InlineSpace::survey(const CodeMap::OpenImage& open) {
  mapped_ = CodeMap::survey(*space_, open, mapped_);
  return mapped_;
}

OwnCode InlineSpace::own_code() const {
  OwnCode own{agent_->places().text,   image_, agent_->header().eh_frame_hdr,
              agent_->places().region, {},     gadgets_};
  own.original = [region = own.thunks,
                  space = std::weak_ptr(space_)](std::uint64_t address) -> std::uint64_t {
    const auto entry = InjectedAgent::entry_of_thunk(region, TraceeAddress(address));
    const auto there = space.lock();
    if (!entry || !there) return address;
    const auto word = there->memory().read_word(*entry);
    return word ? *word : address;
  };
  return own;
}

void InlineSpace::module_gone(AddressRange range) {
  std::erase_if(gadgets_, [&](TraceeAddress gadget) { return range.contains(gadget); });
  if (writer_) writer_->forget(range);
}

bool InlineSpace::withdraw() {
  if (!agent_ || is_idle_copy_) return false;
  writer_->restore_all_but_unwinders();
  return may_be_unwinding() || is_anyone_in_agent();
}

void InlineSpace::remove(bool code_is_quiet) {
  end_knocking();
  if (!agent_ || is_idle_copy_) return;
  // Threads that wait for room in their ring still get it.
  (void)agent_->switch_off();
  // A thread that ran could read half of what is written, or have another variable by now where
  // its return address was. With all of it as it is, it only records nothing any more.
  if (code_is_quiet) take_patches_out();
  if (line_) line_->answer();
}

void InlineSpace::take_patches_out() {
  // Who is on its way through its frames finds a thunk by what lies on the stack, and is told where
  // it is described for as long as that takes.
  const bool is_unwinding = may_be_unwinding();
  if (!is_unwinding) give_back_return_addresses();
  if (rendezvous_) rendezvous_->restore();
  rendezvous_.reset();
  const bool stays = is_unwinding || is_anyone_in_agent();
  if (stays)
    writer_->restore_all_but_unwinders();
  else
    writer_->restore_all();
  AreaDirectory(space_, agent_->area_list()).say_patched(stays);
}

/// Whether a thread may be on its way through its frames (an exception, backtrace(3)).
bool InlineSpace::may_be_unwinding() const {
  const auto mappings = read_mappings(space_->pid());
  if (!mappings) return true;
  std::vector<AddressRange> unwinders;
  for (const TraceeAddress place : writer_->unwinders())
    for (const Mapping& mapping : *mappings)
      if (mapping.range.contains(place) &&
          std::find(unwinders.begin(), unwinders.end(), mapping.range) == unwinders.end())
        unwinders.push_back(mapping.range);
  return !unwinders.empty() &&
         may_anyone_know(*space_, *mappings, agent_->places().region, unwinders);
}

/// Whether a thread may be in the agent, and about to make a call that returns to a thunk.
bool InlineSpace::is_anyone_in_agent() const {
  const auto mappings = read_mappings(space_->pid());
  if (!mappings) return true;
  auto ours = writer_->code();
  ours.push_back(agent_->places().text);
  ours.push_back(agent_->places().region);
  return is_anyone_inside(*space_, *mappings, ours);
}

/// Those of earlier sessions too, which had to leave theirs.
void InlineSpace::give_back_return_addresses() {
  const Arena& arena = *agent_->arena();
  const std::uint32_t pools =
      std::min<std::uint32_t>(load_shared(arena.control().pools_used), wire::kMaxPools);
  std::vector<std::uint32_t> used(std::max(pools, older_pools_), wire::kEntriesOfPool);
  for (std::uint32_t pool = first_pool_; pool < pools; ++pool)
    if (pool >= older_pools_) used[pool] = load_shared(arena.pool(pool).used);
  sonictrace::give_back_return_addresses(space_->memory(), agent_->places().region, 0, used);
}

std::shared_ptr<InlineSpace> InlineSpace::copy_for(std::shared_ptr<AddressSpace> child) const {
  auto copy = std::make_shared<InlineSpace>(child, functions_, images_);
  copy->is_musl_ = is_musl_;
  copy->linker_mark_ = linker_mark_;
  copy->withheld_marks_ = withheld_marks_;
  copy->has_breakpoints_ = has_breakpoints_;
  copy->why_not_ = why_not_;
  copy->counting_ = counting_;
  copy->bound_ = bound_;
  copy->image_ = image_;
  copy->mapped_ = mapped_;
  copy->gadgets_ = gadgets_;
  if (!agent_) return copy;
  copy->first_pool_ = first_pool_;
  copy->older_pools_ = older_pools_;
  copy->agent_.emplace(agent_->for_child(child));
  copy->writer_.emplace(writer_->for_child(child));
  copy->plans_.emplace(plans_->for_child(child));
  if (rendezvous_) copy->rendezvous_.emplace(rendezvous_->for_child(child));
  copy->is_idle_copy_ = true;
  return copy;
}

Result<void> InlineSpace::begin_copy(RemoteCaller& caller, std::uint32_t ring,
                                     std::span<const OpenCallFound> inherited) {
  const auto parent = agent_->arena();
  caller.use_code(agent_->calling_code());
  if (auto done = agent_->replace_arena(caller, counting_); !done) return done;
  const auto& arena = agent_->arena();
  // Pools of the parent's may hold entries that the child returns through.
  arena->control().pools_used =
      std::min<std::uint32_t>(parent->control().pools_used, wire::kMaxPools);
  for (const auto& found : inherited) {
    wire::OpenCall& open = arena->open_call(found.pool, found.entry);
    open.function = found.function;
    open.call = found.number;
    open.depth = found.depth;
    open.flags = wire::kRingInherited;
    open.state = wire::kOpenTold;
  }
  is_idle_copy_ = false;
  bound_.await_all_in(*arena);
  line_.emplace(arena);
  return agent_->switch_on(ring < wire::kMaxRings ? ring + 1 : 0);
}

bool InlineSpace::repair_fault(Registers& registers) const {
  if (!agent_) return false;
  const auto& header = agent_->header();
  const auto copy =
      AddressRange::make(agent_->in_text(header.copy_begin), agent_->in_text(header.copy_end));
  if (copy && copy->contains(registers.pc())) {
    registers.set_pc(agent_->in_text(header.copy_fault));
    return true;
  }
  return read_clock_for(registers);
}

/// A thread that has faulted at the agent's rdtsc, which it may not use any more: prctl(2),
/// PR_SET_TSC, made where no patch has seen it. It gets the time once; its calls from then on are
/// counted as lost, as each would cost two faults, and none would be survived without a tracer.
bool InlineSpace::read_clock_for(Registers& registers) const {
  if (!is_in_agent(registers.pc())) return false;
  constexpr std::array kReadClock = {std::byte{0x0f}, std::byte{0x31}}; // rdtsc
  std::array<std::byte, 2> code{};
  if (!space_->memory().read(registers.pc(), code) || code != kReadClock) return false;
  const std::uint64_t ticks = __rdtsc();
  auto& raw = registers.raw();
  raw.rax = ticks & 0xffff'ffff;
  raw.rdx = ticks >> 32;
  registers.set_pc(registers.pc() + static_cast<std::int64_t>(code.size()));
  if (const auto block = agent_->threads().find(raw.fs_base); block && *block) {
    const auto at = **block + static_cast<std::int64_t>(offsetof(wire::AgentBlock, is_muted));
    (void)space_->memory().write(at, std::as_bytes(std::span(&wire::kMutedNoClock, 1)));
  }
  return true;
}

std::uint16_t InlineSpace::depth_of(const Registers& registers) const {
  if (!agent_) return 0;
  const auto block = agent_->threads().find(registers.raw().fs_base);
  if (!block || !*block) return 0;
  std::uint32_t depth = 0;
  const TraceeAddress at = **block + static_cast<std::int64_t>(offsetof(wire::AgentBlock, depth));
  (void)space_->memory().read(at, std::as_writable_bytes(std::span(&depth, 1)));
  constexpr std::uint32_t kMost = 0xff00;
  return static_cast<std::uint16_t>(std::min(depth, kMost));
}

bool InlineSpace::is_in_agent(TraceeAddress pc) const {
  return agent_ && agent_->places().text.contains(pc);
}

} // namespace sonictrace
