#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sonictrace/base/address.hpp"
#include "sonictrace/base/result.hpp"
#include "sonictrace/base/unique_fd.hpp"
#include "sonictrace/elf/image.hpp"
#include "sonictrace/proto/prototype.hpp"

namespace sonictrace {

struct DebugInfoOptions {
  bool is_used = true; ///< off: nothing is ever looked for
  /// Where separate debug files are looked for, besides the module's own directory.
  std::vector<std::string> directories = {"/usr/lib/debug"};
  /// Ask the servers of DEBUGINFOD_URLS, where there are any.
  bool may_fetch = false;
  /// For all modules together. The traced program waits meanwhile.
  std::chrono::milliseconds reading_time{1000};
  std::chrono::milliseconds fetching_time{15'000};
};

/// A file whose debug information is asked for.
struct ModuleFile {
  std::shared_ptr<const elf::Image> image;
  std::string path; ///< its directory is where a separate file may be
  std::function<Result<UniqueFd>()> open;
};

/// Prototypes of functions from the debug information (DWARF) of the modules that define them, read
/// a function at a time. Nothing is looked at before somebody asks. For one thread.
class DebugInfo {
public:
  explicit DebugInfo(DebugInfoOptions options);
  DebugInfo(DebugInfo&&) noexcept;
  DebugInfo& operator=(DebugInfo&&) noexcept;
  ~DebugInfo();

  /// Null where nothing is known of it, or not all that is needed to read its calls. Valid as long
  /// as this object. `address`: the function's first instruction, of which `symbol` is a name.
  const proto::Prototype* find(const ModuleFile& module, std::string_view symbol,
                               ElfAddress address);

  /// What a user should know: a line each, once.
  std::vector<std::string> take_notes();

private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

} // namespace sonictrace
