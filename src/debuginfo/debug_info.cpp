#include "sonictrace/debuginfo/debug_info.hpp"

#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "debuginfo/debug_file_finder.hpp"
#include "debuginfo/fetcher.hpp"
#include "debuginfo/function_reader.hpp"

namespace sonictrace {
namespace debuginfo {
namespace {

/// One file, and what has been read of it.
struct Module {
  ModuleFile file;
  std::unique_ptr<DebugFile> debug_file; ///< null: there is none
  std::optional<UnitTable> units;
  std::optional<FunctionReader> reader;
  std::map<std::pair<std::uint64_t, std::string>, std::optional<proto::Prototype>> functions;
  bool has_told_of_missing = false;
};

} // namespace
} // namespace debuginfo

struct DebugInfo::Parts {
  explicit Parts(DebugInfoOptions wanted)
      : options(std::move(wanted)), budget(options.reading_time), fetcher(options.fetching_time),
        finder(options.directories, fetch()) {}

  debuginfo::DebugFileFinder::Fetch fetch() {
    if (!options.may_fetch || !debuginfo::has_servers()) return {};
    return [this](const std::string& build_id) { return fetcher.fetch(build_id); };
  }

  debuginfo::Module& module_of(const ModuleFile& file);
  const proto::Prototype* find(const ModuleFile& file, std::string_view symbol, ElfAddress address);
  void tell_of_time(const ModuleFile& file);

  DebugInfoOptions options;
  debuginfo::Budget budget;
  debuginfo::Fetcher fetcher;
  debuginfo::DebugFileFinder finder;
  proto::TypeArena arena;
  std::unordered_map<const elf::Image*, std::unique_ptr<debuginfo::Module>> modules;
  std::vector<std::string> notes;
  bool has_told_of_time = false;
};

debuginfo::Module& DebugInfo::Parts::module_of(const ModuleFile& file) {
  auto& module = modules[file.image.get()];
  if (module) return *module;
  module = std::make_unique<debuginfo::Module>();
  module->file = file;
  module->debug_file = finder.find(file, budget);
  module->file.open = {};
  if (!module->debug_file) return *module;
  module->units.emplace(module->debug_file->dwarf(), budget);
  module->reader.emplace(arena, *module->units);
  return *module;
}

void DebugInfo::Parts::tell_of_time(const ModuleFile& file) {
  if (std::exchange(has_told_of_time, true)) return;
  notes.push_back(file.path + ": there is more debug information than can be read in time; some "
                              "prototypes come from elsewhere");
}

const proto::Prototype* DebugInfo::Parts::find(const ModuleFile& file, std::string_view symbol,
                                               ElfAddress address) {
  debuginfo::Module& module = module_of(file);
  if (!module.reader) {
    if (budget.has_refused()) tell_of_time(file);
    return nullptr;
  }
  const auto [known, is_new] = module.functions.try_emplace({address.value(), std::string(symbol)});
  if (is_new) {
    const debuginfo::Budget::Spending spending(budget);
    if (!budget.is_over()) known->second = module.reader->read(symbol, address.value());
    if (!known->second && budget.is_over()) tell_of_time(file);
    if (!known->second && module.units->missing_units() > 0 &&
        !std::exchange(module.has_told_of_missing, true))
      notes.push_back(
          file.path +
          ": its debug information is split (-gsplit-dwarf), and .dwo files are missing");
  }
  return known->second ? &*known->second : nullptr;
}

DebugInfo::DebugInfo(DebugInfoOptions options)
    : parts_(std::make_unique<Parts>(std::move(options))) {}
DebugInfo::DebugInfo(DebugInfo&&) noexcept = default;
DebugInfo& DebugInfo::operator=(DebugInfo&&) noexcept = default;
DebugInfo::~DebugInfo() = default;

const proto::Prototype* DebugInfo::find(const ModuleFile& module, std::string_view symbol,
                                        ElfAddress address) {
  if (!parts_->options.is_used || !module.image) return nullptr;
  return parts_->find(module, symbol, address);
}

std::vector<std::string> DebugInfo::take_notes() { return std::exchange(parts_->notes, {}); }

} // namespace sonictrace
