#include "sonictrace/proto/prototype_library.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>

#include "proto/built_in.hpp"
#include "proto/cpp_pack.hpp"
#include "proto/cpp_prototype.hpp"
#include "proto/parser.hpp"
#include "sonictrace/base/check.hpp"
#include "sonictrace/base/glob.hpp"
#include "sonictrace/proto/print.hpp"

namespace sonictrace::proto {
namespace {

constexpr std::string_view kSyscalls = "syscalls";
constexpr std::size_t kManyNames = 5000; ///< that the built-in files have, about

/// Smaller counts first.
enum class Tier : std::uint8_t { Given, BuiltIn, Fallback };

/// One text that was added.
struct Source {
  std::string module;
  std::string file;
  Tier tier = Tier::Given;
  bool imported = false; ///< it came in by an import
  ConfScope scope;
  std::vector<Source*> imported_by;
};

struct Entry {
  Prototype prototype;       ///< without a result as long as it is only known where it is
  std::string_view deferred; ///< its text
  Source* source = nullptr;
  std::size_t order = 0; ///< among those that are equally near: the smallest counts
  Entry* next = nullptr; ///< of the same name
};

/// How far a text is from what it is asked about.
enum class Distance : std::uint8_t { SameModule, AnyModule, OtherModule };

/// How well an entry answers a question; the smallest does best.
struct Rank {
  std::size_t level = 0;
  std::size_t order = 0;

  auto operator<=>(const Rank&) const = default;
};

/// What the user has given goes before ours, but what it says of a library's `log` is nothing about
/// that of the mathematical one.
std::size_t level_of(Tier tier, Distance distance) {
  constexpr std::size_t kLevels[3][3] = {{0, 1, 4}, {2, 5, 5}, {3, 6, 7}};
  return kLevels[static_cast<std::size_t>(tier)][static_cast<std::size_t>(distance)];
}

struct Answer {
  Entry* entry = nullptr;
  Distance distance = Distance::SameModule;
  Rank rank;
};

/// What mangled names tell, alone or with a pack.
struct FromNames {
  std::string_view file; ///< of the pack
  std::string_view text; ///< empty: there is none
  std::vector<std::string_view> libraries;
  std::unique_ptr<CppPack> pack; ///< read when it is asked for
  /// By what is known of the scopes in it and mangled name; nothing for those that tell nothing.
  std::map<std::pair<const names::ScopeFacts*, std::string>, std::optional<Prototype>> prototypes;

  const CppPack& read() {
    if (pack == nullptr) pack = std::make_unique<CppPack>(text);
    return *pack;
  }
};

std::string origin(const Source& source) {
  return source.tier == Tier::BuiltIn ? "built in: " + source.file : source.file;
}

bool is_interposer(std::string_view module);

/// Types say less than a prototype that was written for the function. One of another module's
/// function says less than types; but what stands in for the C library's is the same function.
bool goes_before_debug_info(const Answer& answer, std::string_view module) {
  if (answer.entry == nullptr) return false;
  const Tier tier = answer.entry->source->tier;
  if (tier == Tier::Fallback) return false;
  if (answer.distance == Distance::OtherModule)
    return tier == Tier::BuiltIn && is_interposer(module);
  // Of a static program it is not known which functions are the C library's.
  return tier == Tier::Given || !module.empty();
}

/// Is `soname` NAME.so, or a version of it?
bool is_version_of(std::string_view soname, std::string_view module) {
  if (soname.substr(0, module.size()) != module) return false;
  const std::string_view rest = soname.substr(module.size());
  constexpr std::string_view kEnd = ".so";
  const bool is_so =
      module.find(".so.") != std::string_view::npos ||
      (module.size() > kEnd.size() && module.substr(module.size() - kEnd.size()) == kEnd);
  return rest.empty() || (is_so && rest[0] == '.');
}

/// The name that a module's prototypes go by: wheels of Python carry libraries whose names have a
/// hash put in (libavcodec-9f1b2c3d.so.60), and the interpreter is a program or a library, of one
/// name a version. `room` holds the name where it has to be made.
std::string_view family_of(std::string_view module, std::string& room) {
  const auto version = [](std::string_view text) {
    return text.find_first_not_of("0123456789.") == std::string_view::npos;
  };
  constexpr std::string_view kProgram = "python3", kLibrary = "libpython3";
  if (module.substr(0, kProgram.size()) == kProgram && version(module.substr(kProgram.size())))
    return "libpython3.so";
  const std::size_t end = module.find(".so");
  if (end == std::string_view::npos) return module;
  // What Debian's alternatives put in their place is one of its BLAS, mostly this one.
  if (module.substr(0, end) == "libblas" || module.substr(0, end) == "libcblas")
    return "libopenblas.so";
  if (module.substr(0, kLibrary.size()) == kLibrary &&
      version(module.substr(kLibrary.size(), end - kLibrary.size())))
    return "libpython3.so";
  constexpr std::size_t kHash = 8;
  if (end <= kHash + 1 || module[end - kHash - 1] != '-') return module;
  const std::string_view hash = module.substr(end - kHash, kHash);
  if (hash.find_first_not_of("0123456789abcdef") != std::string_view::npos) return module;
  room = module.substr(0, end - kHash - 1);
  return room += module.substr(end);
}

/// The C library's parts, by the names of their modules: one file each with glibc until 2.33,
/// mostly one file since then, one file with musl.
bool is_c_library(std::string_view module) {
  constexpr std::array<std::string_view, 8> kParts = {"libc.so",      "libm.so",  "libpthread.so",
                                                      "libdl.so",     "librt.so", "libutil.so",
                                                      "libresolv.so", "libanl.so"};
  for (const std::string_view part : kParts)
    if (is_version_of(module, part)) return true;
  constexpr std::array<std::string_view, 3> kBegins = {"ld-musl-", "libc.musl-", "ld-linux"};
  for (const std::string_view begin : kBegins)
    if (module.substr(0, begin.size()) == begin) return true;
  return false;
}

bool begins_with(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

/// Libraries that are there to stand in for functions of the C library, by how their names begin.
bool is_interposer(std::string_view module) {
  constexpr std::array<std::string_view, 14> kBegins = {
      "libasan.so",   "libtsan.so",     "liblsan.so",  "libubsan.so",         "libhwasan.so",
      "libclang_rt.", "libjemalloc.so", "libtcmalloc", "libmimalloc",         "libhoard",
      "libfakeroot",  "libeatmydata",   "libfaketime", "libc_malloc_debug.so"};
  return std::any_of(kBegins.begin(), kBegins.end(),
                     [&](std::string_view begin) { return begins_with(module, begin); });
}

/// Names that mean the C library's function whoever defines them: those that C reserves (7.1.3,
/// 7.31), and its allocator's, which programs replace as a whole. `error`, `index` or `send` of
/// another library are its own.
bool is_same_everywhere(std::string_view name) {
  constexpr std::array<std::string_view, 10> kAllocator = {
      "malloc",         "calloc", "realloc", "free",  "aligned_alloc",
      "posix_memalign", "valloc", "pvalloc", "cfree", "reallocarray"};
  return begins_with(name, "mem") || begins_with(name, "str") || name == "malloc_usable_size" ||
         std::find(kAllocator.begin(), kAllocator.end(), name) != kAllocator.end();
}

void append(std::vector<std::string>& to, std::vector<std::string>& lines) {
  to.insert(to.end(), std::make_move_iterator(lines.begin()), std::make_move_iterator(lines.end()));
}

/// What a built-in file is about.
std::string module_of_built_in(std::string_view file) {
  const std::string_view name = file.substr(0, file.rfind(".conf"));
  if (name == kSyscalls) return std::string(name);
  return (name == "libstdcxx" ? "libstdc++" : std::string(name)) + ".so";
}

} // namespace

struct PrototypeLibrary::Parts {
  TypeArena arena;
  std::deque<Source> sources;
  std::deque<Entry> entries;
  std::unordered_map<std::string_view, Entry*> by_name; ///< the first of a chain
  ConfScope any; ///< typedefs of the texts for any module: they see each other's
  Importer importer;
  bool has_built_in = false;
  bool reads_names = false;
  FromNames plain_names; ///< of libraries without a pack
  std::vector<FromNames> packs;
  std::vector<std::string> known_modules; ///< of the built-in files

  Parts() {
    by_name.reserve(kManyNames);
    for (const ConfText& conf : built_in_confs())
      known_modules.push_back(module_of_built_in(conf.file));
    for (const ConfText& pack : built_in_packs())
      packs.push_back({pack.file, pack.text, CppPack::libraries_of(pack.text), nullptr, {}});
  }

  Source* source_of(std::string_view module) {
    for (Source& source : sources)
      if (source.module == module) return &source;
    return nullptr;
  }

  Source* add(std::string_view text, std::string_view file, std::string_view module,
              Dialect dialect, Tier tier, std::vector<std::string>& errors);
  Result<Source*> import(std::string_view name, Source& by, std::vector<std::string>& errors);
  /// `name` outlives the library; empty: it is in the entry.
  void add(std::string_view name, Entry added);
  /// Of none: the unknown one.
  const Prototype* prototype_of(Entry* entry);

  bool is_about(const Source& source, std::string_view module) const;
  bool is_about(const Source& source, std::string_view module,
                std::vector<const Source*>& visited) const;
  bool may_speak_for(const Source& source, std::string_view name, std::string_view module) const;
  /// Of a text from a module; nothing where it says nothing about that module's `name`.
  std::optional<Distance> distance(const Source& source, std::string_view name,
                                   std::string_view module) const;
  Answer best(std::string_view name, std::string_view module) const;
  FromNames& names_of(std::string_view module);
  const Prototype* prototype_from(std::string_view name, std::string_view module,
                                  const Account& own);
};

/// Another version of a library may have other classes and enumerations: only what has the very
/// soname is what the pack is about, or a copy with a hash put into it.
FromNames& PrototypeLibrary::Parts::names_of(std::string_view module) {
  std::string room;
  const std::string_view family = family_of(module, room);
  for (FromNames& names : packs)
    if (std::find(names.libraries.begin(), names.libraries.end(), family) != names.libraries.end())
      return names;
  return plain_names;
}

const Prototype* PrototypeLibrary::Parts::prototype_from(std::string_view name,
                                                         std::string_view module,
                                                         const Account& own) {
  if (!reads_names || !begins_with(name, "_Z")) return &Prototype::unknown();
  FromNames& told = names_of(module);
  const names::ScopeFacts* const scopes = own.scopes ? own.scopes() : nullptr;
  const auto [known, is_new] = told.prototypes.try_emplace({scopes, std::string(name)});
  if (is_new) {
    const CppPack* const pack = told.text.empty() ? nullptr : &told.read();
    known->second = prototype_of_name(known->first.second, arena, pack, scopes);
  }
  return known->second ? &*known->second : &Prototype::unknown();
}

Result<Source*> PrototypeLibrary::Parts::import(std::string_view name, Source& by,
                                                std::vector<std::string>& errors) {
  Source* source = source_of(name);
  if (source == nullptr && importer) {
    if (const auto conf = importer(name)) {
      source = add(conf->text, conf->file, name, Dialect::Current, by.tier, errors);
      source->imported = true;
    }
  }
  for (const ConfText& conf : built_in_confs()) {
    if (source != nullptr) break;
    if (module_of_built_in(conf.file) != name) continue;
    source = add(conf.text, conf.file, name, Dialect::Current, Tier::BuiltIn, errors);
    source->imported = true;
  }
  if (source == nullptr) return Error::saying("there is no " + std::string(name) + ".conf");
  source->imported_by.push_back(&by);
  return source;
}

Source* PrototypeLibrary::Parts::add(std::string_view text, std::string_view file,
                                     std::string_view module, Dialect dialect, Tier tier,
                                     std::vector<std::string>& errors) {
  Source& source = sources.emplace_back();
  source.module = module;
  source.file = file;
  source.tier = tier;
  const bool last_counts = dialect == Dialect::Ltrace07;
  // ltrace 0.7.3 has one table of all typedefs.
  ConfScope& scope = last_counts ? any : source.scope;
  if (!last_counts && module.empty()) {
    source.scope.import(any);
    any.import(source.scope);
  }

  const ConfContext context = {dialect, arena, scope,
                               [&](std::string_view name) -> Result<const ConfScope*> {
                                 const auto imported = import(name, source, errors);
                                 if (!imported) return imported.error();
                                 return &(*imported)->scope;
                               }};
  if (tier == Tier::BuiltIn) { // thousands, of which a program calls a few hundred
    IndexedConf indexed = index_conf(text, file, context);
    append(errors, indexed.errors);
    for (const DeferredPrototype& deferred : indexed.prototypes)
      add(deferred.name, {{}, deferred.text, &source, entries.size(), nullptr});
  } else {
    ParsedConf parsed = parse_conf(text, file, context);
    append(errors, parsed.errors);
    for (Prototype& prototype : parsed.prototypes) {
      const std::size_t order = last_counts ? ~entries.size() : entries.size();
      add({}, {std::move(prototype), {}, &source, order, nullptr});
    }
  }
  return &source;
}

void PrototypeLibrary::Parts::add(std::string_view name, Entry added) {
  Entry& entry = entries.emplace_back(std::move(added));
  if (name.empty()) name = entry.prototype.name;
  const auto [found, is_new] = by_name.try_emplace(name, &entry);
  if (is_new) return;
  entry.next = found->second->next;
  found->second->next = &entry;
}

const Prototype* PrototypeLibrary::Parts::prototype_of(Entry* entry) {
  if (entry == nullptr) return &Prototype::unknown();
  if (entry->prototype.result == nullptr) {
    ParsedConf parsed =
        parse_conf(entry->deferred, "", {Dialect::Current, arena, entry->source->scope, {}});
    // A test reads all of them.
    if (parsed.prototypes.empty()) return &Prototype::unknown();
    entry->prototype = std::move(parsed.prototypes.front());
    entry->prototype.shows_success_only = true; // only built-in ones are deferred
  }
  return &entry->prototype;
}

bool PrototypeLibrary::Parts::is_about(const Source& source, std::string_view module) const {
  std::vector<const Source*> visited;
  return is_about(source, module, visited);
}

bool PrototypeLibrary::Parts::is_about(const Source& source, std::string_view module,
                                       std::vector<const Source*>& visited) const {
  if (module.empty()) return true;
  if (!source.module.empty() && is_version_of(module, source.module)) return true;
  if (source.tier == Tier::BuiltIn) {
    std::string room;
    if (is_version_of(family_of(module, room), source.module)) return true;
  }
  if (is_c_library(module) && is_c_library(source.module)) return true;
  if (std::find(visited.begin(), visited.end(), &source) != visited.end()) return false;
  visited.push_back(&source);
  // Who imports libc.so wants its types, and does not say that its own error() is that of libc.
  if (source.tier == Tier::BuiltIn && is_c_library(source.module)) return false;
  return std::any_of(source.imported_by.begin(), source.imported_by.end(),
                     [&](const Source* by) { return is_about(*by, module, visited); });
}

/// Does what `source` says about its own module hold for another one's `name` too?
bool PrototypeLibrary::Parts::may_speak_for(const Source& source, std::string_view name,
                                            std::string_view module) const {
  if (is_c_library(source.module)) return is_same_everywhere(name) || is_interposer(module);
  return std::none_of(known_modules.begin(), known_modules.end(), [&](const std::string& known) {
    return is_version_of(source.module, known);
  });
}

std::optional<Distance> PrototypeLibrary::Parts::distance(const Source& source,
                                                          std::string_view name,
                                                          std::string_view module) const {
  if (source.module.empty()) return module.empty() ? Distance::SameModule : Distance::AnyModule;
  if (module == kSyscalls || source.module == kSyscalls) {
    if (source.module != module) return std::nullopt;
    return Distance::SameModule;
  }
  if (is_about(source, module)) return Distance::SameModule;
  if (!may_speak_for(source, name, module)) return std::nullopt;
  return Distance::OtherModule;
}

Answer PrototypeLibrary::Parts::best(std::string_view name, std::string_view module) const {
  Answer best;
  const auto found = by_name.find(name);
  if (found == by_name.end()) return best;
  // What ltrace's files say of such a name is about the same function, and not about any other.
  bool is_built_in = false;
  for (const Entry* entry = found->second; entry != nullptr; entry = entry->next)
    is_built_in |= entry->source->tier == Tier::BuiltIn &&
                   (entry->source->module == kSyscalls) == (module == kSyscalls);
  for (Entry* entry = found->second; entry != nullptr; entry = entry->next) {
    if (is_built_in && entry->source->tier == Tier::Fallback) continue;
    const auto far = distance(*entry->source, name, module);
    if (!far) continue;
    const Rank rank = {level_of(entry->source->tier, *far), entry->order};
    if (best.entry == nullptr || rank < best.rank) best = {entry, *far, rank};
  }
  return best;
}

PrototypeLibrary::PrototypeLibrary() : parts_(std::make_unique<Parts>()) {}
PrototypeLibrary::PrototypeLibrary(PrototypeLibrary&&) noexcept = default;
PrototypeLibrary& PrototypeLibrary::operator=(PrototypeLibrary&&) noexcept = default;
PrototypeLibrary::~PrototypeLibrary() = default;

PrototypeLibrary PrototypeLibrary::built_in() {
  PrototypeLibrary library;
  library.add_built_in();
  return library;
}

void PrototypeLibrary::set_importer(Importer importer) { parts_->importer = std::move(importer); }

std::vector<std::string> PrototypeLibrary::add(std::string_view text, std::string_view file,
                                               std::string_view module, Dialect dialect) {
  std::vector<std::string> errors;
  const Source* const present = module.empty() ? nullptr : parts_->source_of(module);
  if (present != nullptr && present->imported) return errors;
  parts_->add(text, file, module, dialect, parts_->has_built_in ? Tier::Fallback : Tier::Given,
              errors);
  return errors;
}

void PrototypeLibrary::add_built_in() {
  std::vector<std::string> errors;
  parts_->has_built_in = true;
  for (const ConfText& conf : built_in_confs()) {
    const std::string module = module_of_built_in(conf.file);
    const Source* const present = parts_->source_of(module);
    if (present != nullptr && present->tier == Tier::BuiltIn) continue;
    parts_->add(conf.text, conf.file, module, Dialect::Current, Tier::BuiltIn, errors);
  }
  SONICTRACE_CHECK(errors.empty(), errors.front().c_str());
}

const Prototype* PrototypeLibrary::find(std::string_view name, std::string_view module,
                                        const Account& own) const {
  const Answer answer = parts_->best(name, module);
  if (own.prototype && !goes_before_debug_info(answer, module)) {
    const Prototype* const told = own.prototype();
    if (told != nullptr) return told;
  }
  Entry* const entry = answer.entry;
  return entry == nullptr ? parts_->prototype_from(name, module, own) : parts_->prototype_of(entry);
}

void PrototypeLibrary::read_names() { parts_->reads_names = true; }

const Prototype* PrototypeLibrary::find_syscall(std::string_view name) const {
  // ltrace 0.7.3 has SYS_close in its files, 0.8 has close in its syscalls.conf.
  Answer answer = parts_->best("SYS_" + std::string(name), kSyscalls);
  const Answer plain = parts_->best(name, kSyscalls);
  const bool is_about_it = plain.entry != nullptr && plain.distance == Distance::SameModule;
  if (is_about_it && (answer.entry == nullptr || plain.rank < answer.rank)) answer = plain;
  return parts_->prototype_of(answer.entry);
}

std::size_t PrototypeLibrary::size() const { return parts_->by_name.size(); }

std::string PrototypeLibrary::origin_of(std::string_view name, std::string_view module) const {
  const Entry* const entry = parts_->best(name, module).entry;
  if (entry != nullptr) return origin(*entry->source);
  const FromNames& names = parts_->names_of(module);
  if (names.text.empty()) return "the mangled name";
  return "built in: " + std::string(names.file) + ", and the mangled name";
}

std::vector<PrototypeLibrary::Listed> PrototypeLibrary::list(std::string_view library) const {
  const bool is_glob = library.find_first_of("*?[") != std::string_view::npos;
  const auto compiled = is_glob ? Glob::compile(library) : Result<Glob>(Glob());
  const Glob glob = compiled ? *compiled : Glob();
  if (!compiled) return {};
  std::vector<Listed> all;
  for (const Source& source : parts_->sources) {
    const bool is_meant =
        library.empty() || (is_glob ? glob.matches(source.module)
                                    : !source.module.empty() && parts_->is_about(source, library));
    if (!is_meant) continue;
    Listed listed{origin(source), {}};
    for (Entry& entry : parts_->entries)
      if (entry.source == &source) listed.lines.push_back(print(*parts_->prototype_of(&entry)));
    if (!listed.lines.empty()) all.push_back(std::move(listed));
  }
  std::string room;
  const std::string_view family = family_of(library, room);
  for (FromNames& names : parts_->packs) {
    const bool is_meant =
        library.empty() ||
        std::any_of(names.libraries.begin(), names.libraries.end(), [&](std::string_view one) {
          return is_glob ? glob.matches(one) : one == family;
        });
    if (is_meant) all.push_back({"built in: " + std::string(names.file), names.read().list()});
  }
  return all;
}

} // namespace sonictrace::proto
