#pragma once

#include <map>
#include <string>

#include "sonictrace/engine/recorder.hpp"
#include "sonictrace/probe/module_list.hpp"

namespace sonictrace {

/// Numbers the modules of a session for its sinks: a file has one id in all processes, however often
/// it is mapped.
class ModuleBook {
public:
  explicit ModuleBook(Recorder& recorder) : recorder_(recorder) {}

  ModuleId id_of(const ProbeModule& module);
  std::size_t size() const { return ids_.size(); }

private:
  Recorder& recorder_;
  std::map<std::string, ModuleId> ids_; ///< by path
};

} // namespace sonictrace
