#pragma once

#include <string>

#include "sonictrace/base/result.hpp"
#include "sonictrace/proto/prototype_library.hpp"

namespace sonictrace {

/// For --list-prototypes: all of them, each behind a comment that says where it is from. `library`:
/// only those of a soname, or of a glob of them; of a path (with a `/`) what is known of each
/// function that the file exports. Empty: all. Fails where nothing is known of it, or the file
/// can't be read.
Result<std::string> list_prototypes(const proto::PrototypeLibrary& prototypes,
                                    const std::string& library);

} // namespace sonictrace
