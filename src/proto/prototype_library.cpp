#include "sonictrace/proto/prototype_library.hpp"

#include <utility>

#include "proto/built_in.hpp"
#include "proto/parser.hpp"
#include "sonictrace/base/check.hpp"

namespace sonictrace::proto {

PrototypeLibrary PrototypeLibrary::built_in() {
  PrototypeLibrary library;
  for (const ConfText& conf : built_in_confs()) {
    const auto errors = library.add(conf.text, conf.file);
    SONICTRACE_CHECK(errors.empty(), errors.front().c_str());
  }
  return library;
}

std::vector<std::string> PrototypeLibrary::add(std::string_view text, std::string_view file) {
  ParsedConf parsed = parse_conf(text, file);
  for (Prototype& prototype : parsed.prototypes) {
    std::string name = prototype.name;
    by_name_.try_emplace(std::move(name), std::make_shared<const Prototype>(std::move(prototype)));
  }
  return std::move(parsed.errors);
}

std::shared_ptr<const Prototype> PrototypeLibrary::find(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  return found == by_name_.end() ? Prototype::unknown() : found->second;
}

} // namespace sonictrace::proto
