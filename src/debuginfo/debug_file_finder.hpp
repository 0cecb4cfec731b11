#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "debuginfo/debug_file.hpp"
#include "sonictrace/debuginfo/debug_info.hpp"

namespace sonictrace::debuginfo {

/// Finds the file with a module's debug information: the module itself, or a separate one by its
/// build ID or its .gnu_debuglink; as GDB's manual has it under "Separate Debug Files".
class DebugFileFinder {
public:
  /// Fetches by build ID, and returns a path; empty: there is none.
  using Fetch = std::function<std::string(const std::string& build_id)>;

  DebugFileFinder(std::vector<std::string> directories, Fetch fetch)
      : directories_(std::move(directories)), fetch_(std::move(fetch)) {}

  /// Null where there is none.
  std::unique_ptr<DebugFile> find(const ModuleFile& module, Budget& budget) const;

private:
  std::unique_ptr<DebugFile> find_own(const ModuleFile& module, const Budget& budget) const;
  std::unique_ptr<DebugFile> find_by_build_id(const std::string& build_id, bool is_shared,
                                              const Budget& budget) const;
  std::unique_ptr<DebugFile> find_by_link(const ModuleFile& module, const Budget& budget) const;
  std::unique_ptr<DebugFile> find_shared(const DebugFile& of, const Budget& budget) const;

  std::vector<std::string> directories_;
  Fetch fetch_;
};

} // namespace sonictrace::debuginfo
