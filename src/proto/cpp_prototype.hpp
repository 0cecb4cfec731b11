#pragma once

#include <optional>
#include <string_view>

#include "sonictrace/names/scope_facts.hpp"
#include "sonictrace/proto/prototype.hpp"

namespace sonictrace::proto {

class CppPack;

/// The prototype that a mangled name of C++ tells; nothing where it tells none. Types are made in
/// `arena`. What the name does not tell (a hidden `this`, a result in memory, how large a class is
/// that is passed by value) becomes readings, unless `pack`, which is about the function's library,
/// says it, or `scopes`, what the names around it tell: docs/PROTOTYPES.md says how they are told
/// apart.
std::optional<Prototype> prototype_of_name(std::string_view mangled, TypeArena& arena,
                                           const CppPack* pack = nullptr,
                                           const names::ScopeFacts* scopes = nullptr);

} // namespace sonictrace::proto
