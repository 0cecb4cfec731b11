#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sonictrace::names {

/// A name as rustc wrote it before the v0 scheme: of Itanium's form, the last part a hash that is
/// left out here, with escapes for what Itanium does not allow in names. Nothing where `mangled` is
/// not one.
std::optional<std::string> demangle_rust_legacy(std::string_view mangled);

} // namespace sonictrace::names
