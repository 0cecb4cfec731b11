#include "sonictrace/proto/conf_places.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "sonictrace/base/unique_fd.hpp"

namespace sonictrace::proto {
namespace {

constexpr std::string_view kExtension = ".conf";
constexpr const char* kSystemFile = "/etc/ltrace.conf";

/// What is between the colons; nothing of nothing.
std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    if (end > 0) parts.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

class RealFiles : public ConfFiles {
public:
  Result<std::string> read(const std::string& path) const override {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return Error::from_errno(path);
    std::string text;
    for (;;) {
      constexpr std::size_t kPiece = 65536;
      constexpr std::size_t kLargest = 16 << 20;
      if (text.size() > kLargest) return Error(std::errc::file_too_large, path);
      const std::size_t before = text.size();
      text.resize(before + kPiece);
      const ssize_t n = ::read(fd.get(), text.data() + before, kPiece);
      const int error = errno;
      text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
      if (n < 0 && error == EINTR) continue;
      if (n < 0) return Error(static_cast<std::errc>(error), path);
      if (n == 0) return text;
    }
  }

  Result<std::vector<std::string>> list(const std::string& directory) const override {
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(directory.c_str()), ::closedir);
    if (!stream) return Error::from_errno(directory);
    std::vector<std::string> names;
    while (const dirent* const entry = ::readdir(stream.get()))
      names.emplace_back(entry->d_name);
    return names;
  }
};

/// Is there just nothing in that place?
bool is_absence(const Error& error) {
  // Permission denied: it is somebody else's home, as with su(1) or -u.
  return error.is(std::errc::no_such_file_or_directory) || error.is(std::errc::not_a_directory) ||
         error.is(std::errc::permission_denied);
}

/// The module that NAME.conf is about; empty where it is not called so.
std::string_view module_of(std::string_view name) {
  const std::size_t end = name.size() - std::min(name.size(), kExtension.size());
  return name.substr(end) == kExtension ? name.substr(0, end) : std::string_view();
}

class Loader {
public:
  Loader(const ConfOptions& options, const ConfFiles& files)
      : dialect_(options.ltrace ? Dialect::Ltrace07 : Dialect::Current), files_(files) {}

  Result<LoadedPrototypes> load(const std::vector<ConfPlace>& places) {
    for (const ConfPlace& place : places)
      if (place.kind != ConfPlace::Kind::BuiltIn) add_directory_of_imports(place);
    loaded_.library.set_importer([this](std::string_view name) { return find_import(name); });
    for (const ConfPlace& place : places) {
      const auto added = add(place);
      if (added || (!place.asked_for && is_absence(added.error()))) continue;
      if (dialect_ == Dialect::Ltrace07) continue; // it says nothing
      if (place.asked_for) return added.error();
      loaded_.errors.push_back(added.error().message());
    }
    loaded_.library.set_importer({});
    return std::move(loaded_);
  }

private:
  void add_directory_of_imports(const ConfPlace& place) {
    if (place.kind != ConfPlace::Kind::File) directories_.push_back(place.path);
  }

  /// `import "NAME";`: NAME.conf of any of the directories.
  std::optional<PrototypeLibrary::Conf> find_import(std::string_view name) const {
    if (name.find('/') != std::string_view::npos) return std::nullopt;
    for (const std::string& directory : directories_) {
      const std::string path = directory + "/" + std::string(name) + std::string(kExtension);
      if (auto text = files_.read(path)) return PrototypeLibrary::Conf{path, *std::move(text)};
    }
    return std::nullopt;
  }

  Result<void> add(const ConfPlace& place) {
    switch (place.kind) {
      case ConfPlace::Kind::BuiltIn: loaded_.library.add_built_in(); return {};
      case ConfPlace::Kind::File: return add_file(place.path, {});
      case ConfPlace::Kind::Directory: return add_directory(place.path);
      case ConfPlace::Kind::Either: break;
    }
    auto added = add_directory(place.path);
    if (!added && added.error().is(std::errc::not_a_directory)) return add_file(place.path, {});
    return added;
  }

  Result<void> add_directory(const std::string& directory) {
    auto names = files_.list(directory);
    if (!names) return std::move(names).error();
    std::sort(names->begin(), names->end());
    for (const std::string& name : *names) {
      const std::string_view module = module_of(name);
      if (module.empty()) continue;
      const auto added = add_file(directory + "/" + name, module);
      if (!added) loaded_.errors.push_back(added.error().message());
    }
    return {};
  }

  Result<void> add_file(const std::string& path, std::string_view module) {
    const auto text = files_.read(path);
    if (!text) return text.error();
    const auto errors = loaded_.library.add(*text, path, module, dialect_);
    loaded_.errors.insert(loaded_.errors.end(), errors.begin(), errors.end());
    return {};
  }

  const Dialect dialect_;
  const ConfFiles& files_;
  std::vector<std::string> directories_;
  LoadedPrototypes loaded_;
};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

using Kind = ConfPlace::Kind;

/// ltrace 0.7.3's. The last prototype of a name counts, so the system's file comes first.
std::vector<ConfPlace> places_of_ltrace(const ConfOptions& options) {
  std::vector<ConfPlace> places;
  for (const std::string& file : options.files)
    places.push_back({Kind::File, file, true});
  if (!options.files.empty()) return places;
  places.push_back({Kind::File, kSystemFile, false});
  if (!options.environment.home.empty())
    places.push_back({Kind::File, options.environment.home + "/.ltrace.conf", false});
  return places;
}

} // namespace

ConfEnvironment ConfEnvironment::of_this_process() {
  return {variable("HOME"), variable("XDG_CONFIG_HOME"), variable("XDG_CONFIG_DIRS")};
}

std::vector<ConfPlace> conf_places(const ConfOptions& options) {
  if (options.ltrace) return places_of_ltrace(options);
  const ConfEnvironment& environment = options.environment;
  // The XDG base directory specification: relative paths are invalid, and to be ignored.
  std::string home = environment.xdg_config_home;
  if (home.empty() || home[0] != '/')
    home = environment.home.empty() ? "" : environment.home + "/.config";
  std::vector<std::string> systems;
  for (const std::string& directory : split(environment.xdg_config_dirs))
    if (directory[0] == '/') systems.push_back(directory);
  if (systems.empty()) systems.emplace_back("/etc/xdg");

  std::vector<ConfPlace> places;
  for (const std::string& value : options.files)
    for (const std::string& path : split(value))
      places.push_back({Kind::Either, path, true});
  if (!home.empty()) places.push_back({Kind::Directory, home + "/sonictrace", false});
  for (const std::string& system : systems)
    places.push_back({Kind::Directory, system + "/sonictrace", false});
  if (!home.empty()) places.push_back({Kind::Directory, home + "/ltrace", false});
  if (!environment.home.empty()) {
    places.push_back({Kind::Directory, environment.home + "/.ltrace", false});
    places.push_back({Kind::File, environment.home + "/.ltrace.conf", false});
  }
  for (const std::string& system : systems)
    places.push_back({Kind::Directory, system + "/ltrace", false});
  places.push_back({Kind::BuiltIn, "", false});
  // What ltrace's packages bring says less of a function than ours.
  places.push_back({Kind::Directory, "/usr/share/ltrace", false});
  places.push_back({Kind::File, kSystemFile, false});
  return places;
}

Result<LoadedPrototypes> load_prototypes(const ConfOptions& options, const ConfFiles& files) {
  std::vector<ConfPlace> places = conf_places(options);
  // Where ltrace is not installed, a poor trace would be nobody's wish.
  if (options.ltrace && options.files.empty() && !files.read(kSystemFile))
    places.push_back({Kind::BuiltIn, "", false});
  auto loaded = Loader(options, files).load(places);
  if (loaded && !options.ltrace) loaded->library.read_names();
  return loaded;
}

Result<LoadedPrototypes> load_prototypes(const ConfOptions& options) {
  return load_prototypes(options, RealFiles());
}

} // namespace sonictrace::proto
