#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

namespace sonictrace {

namespace proto {
struct CallPlan;
}

using ModuleId = std::uint32_t;
using FunctionId = std::uint32_t;
constexpr ModuleId kNoModule = ~ModuleId{0};

struct ModuleDefinition {
  ModuleId id = kNoModule;
  std::string soname; ///< or the base name of the file
  std::string path;
};

/// What is called, at one kind of place. A function called from two modules has two definitions.
struct FunctionDefinition {
  FunctionId id = 0;
  std::string mangled;
  ModuleId caller = kNoModule; ///< whose PLT entry or call site it is; kNoModule for -x
  ModuleId implemented_by = kNoModule;
  bool entry = false; ///< by -x: written NAME@SONAME unless in the main program
  bool entry_in_main = false;
  bool syscall = false;                        ///< a system call: no module, no caller
  std::shared_ptr<const proto::CallPlan> plan; ///< never null
};

/// The module that implements a function turned out to be another one (lazy binding).
struct FunctionRebound {
  FunctionId id = 0;
  ModuleId implemented_by = kNoModule;
  /// What is captured of its calls is what another module's function has, and can't be shown.
  bool is_misread = false;
};

/// A place in code that a backtrace goes through, before the first that does. An id that is known
/// already means this place from now on.
struct FrameDefinition {
  std::uint32_t id = 0;
  std::uint64_t address = 0;
  std::string soname;   ///< of the module, or its base name; empty: in none
  std::string function; ///< mangled; empty: not known
  std::uint64_t offset =
      0; ///< from the function's start, or from the module's where that is not known
  /// A line of a Python function, which `function` names; of what is above nothing else is set.
  bool is_python = false;
  std::string file = {};
  std::uint32_t line = 0; ///< 0: not known
};

struct ThreadStarted {
  pid_t pid = 0, tid = 0;
  std::uint64_t time_ns = 0; ///< CLOCK_REALTIME, here and below
  bool first = false;        ///< the first thread of the session's first process
};

/// A followed child process. Its calls that are open are those of the thread it was born in:
/// records of kind Return follow with its tid and the `call` of copies announced by
/// `InheritedCall`.
struct InheritedCall {
  pid_t tid = 0;
  FunctionId function = 0;
  std::uint64_t call = 0;
  std::uint16_t depth = 1;
  std::uint64_t parent_call = 0; ///< the parent's open call that this is a copy of
};

struct ThreadEnded {
  pid_t tid = 0;
  std::uint64_t time_ns = 0;
  int status = 0; ///< exit status & 0xff, or the signal that killed it
  bool killed = false;
  bool whole_process = false; ///< the last thread of its process
};

struct SignalDelivered {
  pid_t tid = 0;
  std::uint64_t time_ns = 0;
  int signal = 0;
  std::uint64_t instruction = 0; ///< rip at its delivery, for -i
};

/// The process replaced its program. Its other threads are gone; open calls do not return.
struct ProgramReplaced {
  pid_t tid = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t instruction = 0; ///< rip of the new program, for -i; 0: not known
};

/// A line of ours in the log: `+++ TEXT +++`.
struct Remark {
  std::uint64_t time_ns = 0;
  std::string text;
};

using Definition = std::variant<ModuleDefinition, FunctionDefinition, FunctionRebound,
                                FrameDefinition, ThreadStarted, InheritedCall, ThreadEnded,
                                SignalDelivered, ProgramReplaced, Remark>;

} // namespace sonictrace
