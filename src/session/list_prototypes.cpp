#include "sonictrace/session/list_prototypes.hpp"

#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "sonictrace/elf/image.hpp"
#include "sonictrace/names/demangle.hpp"
#include "sonictrace/proto/print.hpp"

namespace sonictrace {
namespace {

void append(std::string& text, const std::string& origin, const std::vector<std::string>& lines) {
  if (!text.empty()) text += '\n';
  text += "; " + origin + "\n";
  for (const std::string& line : lines)
    text += line + '\n';
}

/// What is known of each function that a file exports.
Result<std::string> list_file(const proto::PrototypeLibrary& prototypes, const std::string& path) {
  const auto image = elf::Image::open(path);
  if (!image) return image.error();
  std::string_view soname = (*image)->soname();
  if (soname.empty()) soname = std::string_view(path).substr(path.rfind('/') + 1);

  std::set<std::string_view> names;
  for (const elf::Symbol& symbol : (*image)->dynamic_symbols())
    if (symbol.defined &&
        (symbol.type == elf::SymbolType::Function || symbol.type == elf::SymbolType::Ifunc))
      names.insert(symbol.name);
  std::map<std::string, std::vector<std::string>> by_origin;
  for (const std::string_view name : names) {
    const proto::Prototype& prototype = *prototypes.find(name, soname);
    if (prototype.guessed) continue;
    by_origin[prototypes.origin_of(name, soname)].push_back(
        print(prototype, demangle(name, DemangleStyle::Short)));
  }
  std::string text;
  for (const auto& [origin, lines] : by_origin)
    append(text, origin, lines);
  if (text.empty()) return Error::saying("nothing is known of the functions of " + path);
  return text;
}

} // namespace

Result<std::string> list_prototypes(const proto::PrototypeLibrary& prototypes,
                                    const std::string& library) {
  if (library.find('/') != std::string::npos) return list_file(prototypes, library);
  std::string text;
  for (const auto& listed : prototypes.list(library))
    append(text, listed.origin, listed.lines);
  if (text.empty())
    return Error::saying("no prototypes are known of a library '" + library +
                         "'; give a soname, a path or a pattern");
  return text;
}

} // namespace sonictrace
