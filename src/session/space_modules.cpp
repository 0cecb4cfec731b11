#include "session/space_modules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <unordered_set>

namespace sonictrace {
namespace {

std::string base_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

AddressRange range_in(const elf::Image& image, LoadBias bias) {
  std::uint64_t begin = ~std::uint64_t{0};
  std::uint64_t end = 0;
  for (const auto& segment : image.segments()) {
    begin = std::min(begin, segment.begin.value());
    end = std::max(end, segment.begin.value() + segment.memory_size);
  }
  constexpr std::uint64_t kPage = 4096;
  begin = begin <= end ? begin & ~(kPage - 1) : end;
  end = (end + kPage - 1) & ~(kPage - 1);
  const auto range =
      AddressRange::make(bias.to_tracee(ElfAddress(begin)), bias.to_tracee(ElfAddress(end)));
  return range ? *range : *AddressRange::make(TraceeAddress(), TraceeAddress());
}

/// Modules that the C library loads for itself: name services, character sets, the unwinder.
bool is_of_the_c_library(const ProbeModule& module) {
  return module.soname.starts_with("libnss_") || module.soname == "libgcc_s.so.1" ||
         module.path.find("/gconv/") != std::string::npos;
}

} // namespace

Result<std::unique_ptr<SpaceModules>> SpaceModules::open(ProbeContext& context,
                                                         std::shared_ptr<AddressSpace> space) {
  auto modules = open_ahead(context, std::move(space));
  if (modules) (*modules)->give_step_area();
  return modules;
}

Result<std::unique_ptr<SpaceModules>>
SpaceModules::open_ahead(ProbeContext& context, std::shared_ptr<AddressSpace> space) {
  std::unique_ptr<SpaceModules> modules(new SpaceModules(context, std::move(space)));
  if (auto done = modules->find_program(); !done) return std::move(done).error();
  return modules;
}

bool SpaceModules::move_to(std::shared_ptr<AddressSpace> space) {
  // Addresses are chosen anew by each exec; where they are not, the list of modules tells the rest.
  const auto auxiliary = read_auxiliary_vector(space->pid());
  std::error_code ignored;
  const auto path =
      std::filesystem::read_symlink(fmt::format("/proc/{}/exe", space->pid()), ignored).string();
  if (!auxiliary || *auxiliary != auxiliary_ || path != program_path_) return false;
  space_ = std::move(space);
  give_step_area();
  return true;
}

Result<void> SpaceModules::find_program() {
  const pid_t pid = space_->pid();
  auto auxiliary = read_auxiliary_vector(pid);
  if (!auxiliary) return std::move(auxiliary).error();
  auxiliary_ = *auxiliary;

  const auto exe = fmt::format("/proc/{}/exe", pid);
  std::error_code ignored;
  program_path_ = std::filesystem::read_symlink(exe, ignored).string();
  auto file = UniqueFd::open(exe.c_str(), O_RDONLY);
  if (!file) return std::move(file).error();
  auto program = context_.images.get(*file, program_path_);
  if (!program) return std::move(program).error();
  program_ = *program;
  if (program_->image().machine() != Machine::X86_64)
    return Error::saying(
        fmt::format("{}: not an x86-64 program; this version traces no other", program_path_));

  if (auxiliary_.linker_base != TraceeAddress()) {
    const auto mapping = space_->mapping_at(auxiliary_.linker_base);
    if (mapping) {
      auto linker_file = open_mapped_file(pid, *mapping);
      if (linker_file) {
        auto image = context_.images.get(*linker_file, mapping->path);
        if (image) linker_image_ = *image;
      }
    }
  }
  const bool dynamic = linker_image_ != nullptr || program_->image().dynamic();
  if (dynamic)
    linker_ = DynamicLinker::find(auxiliary_, program_->image(),
                                  linker_image_ ? &linker_image_->image() : nullptr);
  return {};
}

/// The linker's entry point has run before any probe is there; a static program's own once it is
/// past its first breakpoint, which stands at that very place.
void SpaceModules::give_step_area() {
  const LoadBias linker_bias(auxiliary_.linker_base, ElfAddress(0));
  context_.engine.set_step_area(space_, linker_image_
                                            ? linker_bias.to_tracee(linker_image_->image().entry())
                                            : auxiliary_.entry);
}

std::unique_ptr<SpaceModules> SpaceModules::copy_for(std::shared_ptr<AddressSpace> child) const {
  std::unique_ptr<SpaceModules> copy(new SpaceModules(context_, std::move(child)));
  copy->auxiliary_ = auxiliary_;
  copy->program_ = program_;
  copy->program_path_ = program_path_;
  copy->linker_image_ = linker_image_;
  copy->linker_ = linker_;
  if (ahead_) return copy; // what was only looked at is looked at anew
  copy->loaded_ = loaded_;
  for (const auto& module : modules_.all())
    copy->modules_.add(*module);
  copy->pending_ = pending_;
  copy->waiting_marks_ = waiting_marks_;
  copy->unprobed_ = unprobed_;
  copy->has_probes_ = has_probes_;
  copy->next_id_ = next_id_;
  copy->batch_ = batch_;
  copy->has_modules_ = has_modules_;
  copy->linker_is_marked_ = linker_is_marked_;
  copy->linker_state_is_told_ = linker_state_is_told_;
  return copy;
}

void SpaceModules::watch(LentTracee& lent, Quiet quiet) {
  std::vector<MarkSite> marks;
  if (linker_ && linker_->rendezvous()) {
    const auto state = linker_->state();
    if (!linker_is_marked_ || (state && !linker_state_is_told_))
      marks.push_back({*linker_->rendezvous(), Mark::Linker, state});
    linker_is_marked_ = true;
    linker_state_is_told_ = state.has_value();
  }
  // A static program has no list that changes; and a linker without the symbol tells its place only
  // once the program runs.
  if (!has_modules_ && !linker_is_marked_ && auxiliary_.entry != TraceeAddress())
    marks.push_back({auxiliary_.entry, Mark::Start});
  if (!marks.empty())
    (void)context_.engine.install(space_,
                                  {{}, marks, {}, quiet != Quiet::No, quiet == Quiet::Fresh},
                                  lent.tracee, lent.killed);
}

/// What `update` has found.
struct SpaceModules::Found {
  std::vector<std::uint32_t> fresh;
  std::optional<Planned> planned;
};

std::optional<SpaceModules::Found> SpaceModules::bring_up_to_date(Occasion occasion,
                                                                  LentTracee& lent, Quiet quiet) {
  auto listed = linker_ ? linker_->modules(space_->memory())
                        : Result<std::optional<std::vector<LinkedModule>>>(
                              std::optional<std::vector<LinkedModule>>());
  if (!listed) {
    if (listed.error().is(std::errc::no_such_process)) return std::nullopt; // killed meanwhile
    context_.complaints.push_back(fmt::format("the module list of process {} can't be read: {}",
                                              space_->pid(), listed.error().message()));
    return std::nullopt;
  }
  watch(lent, quiet); // the linker's place may have become known
  if (!*listed) {
    // No list: being changed, or not made yet, or never made: a static program.
    const bool never = !linker_ || !linker_->rendezvous();
    if (!has_modules_ && never && linker_image_ == nullptr)
      add_program_alone();
    else
      return std::nullopt;
  }

  auto ahead = std::exchange(ahead_, std::nullopt);
  std::optional<Planned> planned;
  std::vector<std::uint32_t> fresh;
  if (*listed) {
    const bool first = !has_modules_ || occasion == Occasion::Attached;
    const bool has_lost = drop_gone(**listed);
    fresh = add_new(**listed, occasion, lent);
    if (ahead) {
      if (!has_lost && fresh.empty()) planned = std::move(ahead->planned);
      fresh.insert(fresh.begin(), ahead->fresh.begin(), ahead->fresh.end());
      std::erase_if(fresh, [&](std::uint32_t id) { return modules_.find(id) == nullptr; });
    }
    if (first && occasion == Occasion::Attached && !planned) sort_out_attached(fresh);
  } else {
    fresh.push_back(0);
  }
  return Found{std::move(fresh), std::move(planned)};
}

void SpaceModules::update(Occasion occasion, LentTracee& lent, Quiet quiet) {
  if (auto found = bring_up_to_date(occasion, lent, quiet))
    probe(found->fresh, std::move(found->planned), lent, quiet);
}

bool SpaceModules::update_unseen() {
  LentTracee nobody;
  auto found = bring_up_to_date(Occasion::Waiting, nobody, Quiet::Fresh);
  if (!found) return true;
  if (!context_.window.has_begun) {
    probe(found->fresh, std::nullopt, nobody, Quiet::Fresh);
    return true;
  }
  Probing all = probing_of(found->fresh, std::move(found->planned));
  put_in_unseen(all);
  // Marks are an aid that is put in under running threads as well.
  if (all.sites.empty() && all.fresh.empty()) {
    put_in(all, nobody, Quiet::Fresh);
    return true;
  }
  rest_ = std::move(all);
  return false;
}

void SpaceModules::update_rest(LentTracee& lent, Quiet quiet) {
  if (auto rest = std::exchange(rest_, std::nullopt)) put_in(*rest, lent, quiet);
}

void SpaceModules::look_ahead(Occasion occasion) {
  if (!linker_) return;
  const auto listed = linker_->modules(space_->memory());
  if (!listed || !*listed) return;
  const LentTracee nobody;
  Ahead ahead;
  (void)drop_gone(**listed);
  ahead.fresh = add_new(**listed, occasion, nobody);
  if (occasion == Occasion::Attached) sort_out_attached(ahead.fresh);
  if (context_.window.has_begun) {
    ahead.planned = plan_for(ahead.fresh);
    const auto fresh = found(ahead.fresh);
    context_.engine.prepare({ahead.planned->sites, {}, fresh});
    if (occasion == Occasion::Attached) put_off(*ahead.planned);
  }
  ahead_ = std::move(ahead);
}

/// Those that the linker has in its list, and we have not.
std::vector<std::uint32_t> SpaceModules::add_new(const std::vector<LinkedModule>& now,
                                                 Occasion occasion, const LentTracee& lent) {
  std::vector<std::uint32_t> fresh;
  const bool first = !has_modules_;
  bool by_program = false;
  for (const auto& linked : now) {
    const bool known = std::any_of(loaded_.begin(), loaded_.end(), [&](const Loaded& loaded) {
      return loaded.linked.is_same_as(linked);
    });
    if (known) continue;
    auto module = open_module(linked);
    if (!module) continue;
    if (fresh.empty() && !first) {
      ++batch_;
      by_program = is_loaded_by_program(occasion, lent);
    }
    module->batch = batch_;
    module->is_default = module->is_main || by_program;
    loaded_.push_back({linked, module->id, range_in(module->parsed->image(), module->bias)});
    fresh.push_back(module->id);
    (void)context_.book.id_of(*module);
    say_module("at", module->path, loaded_.back().range);
    modules_.add(*std::move(module));
  }
  has_modules_ = true;
  return fresh;
}

void SpaceModules::say_module(std::string_view what, const std::string& path,
                              AddressRange range) const {
  context_.debug.say(DebugLog::Modules, "process {}: {} {} {:#x}", space_->pid(), path, what,
                     range.begin().value());
}

void SpaceModules::add_program_alone() {
  ProbeModule module;
  module.id = next_id_++;
  module.is_main = true;
  module.is_default = true;
  module.path = program_path_;
  module.soname = base_name(program_path_);
  module.bias = LoadBias(auxiliary_.entry, program_->image().entry());
  module.parsed = program_;
  LinkedModule linked;
  linked.is_main = true;
  linked.bias = module.bias;
  loaded_.push_back({linked, module.id, range_in(program_->image(), module.bias)});
  (void)context_.book.id_of(module);
  say_module("at", module.path, loaded_.back().range);
  modules_.add(std::move(module));
  has_modules_ = true;
}

std::optional<ProbeModule> SpaceModules::open_module(const LinkedModule& linked) {
  ProbeModule module;
  module.bias = linked.bias;
  module.name_space = linked.name_space;
  module.is_main = linked.is_main;
  const auto mapping = space_->mapping_at(linked.dynamic);
  if (!mapping || mapping->path == "[vdso]" || mapping->inode == 0) {
    if (!linked.is_main) return std::nullopt;
    module.path = program_path_;
    module.parsed = program_;
  } else {
    auto file = open_mapped_file(space_->pid(), *mapping);
    auto parsed = file ? context_.images.get(*file, mapping->path)
                       : Result<std::shared_ptr<ParsedImage>>(std::move(file).error());
    if (!parsed) {
      auto line = fmt::format("{}: calls into and out of it are not traced: {}", linked.name,
                              parsed.error().message());
      auto& lines = context_.complaints; // it was said already where it was looked at ahead
      if (std::find(lines.begin(), lines.end(), line) == lines.end())
        lines.push_back(std::move(line));
      return std::nullopt;
    }
    module.path = mapping->path;
    module.parsed = *parsed;
  }
  const auto soname = module.parsed->image().soname();
  module.soname = soname.empty() ? base_name(module.path) : std::string(soname);
  module.id = next_id_++;
  return module;
}

/// Returns whether there was one.
bool SpaceModules::drop_gone(const std::vector<LinkedModule>& now) {
  const auto gone = std::erase_if(loaded_, [&](const Loaded& loaded) {
    const bool stays = std::any_of(now.begin(), now.end(), [&](const LinkedModule& linked) {
      return linked.is_same_as(loaded.linked);
    });
    if (stays) return false;
    // The linker itself is in the list of each name space, and stays when one of them goes.
    const bool is_shared = std::any_of(now.begin(), now.end(), [&](const LinkedModule& linked) {
      return linked.dynamic == loaded.linked.dynamic && linked.bias == loaded.linked.bias;
    });
    if (!is_shared) context_.engine.module_gone(*space_, loaded.range);
    if (const auto* module = modules_.find(loaded.id))
      say_module("gone from", module->path, loaded.range);
    modules_.remove(loaded.id);
    std::erase(unprobed_, loaded.id);
    std::erase_if(waiting_marks_,
                  [&](const MarkSite& mark) { return loaded.range.contains(mark.at); });
    std::erase_if(later_, [&](const SiteProbe& probe) { return loaded.range.contains(probe.at); });
    std::erase_if(pending_, [&](const Pending& pending) {
      return loaded.range.contains(pending.probe.at) || loaded.range.contains(pending.probe.slot);
    });
    context_.unwinder.forget();
    return true;
  });
  return gone > 0;
}

/// dlopen and dlmopen are how a program loads modules; the C library's own loads do not come
/// through them.
bool SpaceModules::is_loaded_by_program(Occasion occasion, const LentTracee& lent) {
  if (!context_.selectors.uses_default()) return true; // then nobody asks
  constexpr std::size_t kDeep = 64;
  context_.unwinder.forget();
  std::vector<TraceeAddress> frames;
  if (occasion == Occasion::Waiting) {
    const auto registers = context_.engine.linker_caller(*space_);
    if (!registers) return true;
    for (const auto& frame : context_.unwinder.callers(space_, *registers, kDeep))
      frames.push_back(frame.address);
  } else if (occasion == Occasion::Changed && lent.tracee) {
    frames = context_.unwinder.frames(lent.tracee->tid(), kDeep);
  } else {
    return true;
  }
  for (const auto address : frames) {
    const ProbeModule* module = module_at(address);
    if (module == nullptr) continue;
    // A return address may lie behind the function's last instruction.
    const auto* function = module->parsed->image().function_at(module->bias.to_elf(address + -1));
    if (function == nullptr) continue;
    if (function->name == "dlopen" || function->name == "dlmopen") return true;
    if (function->name.starts_with("__libc_dlopen") || function->name == "__nss_module_load")
      return false;
  }
  return false;
}

/// At an attach nobody knows any more who loaded what: what the program needs, directly or through
/// others, was there from the start; the rest came by dlopen, but for the C library's own.
void SpaceModules::sort_out_attached(const std::vector<std::uint32_t>& fresh) {
  std::unordered_set<std::string_view> needed;
  std::vector<const ProbeModule*> open;
  for (const auto id : fresh)
    if (const auto* module = modules_.find(id); module->is_main) open.push_back(module);
  while (!open.empty()) {
    const ProbeModule* module = open.back();
    open.pop_back();
    for (const auto name : module->parsed->image().needed()) {
      if (!needed.insert(name).second) continue;
      for (const auto& other : modules_.all())
        if (other->soname == name) open.push_back(other.get());
    }
  }
  ++batch_;
  for (const auto& module : modules_.all()) {
    if (module->is_main || needed.contains(module->soname)) continue;
    module->batch = batch_;
    module->is_default = !is_of_the_c_library(*module);
  }
  modules_.forget_searches();
}

std::vector<MarkSite> SpaceModules::marks_in(const ProbeModule& module) const {
  struct Named {
    const char* name;
    Mark mark;
  };
  constexpr std::array kNamed = {
      Named{"__cxa_begin_catch", Mark::Catch},
      Named{"_Unwind_RaiseException", Mark::Unwinding},
      Named{"_Unwind_ForcedUnwind", Mark::Unwinding},
      Named{"longjmp", Mark::LongJump},
      Named{"siglongjmp", Mark::LongJump},
      Named{"_longjmp", Mark::LongJump},
      Named{"__longjmp_chk", Mark::LongJump},
      Named{"sigaction", Mark::SetAction},
      Named{"signal", Mark::SetAction},
      Named{"bsd_signal", Mark::SetAction},
      Named{"sysv_signal", Mark::SetAction},
      Named{"__sysv_signal", Mark::SetAction},
      Named{"sigset", Mark::SetAction},
      Named{"sigprocmask", Mark::SetMask},
      Named{"pthread_sigmask", Mark::SetMask},
  };
  std::vector<MarkSite> marks;
  for (const auto& [name, mark] : kNamed) {
    const auto* symbol = module.parsed->image().find_export(name, {});
    if (symbol == nullptr || symbol->type != elf::SymbolType::Function) continue;
    marks.push_back({module.bias.to_tracee(symbol->value), mark});
  }
  return marks;
}

std::vector<const ProbeModule*> SpaceModules::found(const std::vector<std::uint32_t>& ids) const {
  std::vector<const ProbeModule*> all;
  for (const auto id : ids)
    if (const auto* module = modules_.find(id)) all.push_back(module);
  return all;
}

std::optional<AddressRange> SpaceModules::range_of(std::uint32_t id) const {
  for (const auto& loaded : loaded_)
    if (loaded.id == id) return loaded.range;
  return std::nullopt;
}

const SpaceModules::Loaded* SpaceModules::loaded_at(TraceeAddress address) const {
  const auto found = std::find_if(loaded_.begin(), loaded_.end(), [&](const Loaded& loaded) {
    return loaded.range.contains(address);
  });
  return found == loaded_.end() ? nullptr : &*found;
}

const ProbeModule* SpaceModules::module_at(TraceeAddress address) const {
  const Loaded* loaded = loaded_at(address);
  return loaded == nullptr ? nullptr : modules_.find(loaded->id);
}

} // namespace sonictrace
