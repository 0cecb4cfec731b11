#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sonictrace::log {

/// The number of a function in a FunctionTable.
using FunctionId = std::uint32_t;

/// What a log says about a function besides its calls.
struct Function {
  std::string name;   ///< without @SONAME; of `SYS_read` and `read@SYS`: `read`
  std::string module; ///< of NAME@SONAME or `NAME is in SONAME`; `SYS` of a system call; else empty
  bool is_syscall = false;
  std::uint64_t thinned_calls = 0; ///< counted, and not in the log
  std::uint64_t thinned_ns = 0;

  bool operator==(const Function&) const = default;
};

class ModuleMap;
class NameTable;

/// The functions of a log. Bounded: behind the capacity, all further ones are kOtherFunctions.
class FunctionTable {
public:
  static constexpr FunctionId kOtherFunctions = 0;
  static constexpr std::size_t kCapacity = 50'000;

  FunctionTable();
  /// `modules`, which may be null: where a function is in that the log does not say it of.
  explicit FunctionTable(std::shared_ptr<const ModuleMap> modules);
  FunctionTable(FunctionTable&&) noexcept;
  FunctionTable& operator=(FunctionTable&&) noexcept;
  ~FunctionTable();

  /// `name`: as a line has it, NAME or NAME@SONAME. Added where it is new.
  FunctionId find_or_add(std::string_view name);
  /// `NAME is in SONAME`: the first such of a NAME is the one of the lines that say NAME alone.
  void set_module(std::string_view name, std::string_view module);

  /// Of the lines that say NAME alone: what the log has said about where they are in.
  ModuleMap told_modules() const;

  std::size_t size() const { return functions_.size(); }
  const Function& operator[](FunctionId id) const { return functions_[id]; }
  Function& operator[](FunctionId id) { return functions_[id]; }
  /// Not every function has a place of its own.
  bool has_overflowed() const { return overflowed_; }

private:
  std::unique_ptr<NameTable> names_;
  std::shared_ptr<const ModuleMap> modules_;
  std::vector<FunctionId> told_;  ///< whose modules lines of their own have said
  std::vector<bool> is_from_map_; ///< by function, those up to the last one whose module is
  std::vector<Function> functions_;
  bool overflowed_ = false;
};

} // namespace sonictrace::log
