#include "sonictrace/log/function_table.hpp"

#include "log/name_table.hpp"

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

FunctionTable::FunctionTable() : names_(std::make_unique<NameTable>(kCapacity)) {
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
  if (id == functions_.size()) functions_.push_back(function_of(name));
  return id;
}

void FunctionTable::set_module(std::string_view name, std::string_view module) {
  const auto id = find_or_add(name);
  if (id != kOtherFunctions && functions_[id].module.empty()) functions_[id].module = module;
}

} // namespace sonictrace::log
