#pragma once

#include <cstddef>
#include <cstring>
#include <elf.h>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonictrace/elf/calls.hpp"

namespace sonictrace::elf {

using Names = std::set<std::string>;

inline Names names_of_sites(const CallTable& table) {
  Names names;
  for (const CallSite& site : table.sites)
    names.emplace(table.imports[site.import].name);
  return names;
}

inline Names names_of_hoisted(const CallTable& table) {
  Names names;
  for (const auto import : table.hoisted)
    names.emplace(table.imports[import].name);
  return names;
}

/// All whose calls can be seen, at a site or at the callee's entry.
inline Names names_of_calls(const CallTable& table) {
  Names names = names_of_sites(table);
  names.merge(names_of_hoisted(table));
  return names;
}

inline Names only(const Names& names, const Names& wanted) {
  Names result;
  for (const std::string& name : names)
    if (wanted.contains(name)) result.insert(name);
  return result;
}

/// The same file without section headers, as sstrip and some packers leave it.
inline std::vector<std::byte> without_section_headers(std::vector<std::byte> file) {
  Elf64_Ehdr header;
  if (file.size() < sizeof header) return file;
  std::memcpy(&header, file.data(), sizeof header);
  header.e_shoff = 0;
  header.e_shnum = 0;
  header.e_shstrndx = 0;
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

} // namespace sonictrace::elf
