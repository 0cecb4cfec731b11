#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sonictrace::names {

/// A name of Rust's v0 scheme (RFC 2603): `_R...`. Without the hashes of crates, and without the
/// types of constants. Nothing where `mangled` is not one, or asks for endless work.
std::optional<std::string> demangle_rust_v0(std::string_view mangled);

} // namespace sonictrace::names
