#include "proto/parser_scope.hpp"

#include <algorithm>

namespace sonictrace::proto {
namespace {

/// Texts may import each other in circles.
using Visited = std::vector<const ConfScope*>;

const KnownType* find_imported(const ConfScope& scope, std::string_view name, Visited& visited) {
  if (std::find(visited.begin(), visited.end(), &scope) != visited.end()) return nullptr;
  visited.push_back(&scope);
  if (const KnownType* const own = scope.find_own(name)) return own;
  for (const ConfScope* const imported : scope.imports())
    if (const KnownType* const found = find_imported(*imported, name, visited)) return found;
  return nullptr;
}

} // namespace

const KnownType* ConfScope::find(std::string_view name) const {
  if (imports_.empty()) return find_own(name);
  Visited visited;
  return find_imported(*this, name, visited);
}

const KnownType* ConfScope::find_own(std::string_view name) const {
  const auto found = own_.find(name);
  return found == own_.end() ? nullptr : &found->second;
}

KnownType* ConfScope::find_own(std::string_view name) {
  const auto found = own_.find(name);
  return found == own_.end() ? nullptr : &found->second;
}

void ConfScope::define(std::string_view name, const KnownType& type) {
  own_.insert_or_assign(std::string(name), type);
}

} // namespace sonictrace::proto
