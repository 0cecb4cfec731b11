#include "session/look_ahead.hpp"

#include <filesystem>
#include <set>

#include "sonictrace/process/mappings.hpp"

namespace sonictrace {
namespace {

/// Parses files, several at once, and waits for that.
void parse_modules(ProbeContext& context, pid_t pid) {
  const auto mappings = read_mappings(pid);
  if (!mappings) return;
  std::error_code ignored;
  const auto program =
      std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", ignored);
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen; // device and inode
  std::vector<std::shared_ptr<ParsedImage>> wanted;
  for (const auto& mapping : *mappings) {
    if (!mapping.executable || mapping.inode == 0) continue;
    if (!seen.insert({mapping.device, mapping.inode}).second) continue;
    const auto file = open_mapped_file(pid, mapping);
    if (!file) continue;
    auto image = context.images.get(*file, mapping.path);
    if (!image) continue;
    const std::string base = std::filesystem::path(mapping.path).filename().string();
    const std::string_view soname = (*image)->image().soname();
    const ModuleName name{soname.empty() ? base : soname, mapping.path, program == mapping.path};
    if (context.selectors.uses_default() || context.selectors.may_select_calls_of(name))
      wanted.push_back(*std::move(image));
  }
  context.images.prefetch(wanted);
  for (const auto& image : wanted)
    (void)image->calls();
}

} // namespace

std::unique_ptr<SpaceModules> look_ahead(ProbeContext& context, pid_t pid) {
  auto space = AddressSpace::open(pid);
  if (!space) return nullptr;
  parse_modules(context, pid);
  auto modules = SpaceModules::open_ahead(context, *std::move(space));
  if (!modules) return nullptr;
  (*modules)->look_ahead(Occasion::Attached);
  return *std::move(modules);
}

} // namespace sonictrace
