#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/parser_scope.hpp"
#include "sonictrace/base/result.hpp"
#include "sonictrace/proto/prototype.hpp"
#include "sonictrace/proto/prototype_library.hpp"

namespace sonictrace::proto {

struct ParsedConf {
  std::vector<Prototype> prototypes; ///< in the order of the text
  std::vector<std::string> errors;   ///< `FILE:LINE:COLUMN: error: what`; each cost its item
};

/// What a text is read with.
struct ConfContext {
  Dialect dialect = Dialect::Current;
  TypeArena& arena; ///< owns the types that the prototypes refer to
  ConfScope& scope; ///< the typedefs that the text may use; its own are added
  /// `import "NAME";`: the typedefs of that text. Empty: there is nothing to import.
  std::function<Result<const ConfScope*>(std::string_view name)> import;
};

/// Reads the text of one .conf file. docs/man/sonictrace.conf.5 has the grammar.
ParsedConf parse_conf(std::string_view text, std::string_view file, const ConfContext& context);

/// A prototype of which only the name was read.
struct DeferredPrototype {
  std::string_view name;
  std::string_view text; ///< of all of it: parse_conf() reads it, in the same scope
};

struct IndexedConf {
  std::vector<DeferredPrototype> prototypes;
  std::vector<std::string> errors; ///< in what was read
};

/// The same as parse_conf(), but reads typedefs and imports only: some ten times as fast. For texts
/// that are known to be free of faults. The result refers to `text`.
IndexedConf index_conf(std::string_view text, std::string_view file, const ConfContext& context);

} // namespace sonictrace::proto
