#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sonictrace/base/address.hpp"
#include "sonictrace/probe/image_cache.hpp"
#include "sonictrace/probe/selector.hpp"

namespace sonictrace {

/// A module of one process, as far as choosing probes is concerned.
struct ProbeModule {
  std::uint32_t id = 0;    ///< of this mapping of the file; unique in its list
  std::uint32_t batch = 0; ///< counted up with each dlopen; 0: there from the start
  unsigned name_space = 0;
  bool is_main = false;
  bool is_default = false; ///< its calls are traced when no selector is given
  std::string soname;      ///< or the base name of the file
  std::string path;
  LoadBias bias;
  std::shared_ptr<ParsedImage> parsed; ///< never null

  ModuleName name() const { return {soname, path, is_main}; }
};

/// A definition found in one of the modules.
struct FoundSymbol {
  const ProbeModule* module = nullptr; ///< null: nobody defines it
  const elf::Symbol* symbol = nullptr;

  TraceeAddress address() const { return module->bias.to_tracee(symbol->value); }
};

/// The modules of one process, in the order in which they were loaded, and the search for symbols
/// over them as the dynamic linker does it.
class ModuleList {
public:
  void add(ProbeModule module);
  void remove(std::uint32_t id);

  const std::vector<std::unique_ptr<ProbeModule>>& all() const { return modules_; }
  const ProbeModule* find(std::uint32_t id) const;

  /// To be called after the batch of a module in the list was changed.
  void forget_searches() {
    global_.clear();
    candidates_.clear();
  }

  /// What an import of `caller`, which is in the list, is bound to: the modules there from the
  /// start come first, then those that came with the caller, then the rest, all of its namespace
  /// (ld.so(8), dlopen(3): the global scope, then the local one). An approximation where
  /// RTLD_DEEPBIND or RTLD_LOCAL groups share a name; the engine corrects it at the first call.
  /// `name` and `version` are views into the caller's image.
  FoundSymbol resolve(const ProbeModule& caller, std::string_view name,
                      std::string_view version) const;

private:
  /// What a search is for. The views are into an image of the list.
  struct Wanted {
    std::string_view name, version;
    std::size_t hash; ///< of the name
    unsigned name_space;

    bool operator==(const Wanted&) const = default;
  };
  struct HashOfWanted {
    std::size_t operator()(const Wanted& wanted) const {
      return wanted.hash ^ wanted.version.size() << 8 ^ wanted.name_space;
    }
  };
  /// A module, as far as most searches need it: there are many.
  struct Candidate {
    elf::ExportFilter filter; ///< when it was first asked for
    const ProbeModule* module;
    std::uint32_t batch;
    unsigned name_space;
  };
  FoundSymbol search(const Wanted& wanted, const ProbeModule* only_batch_of, bool from_start) const;

  std::vector<std::unique_ptr<ProbeModule>> modules_;
  /// Results of the search over the start-up modules, which most imports end in.
  mutable std::unordered_map<Wanted, FoundSymbol, HashOfWanted> global_;
  mutable std::vector<Candidate> candidates_; ///< in the order of the list, or not made yet
};

} // namespace sonictrace
