// Packs of C++ libraries, against what clang makes of each function that the headers declare and
// the libraries export: docs/PROTOTYPES.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "proto/built_in.hpp"
#include "proto/cpp_pack.hpp"
#include "sonictrace/proto/placement.hpp"
#include "sonictrace/proto/prototype_library.hpp"

namespace sonictrace::proto {
namespace {

using Strings = std::vector<std::string>;

/// The mangled names of a list of tests/proto_data, with their codes. A line is how many characters
/// it begins with as the line before, and the rest.
Strings functions_of(const std::string& pack) {
  std::ifstream file(std::string(TEST_DATA_DIR) + "/../../proto_data/" + pack +
                     "_cpp_functions.txt");
  Strings functions;
  std::string before;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t space = line.find(' ');
    before = before.substr(0, std::stoul(line)) + line.substr(space + 1);
    functions.push_back(before);
  }
  EXPECT_FALSE(functions.empty()) << pack;
  return functions;
}

/// The registers of a class that is passed by value, or how many words on the stack.
std::string registers_of(const Type& type) {
  const std::uint32_t size = layout_of(type, 8).size;
  if (size == 0) return type.lens == Lens::Hide ? "0" : "..."; // an empty class; what follows
  const auto placement = place_of_result(type, CallingConvention::SystemV64);
  if (!placement) return "s" + std::to_string((size + 7) / 8);
  std::string code;
  for (const std::uint32_t at : placement->eightbytes)
    code += at < wire::kResultVectorAt ? 'I' : 'V';
  return code;
}

std::string code_of(const Type& type) {
  const std::string size = std::to_string(layout_of(type, 8).size);
  switch (type.kind) {
    case TypeKind::Void: return "v";
    case TypeKind::Signed: return "i" + size;
    case TypeKind::Unsigned: return "u" + size;
    case TypeKind::Character:
    case TypeKind::WideCharacter: return "c" + size;
    case TypeKind::Float: return (type.size == 16 ? "x" : "f") + size;
    case TypeKind::Pointer: return type.is_reference ? "&" : "p";
    default: return registers_of(type);
  }
}

bool are_equal(const Type& type, const std::string& code) {
  const std::string own = code_of(type);
  if (own == code) return true;
  if (own == "i1") return code == "c1";
  if (own == "&") return code == "r"; // a class that is passed by reference
  if (own == "p") return code == "&" || code == "I";
  // Classes that are shown as the number that they are.
  if (code == "I") return own[0] == 'i' || own[0] == 'u';
  if (code == "V") return own[0] == 'f';
  return false;
}

/// What is wrong with the prototype of a line, `NAME t|- RESULT PARAMETER...`; "?" where it leaves
/// something open.
std::string difference(const PrototypeLibrary& library, std::string_view soname,
                       const std::string& line) {
  std::istringstream words(line);
  std::string name, object, result;
  words >> name >> object >> result;
  const Prototype& prototype = *library.find(name, soname);
  if (prototype.guessed || !prototype.readings.empty() || prototype.result->lens == Lens::Guess)
    return "?";
  Strings expected;
  const bool is_in_memory = result == "r" || result[0] == 's';
  if (is_in_memory) expected.push_back("&");
  if (object == "t") expected.push_back("&");
  for (std::string code; words >> code;)
    expected.push_back(code);
  bool is_equal =
      expected.size() == prototype.parameters.size() &&
      (is_in_memory ? prototype.result->is_reference : are_equal(*prototype.result, result));
  std::string own = code_of(*prototype.result);
  for (std::size_t at = 0; at < prototype.parameters.size(); ++at) {
    const Type& type = *prototype.parameters[at].type;
    if (type.lens == Lens::Guess) return "?";
    own += ' ' + code_of(type);
    is_equal = is_equal && at < expected.size() && are_equal(type, expected[at]);
  }
  return is_equal ? std::string() : line + ": " + own;
}

class CppPacks : public testing::TestWithParam<const char*> {};

TEST_P(CppPacks, say_of_nearly_all_functions_how_they_are_called_and_are_right) {
  const std::string pack = GetParam();
  const auto packs = built_in_packs();
  const auto text = std::find_if(packs.begin(), packs.end(),
                                 [&](const ConfText& one) { return one.file == pack + ".pack"; });
  ASSERT_NE(text, packs.end());
  const auto sonames = CppPack::libraries_of(text->text);
  ASSERT_FALSE(sonames.empty());
  PrototypeLibrary library = PrototypeLibrary::built_in();
  library.read_names();

  const Strings functions = functions_of(pack);
  std::size_t told = 0;
  Strings wrong, open;
  for (const std::string& line : functions) {
    const std::string found = difference(library, sonames.front(), line);
    if (found.empty())
      ++told;
    else
      (found == "?" ? open : wrong).push_back(found == "?" ? line : found);
  }
  const double share = 100.0 * static_cast<double>(told) / static_cast<double>(functions.size());
  std::cout << pack << ": " << told << " of " << functions.size() << " functions, " << share
            << " %\n";
  constexpr double kLeast = 95;
  EXPECT_GE(share, kLeast);
  constexpr std::size_t kShown = 20;
  for (std::size_t at = 0; at < wrong.size() && at < kShown; ++at)
    ADD_FAILURE() << wrong[at];
  EXPECT_EQ(wrong.size(), 0U);
  if (share < kLeast)
    for (std::size_t at = 0; at < open.size() && at < kShown; ++at)
      ADD_FAILURE() << "open: " << open[at];
}

INSTANTIATE_TEST_SUITE_P(BuiltInPrototypes, CppPacks, testing::Values("opencv", "libtorch"),
                         [](const auto& chosen) { return std::string(chosen.param); });

} // namespace
} // namespace sonictrace::proto
