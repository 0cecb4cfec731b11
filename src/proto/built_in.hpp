#pragma once

#include <span>
#include <string_view>

namespace sonictrace::proto {

struct ConfText {
  std::string_view file;
  std::string_view text;
};

/// src/proto/prototypes/*.conf as they stood when the program was built.
std::span<const ConfText> built_in_confs();
/// src/proto/prototypes/*.pack: see CppPack.
std::span<const ConfText> built_in_packs();

} // namespace sonictrace::proto
