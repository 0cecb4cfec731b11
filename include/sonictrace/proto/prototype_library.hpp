#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sonictrace/base/result.hpp"
#include "sonictrace/proto/prototype.hpp"

namespace sonictrace::proto {

/// Prototypes by function name, read from .conf files.
class PrototypeLibrary {
public:
  /// Those that are built into the program (src/proto/prototypes/*.conf).
  static PrototypeLibrary built_in();

  /// Adds the prototypes of one .conf text, in the subset of ltrace.conf's grammar that
  /// docs/LOG-FORMAT.md names. Each malformed line costs that line only and is reported as
  /// `FILE:LINE:COLUMN: what`; an earlier prototype of the same name stays.
  std::vector<std::string> add(std::string_view text, std::string_view file);

  /// Never null: Prototype::unknown() where none is known. `name` is the mangled name.
  std::shared_ptr<const Prototype> find(std::string_view name) const;
  std::size_t size() const { return by_name_.size(); }

private:
  std::unordered_map<std::string, std::shared_ptr<const Prototype>> by_name_;
};

} // namespace sonictrace::proto
