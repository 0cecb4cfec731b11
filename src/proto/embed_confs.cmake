# Writes OUTPUT, a source that holds the text of each .conf and .pack of DIRECTORY.
#   cmake -D DIRECTORY=... -D OUTPUT=... -P embed_confs.cmake
cmake_minimum_required(VERSION 3.22)

file(GLOB confs ${DIRECTORY}/*.conf)
list(SORT confs)
set(entries "")
foreach(conf IN LISTS confs)
  get_filename_component(name ${conf} NAME)
  file(READ ${conf} text)
  string(APPEND entries "    {\"${name}\", R\"conf(${text})conf\"sv},\n")
endforeach()
file(GLOB packs ${DIRECTORY}/*.pack)
list(SORT packs)
set(pack_entries "")
foreach(pack IN LISTS packs)
  get_filename_component(name ${pack} NAME)
  file(READ ${pack} text)
  string(APPEND pack_entries "    {\"${name}\", R\"pack(${text})pack\"sv},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made from the .conf and .pack files beside embed_confs.cmake; don't edit.
#include \"proto/built_in.hpp\"

#include <string_view>

#ifdef __clang__
#pragma clang diagnostic ignored \"-Woverlength-strings\" // they are longer than 65536 characters
#endif

namespace sonictrace::proto {
namespace {

using namespace std::string_view_literals; // a length that no compiler has to count

constexpr ConfText kConfs[] = {
${entries}};
constexpr ConfText kPacks[] = {
${pack_entries}};
} // namespace

std::span<const ConfText> built_in_confs() { return kConfs; }
std::span<const ConfText> built_in_packs() { return kPacks; }

} // namespace sonictrace::proto
")
