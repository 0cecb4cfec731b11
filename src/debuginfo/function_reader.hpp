#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "debuginfo/type_reader.hpp"
#include "debuginfo/unit_table.hpp"
#include "sonictrace/names/signature.hpp"
#include "sonictrace/proto/prototype.hpp"

namespace sonictrace::debuginfo {

/// Makes prototypes of the functions of one file.
class FunctionReader {
public:
  FunctionReader(proto::TypeArena& arena, UnitTable& units)
      : arena_(arena), units_(units), types_(arena, units) {}

  /// Of the function that has this symbol and whose code begins at `address`. Nothing where there
  /// is none, or where not all of its arguments' places are known.
  std::optional<proto::Prototype> read(std::string_view symbol, std::uint64_t address);

private:
  enum class Language : std::uint8_t { C, Cpp, Rust, Other };

  std::optional<Dwarf_Die> choose(std::string_view symbol, const std::vector<Dwarf_Die>& found);
  std::optional<proto::Prototype> prototype_of(Dwarf_Die function, std::string_view symbol);
  bool append_result(proto::Prototype& prototype, Dwarf_Die function);
  bool append_parameters(proto::Prototype& prototype, Dwarf_Die function);
  bool append_parameter(proto::Prototype& prototype, Dwarf_Die parameter);
  bool append_hidden(proto::Prototype& prototype, Dwarf_Die parameter);
  bool is_scalar(const Peeled& type) const;
  const proto::Type* no_result();
  static Language language_of(Dwarf_Die die);

  proto::TypeArena& arena_;
  UnitTable& units_;
  TypeReader types_;

  // Of the function that is being read.
  Language language_ = Language::Other;
  std::optional<names::FunctionSignature> signature_;
  std::size_t named_ = 0; ///< parameters of the signature that were met
  bool is_prototyped_ = true;
};

} // namespace sonictrace::debuginfo
