#include "sonictrace/probe/selector.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <unordered_map>
#include <utility>

#include "probe/selector_rule.hpp"

namespace sonictrace {

namespace {

using RuleId = std::uint32_t;

/// A module that was asked about, with which rules it fits: a program has thousands of functions
/// for each module, so that this is looked up and not matched again.
struct KnownModule {
  std::string soname;
  std::string path;
  bool is_main = false;
  std::vector<bool> as_caller;  ///< by rule
  std::vector<bool> as_library; ///< by rule

  bool is(const ModuleName& name) const {
    return is_main == name.is_main && path == name.path && soname == name.soname;
  }
};

/// All rules for one kind of question: may this call, or this entry, be traced?
class RuleTable {
public:
  explicit RuleTable(bool mangled_only) : mangled_only_(mangled_only) {}

  void add(SelectorFilter filter) {
    const auto owner = static_cast<std::uint32_t>(filters_.size());
    const auto begin = static_cast<RuleId>(rules_.size());
    for (SelectorRule& rule : filter.rules) {
      const auto id = static_cast<RuleId>(rules_.size());
      if (const std::string* name = rule.symbol.literal())
        by_name_[*name].push_back(id);
      else if (rule.symbol.is_everything())
        any_name_.push_back(id);
      else
        patterns_.push_back(id);
      rules_.push_back({std::move(rule), owner, filter.option, false, false, false});
    }
    filters_.push_back({filter.from_all, begin, static_cast<RuleId>(rules_.size())});
  }

  bool empty() const { return filters_.empty(); }

  /// `caller` and `library` may be null: not known; a rule that asks for it then doesn't match.
  bool selects(const ModuleName* caller, const FunctionName& function, const ModuleName* library) {
    const KnownModule* calling = caller == nullptr ? nullptr : &known(*caller, last_caller_);
    const KnownModule* having = library == nullptr ? nullptr : &known(*library, last_library_);
    decisive_.assign(filters_.size(), -1);

    for (const RuleId id : any_name_)
      if (modules_fit(id, calling, having) && !(function.is_place && rules_[id].rule.adds))
        note_match(id);
    note_named(function.mangled, calling, having);
    const bool has_other_name = !mangled_only_ && function.short_name != function.mangled;
    if (has_other_name) note_named(function.short_name, calling, having);
    for (const RuleId id : patterns_) {
      if (!modules_fit(id, calling, having)) continue;
      if (function.is_place && rules_[id].rule.adds && !rules_[id].rule.names_places()) continue;
      const NamePattern& symbol = rules_[id].rule.symbol;
      if (symbol.matches(function.mangled) ||
          (has_other_name && symbol.matches(function.short_name)))
        note_match(id);
    }

    // Filters are united; in each the last rule that matched decides.
    for (std::size_t i = 0; i < filters_.size(); ++i) {
      const bool selected = decisive_[i] < 0
                                ? filters_[i].from_all && !function.is_place
                                : rules_[static_cast<std::size_t>(decisive_[i])].rule.adds;
      if (selected) return true;
    }
    return false;
  }

  void see_module(const ModuleName& module) {
    (void)known(module, last_caller_);
    last_library_ = last_caller_;
  }

  /// Whether a call could be selected if the right module implemented it.
  bool may_select_call(const ModuleName& caller, const FunctionName& function) {
    const KnownModule& module = known(caller, last_caller_);
    const auto adds = [&](RuleId id) { return rules_[id].rule.adds && module.as_caller[id]; };
    const auto adds_named = [&](std::string_view name) {
      const auto found = by_name_.find(name);
      return found != by_name_.end() &&
             std::any_of(found->second.begin(), found->second.end(), adds);
    };
    const auto is_wide = [](const Filter& filter) { return filter.from_all; };
    if (std::any_of(filters_.begin(), filters_.end(), is_wide)) return true;
    if (std::any_of(any_name_.begin(), any_name_.end(), adds)) return true;
    if (adds_named(function.mangled) || adds_named(function.short_name)) return true;
    return std::any_of(patterns_.begin(), patterns_.end(), [&](RuleId id) {
      const NamePattern& symbol = rules_[id].rule.symbol;
      return adds(id) && (symbol.matches(function.mangled) || symbol.matches(function.short_name));
    });
  }

  bool may_select_calls_of(const ModuleName& caller) {
    const KnownModule& module = known(caller, last_caller_);
    return may_select([&](RuleId id) { return module.as_caller[id]; },
                      [&](RuleId id) { return rules_[id].rule.library.is_everything(); });
  }

  bool may_select_entries_of(const ModuleName& owner) {
    const KnownModule& module = known(owner, last_library_);
    const auto fits = [&](RuleId id) { return module.as_library[id]; };
    return may_select(fits, fits);
  }

  bool names_places() const {
    return std::any_of(rules_.begin(), rules_.end(), [](const Entry& entry) {
      return entry.rule.adds && entry.rule.names_places();
    });
  }

  bool shows_caller() const {
    return std::any_of(rules_.begin(), rules_.end(),
                       [](const Entry& entry) { return entry.rule.names_caller; });
  }

  void describe_unmatched(std::vector<std::string>& lines) const {
    for (const Entry& entry : rules_)
      // What matches everything may never have been asked: `-e '-*'` needs no look at functions.
      if (!entry.matched && !entry.rule.is_everything()) lines.push_back(describe(entry));
  }

private:
  struct Entry {
    SelectorRule rule;
    std::uint32_t filter;
    FilterOption option;
    bool matched;         ///< a function
    bool caller_matched;  ///< a module that was asked about
    bool library_matched; ///< a module that was asked about
  };
  struct Filter {
    bool from_all;
    RuleId begin;
    RuleId end;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  /// `last` is where the same question was answered before; most come in long rows.
  const KnownModule& known(const ModuleName& name, const KnownModule*& last) {
    if (last != nullptr && last->is(name)) return *last;
    auto& same_path = modules_[std::string(name.path)];
    for (const KnownModule& module : same_path)
      if (module.is(name)) return *(last = &module);
    KnownModule module{std::string(name.soname), std::string(name.path), name.is_main, {}, {}};
    for (Entry& entry : rules_) {
      module.as_caller.push_back(entry.rule.caller.matches(name));
      module.as_library.push_back(entry.rule.library.matches(name));
      entry.caller_matched = entry.caller_matched || module.as_caller.back();
      entry.library_matched = entry.library_matched || module.as_library.back();
    }
    same_path.push_back(std::move(module));
    return *(last = &same_path.back());
  }

  bool modules_fit(RuleId id, const KnownModule* caller, const KnownModule* library) const {
    const SelectorRule& rule = rules_[id].rule;
    return (caller != nullptr ? caller->as_caller[id] : rule.caller.is_everything()) &&
           (library != nullptr ? library->as_library[id] : rule.library.is_everything());
  }

  void note_named(std::string_view name, const KnownModule* caller, const KnownModule* library) {
    if (by_name_.empty()) return;
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return;
    for (const RuleId id : found->second)
      if (modules_fit(id, caller, library)) note_match(id);
  }

  void note_match(RuleId id) {
    rules_[id].matched = true;
    std::int64_t& decisive = decisive_[rules_[id].filter];
    decisive = std::max<std::int64_t>(decisive, id);
  }

  /// `module_fits` tells whether a rule can match in a module at all, `certain` whether it does so
  /// whatever the other module is.
  template <class Fits, class Certain>
  bool may_select(const Fits& module_fits, const Certain& certain) const {
    for (const Filter& filter : filters_) {
      bool selects = filter.from_all;
      // From the last rule on, since it has the last word.
      for (RuleId id = filter.end; id > filter.begin; --id) {
        const SelectorRule& rule = rules_[id - 1].rule;
        if (!module_fits(id - 1)) continue;
        if (rule.adds) {
          selects = true;
          break;
        }
        if (rule.symbol.is_everything() && certain(id - 1)) { // none before it counts
          selects = false;
          break;
        }
      }
      if (selects) return true;
    }
    return false;
  }

  static std::string describe(const Entry& entry) {
    const SelectorRule& rule = entry.rule;
    std::string line = std::string(to_string(entry.option)) + " '" + rule.text + "': ";
    if (!entry.caller_matched && !rule.caller_text.empty())
      return line + "no module is named " + rule.caller_text + advice(rule.caller_text);
    if (!entry.library_matched && !rule.library_text.empty())
      return line + "no module is named " + rule.library_text + advice(rule.library_text);
    return line + "matched no function";
  }

  static std::string advice(const std::string& name) {
    const bool is_regex = name.size() > 1 && name.front() == '/' && name.back() == '/';
    if (is_regex || name.find_first_of("+-") == std::string::npos) return {};
    return "; + and - belong to the name of a module: to begin another rule write a comma";
  }

  bool mangled_only_;
  std::vector<Filter> filters_;
  std::vector<Entry> rules_;
  // The rules by what their symbol is, so that a few hundred plain names cost one look-up.
  std::unordered_map<std::string, std::vector<RuleId>, Hash, std::equal_to<>> by_name_;
  std::vector<RuleId> any_name_;
  std::vector<RuleId> patterns_;

  std::unordered_map<std::string, std::deque<KnownModule>> modules_; ///< by path
  const KnownModule* last_caller_ = nullptr;
  const KnownModule* last_library_ = nullptr;
  std::vector<std::int64_t> decisive_; ///< by filter: the last rule that matched; -1: none
};

} // namespace

struct SelectorSet::Rules {
  explicit Rules(bool as_ltrace) : ltrace(as_ltrace), calls(as_ltrace), entries(as_ltrace) {}

  bool ltrace;
  RuleTable calls;   ///< -e and -l
  RuleTable entries; ///< -x
  bool uses_default = false;
  bool only_libraries = false; ///< -l, and no -e
  bool shows_caller = false;
  std::vector<std::string> warnings;

  Result<void> add(FilterOption option, const std::vector<std::string>& texts) {
    RuleTable& table = option == FilterOption::Entries ? entries : calls;
    for (const std::string& text : texts) {
      if (ltrace) {
        table.add(parse_ltrace_filter(option, text, warnings));
        continue;
      }
      auto filter = parse_filter(option, text);
      if (!filter)
        return Error::saying(std::string(to_string(option)) + " '" + text +
                             "': " + filter.error().message());
      table.add(*std::move(filter));
    }
    return {};
  }
};

Result<SelectorSet> SelectorSet::parse(const SelectorOptions& options) {
  auto rules = std::make_unique<Rules>(options.ltrace);
  for (const auto& [option, texts] : {std::pair(FilterOption::Calls, &options.calls),
                                      std::pair(FilterOption::Libraries, &options.libraries),
                                      std::pair(FilterOption::Entries, &options.entries)})
    if (auto added = rules->add(option, *texts); !added) return std::move(added).error();
  const bool has_calls = !options.calls.empty() || !options.libraries.empty();
  rules->only_libraries = options.calls.empty() && !options.libraries.empty();
  rules->uses_default = !has_calls && !options.no_default;
  rules->shows_caller = options.ltrace ? has_calls : rules->calls.shows_caller();
  return SelectorSet(std::move(rules));
}

SelectorSet::SelectorSet(std::unique_ptr<Rules> rules) : rules_(std::move(rules)) {}
SelectorSet::SelectorSet(SelectorSet&&) noexcept = default;
SelectorSet& SelectorSet::operator=(SelectorSet&&) noexcept = default;
SelectorSet::~SelectorSet() = default;

const std::vector<std::string>& SelectorSet::warnings() const { return rules_->warnings; }
bool SelectorSet::uses_default() const { return rules_->uses_default; }
bool SelectorSet::shows_caller() const { return rules_->shows_caller; }
bool SelectorSet::has_call_rules() const { return !rules_->calls.empty(); }
bool SelectorSet::has_only_libraries() const { return rules_->only_libraries; }
bool SelectorSet::has_entry_rules() const { return !rules_->entries.empty(); }

bool SelectorSet::selects_call(const ModuleName& caller, const FunctionName& function,
                               const ModuleName* callee) {
  return rules_->calls.selects(&caller, function, callee);
}

bool SelectorSet::names_places() const { return rules_->entries.names_places(); }

bool SelectorSet::selects_entry(const ModuleName& module, const FunctionName& function) {
  return rules_->entries.selects(nullptr, function, &module);
}

void SelectorSet::see_module(const ModuleName& module) {
  rules_->calls.see_module(module);
  rules_->entries.see_module(module);
}

bool SelectorSet::may_select_call(const ModuleName& caller, const FunctionName& function) const {
  return rules_->calls.may_select_call(caller, function);
}

bool SelectorSet::may_select_calls_of(const ModuleName& caller) const {
  return rules_->calls.may_select_calls_of(caller);
}

bool SelectorSet::may_select_entries_of(const ModuleName& module) const {
  return rules_->entries.may_select_entries_of(module);
}

std::vector<std::string> SelectorSet::unmatched() const {
  std::vector<std::string> lines;
  if (rules_->ltrace) return lines;
  rules_->calls.describe_unmatched(lines);
  rules_->entries.describe_unmatched(lines);
  return lines;
}

} // namespace sonictrace
