#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonictrace/base/result.hpp"
#include "sonictrace/proto/prototype_library.hpp"

namespace sonictrace::proto {

/// The variables that say where a user's files are; empty where one is not set.
struct ConfEnvironment {
  std::string home;            ///< HOME
  std::string xdg_config_home; ///< XDG_CONFIG_HOME
  std::string xdg_config_dirs; ///< XDG_CONFIG_DIRS

  static ConfEnvironment of_this_process();
};

struct ConfOptions {
  std::vector<std::string> files; ///< each value of -F, as given
  bool ltrace = false;            ///< read what ltrace 0.7.3 reads, as it reads it
  ConfEnvironment environment;
};

/// Where prototypes come from.
struct ConfPlace {
  enum class Kind : std::uint8_t {
    File,
    Directory, ///< of SONAME.conf files
    Either,
    BuiltIn, ///< the ones in the program itself
  };
  Kind kind = Kind::File;
  std::string path;
  bool asked_for = false; ///< by -F: it has to be there

  bool operator==(const ConfPlace&) const = default;
};

/// All places, in the order in which they count. Most of them do not exist.
std::vector<ConfPlace> conf_places(const ConfOptions& options);

/// The files there are: a test has its own.
class ConfFiles {
public:
  virtual ~ConfFiles() = default;
  /// All of a file.
  virtual Result<std::string> read(const std::string& path) const = 0;
  /// The names in a directory, in any order; fails with not_a_directory for anything else.
  virtual Result<std::vector<std::string>> list(const std::string& directory) const = 0;
};

struct LoadedPrototypes {
  PrototypeLibrary library;
  std::vector<std::string>
      errors; ///< a line each: faults in files, which cost no more than a prototype
};

/// Reads all prototypes. Fails where a file or directory that -F asks for can't be read (never with
/// `ltrace`: ltrace 0.7.3 says nothing then).
Result<LoadedPrototypes> load_prototypes(const ConfOptions& options);
Result<LoadedPrototypes> load_prototypes(const ConfOptions& options, const ConfFiles& files);

} // namespace sonictrace::proto
