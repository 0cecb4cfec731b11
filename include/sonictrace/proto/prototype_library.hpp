#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonictrace/names/scope_facts.hpp"
#include "sonictrace/proto/prototype.hpp"

namespace sonictrace::proto {

/// Which reading of ltrace.conf's grammar.
enum class Dialect : std::uint8_t {
  Current,  ///< ltrace 0.8's, and our own additions; of two prototypes of a name the first counts
  Ltrace07, ///< what ltrace 0.7.3 reads; of two prototypes of a name in its files the last counts
};

/// Prototypes by function name, read from .conf files. For one thread: what is built in is read
/// when it is asked for.
class PrototypeLibrary {
public:
  /// Those that are built into the program (src/proto/prototypes/*.conf).
  static PrototypeLibrary built_in();

  PrototypeLibrary();
  PrototypeLibrary(PrototypeLibrary&&) noexcept;
  PrototypeLibrary& operator=(PrototypeLibrary&&) noexcept;
  ~PrototypeLibrary();

  struct Conf {
    std::string file; ///< for messages
    std::string text;
  };
  /// Where `import "NAME";` finds what is neither added nor built in.
  using Importer = std::function<std::optional<Conf>(std::string_view name)>;
  void set_importer(Importer importer);

  /// Adds the prototypes of one .conf text, the grammar of which docs/man/sonictrace.conf.5 has.
  /// Each malformed item costs that item only and is reported as `FILE:LINE:COLUMN: error: what`.
  /// `module`: the soname that the text is about (`libfoo.so.1`), the base name of a program,
  /// `syscalls` for system calls; empty: any. A module that was imported before is not read again.
  std::vector<std::string> add(std::string_view text, std::string_view file,
                               std::string_view module = {}, Dialect dialect = Dialect::Current);
  /// Adds the ones that are built in. What was added before goes before them, what is added
  /// afterwards counts only for names that they don't know. They are read as they are asked
  /// for.
  void add_built_in();

  /// From here on, mangled names of C++ that nothing else is known of tell their own prototypes.
  void read_names();

  /// Never null: Prototype::unknown() where none is known. `name` is the mangled name; `module` the
  /// soname of what implements it, empty if that is not known. Valid as long as the library.
  ///
  /// What is about that module counts first, then what is about any module, then what is about
  /// another one: but of the well-known libraries only what is about the C library, and that only
  /// for names that are the same everywhere (malloc, strlen), and in libraries that are known to
  /// stand in for it (libasan). All others (error, send, log) may be anything.
  ///
  /// `own`: what the module itself tells. Asked only where it counts.
  struct Account {
    /// What its debug information says of the function; null where nothing. Behind what the user
    /// has given, and what is built in about that very module, which says more than types; before
    /// all else.
    std::function<const Prototype*()> prototype = {};
    /// What its symbols tell about the scopes in names; null where nothing. Lives as long as the
    /// library.
    std::function<const names::ScopeFacts*()> scopes = {};
  };
  const Prototype* find(std::string_view name, std::string_view module, const Account& own) const;
  const Prototype* find(std::string_view name, std::string_view module) const {
    return find(name, module, Account());
  }
  /// Of a system call, by its name without SYS_.
  const Prototype* find_syscall(std::string_view name) const;
  std::size_t size() const;

  /// Where find() has a prototype from: `file`, a built-in file, a pack, or the name itself.
  std::string origin_of(std::string_view name, std::string_view module) const;

  struct Listed {
    std::string origin;             ///< as origin_of says it
    std::vector<std::string> lines; ///< see print(); of packs see CppPack::list
  };
  /// All that is known of the functions of `library`: a soname, of any version, or a glob of them;
  /// empty: of all, and of any. In the order in which it counts.
  std::vector<Listed> list(std::string_view library) const;

private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

} // namespace sonictrace::proto
