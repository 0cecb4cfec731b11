#include "sonictrace/log/function_table.hpp"

#include <utility>

#include "log/name_table.hpp"
#include "sonictrace/log/module_map.hpp"

namespace sonictrace::log {
namespace {

/// NAME@SONAME taken apart. The names of C++ have no `@`; those of versions (`f@@V1`) stay whole.
Function function_of(std::string_view name) {
  Function function;
  const auto at = name.rfind('@');
  if (at != std::string_view::npos && at > 0 && name[at - 1] != '@' && at + 1 < name.size()) {
    function.name = name.substr(0, at);
    function.module = name.substr(at + 1);
    function.is_syscall = function.module == "SYS";
  } else if (name.starts_with("SYS_") && name.size() > 4) {
    function.name = name.substr(4);
    function.module = "SYS";
    function.is_syscall = true;
  } else {
    function.name = name.empty() ? "(no name)" : name;
  }
  return function;
}

} // namespace

FunctionTable::FunctionTable() : FunctionTable(nullptr) {}

FunctionTable::FunctionTable(std::shared_ptr<const ModuleMap> modules)
    : names_(std::make_unique<NameTable>(kCapacity)), modules_(std::move(modules)) {
  names_->number(" "); // no function's name
  functions_.push_back({"(other functions)", {}, false, 0, 0});
}
FunctionTable::FunctionTable(FunctionTable&&) noexcept = default;
FunctionTable& FunctionTable::operator=(FunctionTable&&) noexcept = default;
FunctionTable::~FunctionTable() = default;

FunctionId FunctionTable::find_or_add(std::string_view name) {
  const auto id = names_->number(name);
  if (id == NameTable::kFull) {
    overflowed_ = true;
    return kOtherFunctions;
  }
  if (id != functions_.size()) return id;
  functions_.push_back(function_of(name));
  auto& function = functions_.back();
  if (modules_ == nullptr || !function.module.empty()) return id;
  function.module = modules_->module_of(function.name);
  if (function.module.empty()) return id;
  is_from_map_.resize(id + 1);
  is_from_map_[id] = true;
  return id;
}

void FunctionTable::set_module(std::string_view name, std::string_view module) {
  const auto id = find_or_add(name);
  if (id == kOtherFunctions) return;
  const bool is_from_map = id < is_from_map_.size() && is_from_map_[id];
  if (!functions_[id].module.empty() && !is_from_map) return;
  functions_[id].module = module;
  told_.push_back(id);
  if (is_from_map) is_from_map_[id] = false; // the log knows better
}

ModuleMap FunctionTable::told_modules() const {
  ModuleMap modules;
  for (const auto id : told_)
    modules.add(functions_[id].name, functions_[id].module);
  return modules;
}

} // namespace sonictrace::log
