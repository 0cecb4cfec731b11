#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "sonictrace/base/address.hpp"
#include "sonictrace/base/result.hpp"
#include "sonictrace/elf/image.hpp"
#include "sonictrace/wire/python.hpp"

namespace sonictrace {

/// CPython's structures, if the image holds the interpreter (3.8 to 3.13): a program or
/// libpython3.*.so. By what the file says alone. Fails where it holds one that is not known, with
/// its version.
Result<std::optional<wire::PythonLayout>> python_layout(const elf::Image& image, LoadBias bias);

/// Of a version's `0x030b`: 3.11; nothing for one that is not known. Without the addresses. Of 3.13
/// and later the interpreter says it itself.
std::optional<wire::PythonLayout> known_python_layout(unsigned version);

/// What 3.13 says of itself, at the begin of _PyRuntime (struct _Py_DebugOffsets of
/// Include/internal/pycore_runtime.h); nothing where that does not make sense.
std::optional<wire::PythonLayout> python_layout_of_itself(std::span<const std::byte> offsets);

} // namespace sonictrace
