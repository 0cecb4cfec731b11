#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sonictrace/decode/plain_call.hpp"
#include "sonictrace/decode/render.hpp"
#include "sonictrace/names/demangle.hpp"
#include "sonictrace/proto/call_plan.hpp"
#include "sonictrace/stream/definition.hpp"

namespace sonictrace {

struct FunctionNaming {
  DemangleStyle demangle = DemangleStyle::Short;
  bool show_caller = false;
  /// Two modules may have functions of one name: write `NAME@SONAME` from when it is known.
  bool tell_modules_apart = true;
  /// A system call is `SYS_write`, as ltrace 0.7.3 has it; else `write@SYS`.
  bool ltrace_syscalls = false;
  /// Of a text log: how it shows values. Functions have their `plain` then.
  std::optional<ValueStyle> plain_style = std::nullopt;
};

/// What the log calls each function. Names are made at a function's first call: of the thousands
/// that are defined, few are called.
class FunctionNames {
public:
  struct Function {
    std::string name;                            ///< as in `<... NAME resumed> `
    std::string shown;                           ///< as in front of the `(`
    std::shared_ptr<const proto::CallPlan> plan; ///< never null
    bool has_rest = false;                       ///< some arguments are shown at the return only
    bool syscall = false;
    /// The short way to the text of a call; none where there is none.
    std::optional<PlainCall> plain;
  };

  explicit FunctionNames(FunctionNaming naming);

  void define(const ModuleDefinition& module);
  void define(const FunctionDefinition& function);
  void rebind(const FunctionRebound& rebound);

  /// Null for an id that was never defined. Names of modules are as they can be printed.
  const FunctionDefinition* definition(FunctionId id) const {
    return id < entries_.size() && entries_[id].function.plan ? &entries_[id].definition : nullptr;
  }
  /// Empty if not known.
  std::string soname(ModuleId module) const;

  /// The function of a record; one named `?` for an id that was never defined.
  const Function& called(FunctionId id) {
    if (id < entries_.size() && entries_[id].was_called) return entries_[id].function;
    return call_first(id);
  }

  /// How many functions were called; one that several modules call counts once.
  std::size_t called_count() const;

  struct Place {
    std::string name;
    std::string soname;
  };
  /// In which module each called function is, in the order of the first calls.
  std::vector<Place> called_places() const;

private:
  struct Entry {
    FunctionDefinition definition;
    bool was_called = false;
    Function function;
  };

  const Function& call_first(FunctionId id);
  void name_all(const std::vector<FunctionId>& namesakes);
  void name_syscall(Entry& entry);

  FunctionNaming naming_;
  std::unordered_map<ModuleId, std::string> sonames_;
  std::vector<Entry> entries_;                                         ///< by FunctionId
  std::vector<FunctionId> order_;                                      ///< of the first calls
  std::unordered_map<std::string, std::vector<FunctionId>> namesakes_; ///< called ones, by name
  Function unknown_;
  std::shared_ptr<const proto::CallPlan> unreadable_;
};

} // namespace sonictrace
