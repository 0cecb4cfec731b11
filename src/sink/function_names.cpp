#include "sink/function_names.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "sonictrace/base/check.hpp"
#include "sonictrace/decode/quote.hpp"
#include "sonictrace/decode/render.hpp"

namespace sonictrace {
namespace {

/// Function ids are handed out one by one; a larger one is a mistake of ours.
constexpr FunctionId kMaxFunctions = FunctionId{1} << 26;

std::string sanitized(std::string_view text) {
  std::string clean;
  append_sanitized(clean, text);
  return clean;
}

} // namespace

FunctionNames::FunctionNames(FunctionNaming naming) : naming_(naming) {
  unknown_.name = "?";
  unknown_.shown = "?";
  unknown_.plan =
      std::make_shared<const proto::CallPlan>(proto::compile(proto::Prototype::unknown(), {}));
  unreadable_ = proto::unreadable_plan();
}

void FunctionNames::define(const ModuleDefinition& module) {
  sonames_.insert_or_assign(module.id, sanitized(module.soname));
}

void FunctionNames::define(const FunctionDefinition& function) {
  SONICTRACE_CHECK(function.id < kMaxFunctions, "function ids are to be small numbers");
  if (function.id >= entries_.size()) entries_.resize(function.id + std::size_t{1});
  Entry& entry = entries_[function.id];
  if (entry.was_called) return; // an id keeps its meaning
  entry.definition = function;
  entry.function.plan = function.plan ? function.plan : unknown_.plan;
  entry.function.has_rest = has_rest(*entry.function.plan);
  entry.function.syscall = function.syscall;
}

void FunctionNames::rebind(const FunctionRebound& rebound) {
  if (rebound.id >= entries_.size()) return;
  Entry& entry = entries_[rebound.id];
  entry.definition.implemented_by = rebound.implemented_by;
  if (rebound.is_misread) {
    entry.function.plan = unreadable_;
    entry.function.has_rest = false;
    if (entry.function.plain)
      entry.function.plain = PlainCall::make(*unreadable_, *naming_.plain_style);
  }
  if (entry.was_called && !entry.definition.syscall) name_all(namesakes_[entry.function.name]);
}

const FunctionNames::Function& FunctionNames::call_first(FunctionId id) {
  if (id >= entries_.size() || !entries_[id].function.plan) return unknown_;
  Entry& entry = entries_[id];
  entry.was_called = true;
  // A system call's errors have names: its text takes the long way.
  if (naming_.plain_style && !entry.definition.syscall)
    entry.function.plain = PlainCall::make(*entry.function.plan, *naming_.plain_style);
  if (entry.definition.syscall) {
    order_.push_back(id);
    name_syscall(entry);
    return entry.function;
  }
  entry.function.name = sanitized(demangle(entry.definition.mangled, naming_.demangle));
  if (entry.function.name.empty()) entry.function.name += '?';
  order_.push_back(id);
  auto& namesakes = namesakes_[entry.function.name];
  namesakes.push_back(id);
  name_all(namesakes);
  return entry.function;
}

void FunctionNames::name_syscall(Entry& entry) {
  Function& function = entry.function;
  function.name = sanitized(entry.definition.mangled);
  constexpr std::string_view kPrefix = "SYS_";
  if (naming_.ltrace_syscalls) {
    if (!function.name.starts_with(kPrefix)) function.name.insert(0, kPrefix);
    function.shown = function.name;
  } else {
    function.shown = function.name + "@SYS";
  }
}

void FunctionNames::name_all(const std::vector<FunctionId>& namesakes) {
  ModuleId first = kNoModule;
  bool several = false;
  for (const FunctionId id : namesakes) {
    const ModuleId module = entries_[id].definition.implemented_by;
    if (module == kNoModule) continue;
    // Two mappings of one library (dlmopen) are told apart by nothing that could be written.
    if (first == kNoModule) first = module;
    if (soname(module) != soname(first)) several = true;
  }
  several = several && naming_.tell_modules_apart;
  for (const FunctionId id : namesakes) {
    const FunctionDefinition& definition = entries_[id].definition;
    Function& function = entries_[id].function;
    const std::string module = soname(definition.implemented_by);
    // A function that is called after its place says where it is.
    const bool is_place = !module.empty() && definition.mangled.starts_with(module + "+0x");
    const bool with_module = definition.entry ? !definition.entry_in_main && !is_place : several;
    function.shown.clear();
    if (naming_.show_caller && !definition.entry) {
      const std::string caller = soname(definition.caller);
      if (!caller.empty()) function.shown += caller + "->";
    }
    function.shown += function.name;
    if (with_module && !module.empty()) function.shown += "@" + module;
  }
}

std::string FunctionNames::soname(ModuleId module) const {
  const auto found = sonames_.find(module);
  return found == sonames_.end() ? std::string() : found->second;
}

std::size_t FunctionNames::called_count() const {
  std::set<std::tuple<std::string_view, ModuleId, bool>> functions;
  for (const FunctionId id : order_) {
    const FunctionDefinition& definition = entries_[id].definition;
    functions.emplace(definition.mangled, definition.implemented_by, definition.syscall);
  }
  return functions.size();
}

std::vector<FunctionNames::Place> FunctionNames::called_places() const {
  std::vector<Place> places;
  std::set<std::pair<std::string_view, std::string>> seen;
  for (const FunctionId id : order_) {
    const Entry& entry = entries_[id];
    std::string module = soname(entry.definition.implemented_by);
    if (module.empty()) continue;
    if (!seen.emplace(entry.function.name, module).second) continue;
    places.push_back({entry.function.name, std::move(module)});
  }
  return places;
}

} // namespace sonictrace
