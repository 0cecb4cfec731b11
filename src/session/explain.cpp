#include "sonictrace/session/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "session/listed_libraries.hpp"
#include "session/space_modules.hpp"
#include "sonictrace/process/attach.hpp"
#include "sonictrace/process/launch.hpp"

namespace sonictrace {
namespace {

/// Takes probes and does nothing with them.
class IdleEngine final : public Engine {
public:
  std::vector<std::string> install(const std::shared_ptr<AddressSpace>&, const Installation&,
                                   std::optional<StoppedTracee>&, std::optional<Exit>&) override {
    return {};
  }
  void set_step_area(const std::shared_ptr<AddressSpace>&, TraceeAddress) override {}
  void module_gone(const AddressSpace&, AddressRange) override {}
  void thread_started(pid_t, std::optional<pid_t>, const std::shared_ptr<AddressSpace>&,
                      bool) override {}
  void thread_gone(pid_t) override {}
  void child_born(pid_t, pid_t, const std::shared_ptr<AddressSpace>&, bool) override {}
  void program_replaced(pid_t, const std::shared_ptr<AddressSpace>&) override {}
  void record_system_calls(bool) override {}
  void settle_system_call(pid_t, bool) override {}
  Handled handle(StoppedTracee tracee) override { return NotOurs{std::move(tracee)}; }
  void remove(const AddressSpace&, bool) override {}
  Settled settle(StoppedTracee&) override { return Settled::Leave; }
  TraceeAddress place_in_program(pid_t, TraceeAddress pc) override { return pc; }
  std::string name() const override { return "none"; }
  std::uint64_t cost_of_call_ns() const override { return 0; }
};

/// Takes records and definitions and does nothing with them.
class IdleSink final : public Sink {
public:
  void define(const Definition&) override {}
  void write(RecordBatch) override {}
  void tick(std::uint64_t) override {}
  Result<void> finish(const SessionSummary&) override { return {}; }
  std::uint64_t bytes_written() const override { return 0; }
  bool is_healthy() const override { return true; }
};

void add_modules(const ModuleList& modules, const std::vector<ModulePlan>& plans,
                 Explanation& explanation) {
  for (const auto& plan : plans) {
    const ProbeModule* module = modules.find(plan.module);
    if (module == nullptr) continue;
    // For those that were skipped too: what there would have been.
    const auto& calls = module->parsed->calls();
    explanation.modules.push_back({module->soname, module->path,
                                   calls ? count_called_imports(*calls) : 0, plan.calls, plan.sites,
                                   plan.hoisted, plan.entries, plan.left_out, plan.skipped});
  }
}

Result<ProbeModule> open_file(ImageCache& images, const std::string& path, std::uint32_t id) {
  auto file = UniqueFd::open(path.c_str(), O_RDONLY);
  if (!file) return std::move(file).error();
  auto parsed = images.get(*file, path);
  if (!parsed) return std::move(parsed).error();
  ProbeModule module;
  module.id = id;
  module.is_main = id == 0;
  module.is_default = module.is_main;
  module.path = path;
  module.parsed = *parsed;
  const auto soname = (*parsed)->image().soname();
  module.soname =
      soname.empty() ? std::filesystem::path(path).filename().string() : std::string(soname);
  return module;
}

Result<void> explain_program(const std::string& path, ProbeContext& context,
                             Explanation& explanation) {
  auto program = open_file(context.images, path, 0);
  if (!program) {
    if (!program.error().is(std::errc::executable_format_error)) return std::move(program).error();
    return Error::saying(path + ": a script; explain the program that it runs");
  }
  ModuleList modules;
  std::vector<std::uint32_t> all = {0};
  const std::string linker(program->parsed->image().interpreter());
  modules.add(*std::move(program));
  if (linker.empty()) {
    explanation.notes.push_back(
        path + ": a static program; it makes no calls into shared libraries, -x traces its own");
  } else {
    auto libraries = list_libraries(linker, path);
    if (!libraries) return std::move(libraries).error();
    for (const auto& library : *libraries) {
      auto module = open_file(context.images, library, static_cast<std::uint32_t>(all.size()));
      if (!module) {
        explanation.notes.push_back(library + ": " + module.error().message());
        continue;
      }
      all.push_back(module->id);
      modules.add(*std::move(module));
    }
    explanation.notes.push_back("modules that the program loads by dlopen are known once it runs; "
                                "their calls are traced too");
  }
  add_modules(modules, context.planner.plan(modules, all).modules, explanation);
  return {};
}

Result<void> explain_process(pid_t pid, ProbeContext& context, Explanation& explanation) {
  auto space = AddressSpace::open(pid);
  if (!space) {
    AttachRefusal refusal;
    refusal.pid = pid;
    refusal.error = static_cast<int>(space.error().code());
    if (space.error().is(std::errc::no_such_file_or_directory)) refusal.error = ESRCH;
    return Error::saying(explain(refusal));
  }
  auto modules = SpaceModules::open(context, *space);
  if (!modules) return std::move(modules).error();
  LentTracee nobody;
  (*modules)->update(Occasion::Attached, nobody, Quiet::No);
  add_modules((*modules)->modules(), context.reports, explanation);
  return {};
}

} // namespace

std::variant<Explanation, StartFailure> explain_session(const SessionOptions& options) {
  auto selectors = SelectorSet::parse(options.selectors);
  if (!selectors) return StartFailure{std::move(selectors).error(), 1};
  IdleSink sink;
  IdleEngine engine;
  FunctionTable functions(proto::PrototypeLibrary(), {.captures = false});
  Recorder recorder(functions, sink);
  DebugInfo no_debug_info({.is_used = false}); // no prototype is asked for
  ProbeContext context{*selectors,
                       ProbePlanner(*selectors, options.ltrace),
                       {},
                       recorder,
                       ModuleBook(recorder),
                       engine,
                       no_debug_info,
                       Unwinder{},
                       {},
                       {},
                       0};
  if (!options.cache_directory.empty()) context.images.keep_tables_in(options.cache_directory);
  Explanation explanation;
  if (!options.command.empty()) {
    auto found = find_command(options.command.front(), std::getenv("PATH"));
    if (auto* failed = std::get_if<LaunchFailure>(&found))
      return StartFailure{std::move(failed->error), failed->exit_status};
    const auto& path = std::get<FoundCommand>(found).path;
    if (auto done = explain_program(path, context, explanation); !done)
      return StartFailure{std::move(done).error(), 1};
  }
  for (const pid_t pid : options.attach)
    if (auto done = explain_process(pid, context, explanation); !done)
      return StartFailure{std::move(done).error(), 1};
  for (auto& line : context.complaints)
    explanation.notes.push_back(std::move(line));
  for (auto& line : selectors->unmatched())
    explanation.notes.push_back(std::move(line));
  return explanation;
}

} // namespace sonictrace
