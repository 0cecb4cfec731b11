// Packs as anybody could write them, or as they are after a line was cut: what is read of them
// makes prototypes that compile, and whose capture fits into the room that the plan asks for. A
// mangled name, a newline; the rest: the pack.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "proto/cpp_pack.hpp"
#include "proto/cpp_prototype.hpp"
#include "sonictrace/names/signature.hpp"
#include "sonictrace/proto/call_plan.hpp"
#include "sonictrace/proto/print.hpp"

using namespace sonictrace;

namespace {

void require(bool promise) {
  if (!promise) std::abort();
}

/// A word is where it is itself, so that each leads somewhere.
struct Memory {
  std::size_t read(std::uint64_t address, std::byte* into, std::size_t size) const {
    for (std::size_t at = 0; at < size; ++at)
      into[at] = static_cast<std::byte>(address >> at % 8 * 8);
    return size;
  }
};

void try_one(std::string_view name, const proto::CppPack* pack) {
  proto::TypeArena arena;
  const auto prototype = proto::prototype_of_name(name, arena, pack);
  if (!prototype) return;
  (void)proto::print(*prototype);
  const proto::CallPlan plan = proto::compile(*prototype, {});
  require(plan.at_entry.size() == plan.entry_looks.size());
  require(plan.at_return.size() == plan.return_looks.size());
  std::array<std::uint64_t, wire::kEntryWords + 32> words{};
  for (std::size_t at = 0; at < words.size(); ++at)
    words[at] = at * 0x1001;
  const wire::CallWords call = {words.data(), static_cast<std::uint32_t>(words.size() * 8),
                                wire::kStackWordsAt, 0};
  Memory memory;
  std::vector<std::byte> out(plan.entry_room);
  require(wire::run_capture(plan.at_entry.data(), plan.at_entry.size(), call, memory, out.data(),
                            out.size()) <= out.size());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(input.find('\n'), input.size());
  const std::string name = "_Z" + std::string(input.substr(0, end));
  const std::string_view text = input.substr(std::min(end + 1, input.size()));

  (void)proto::CppPack::libraries_of(text);
  const proto::CppPack pack(text);
  (void)pack.list();
  try_one(name, &pack);
  // Names that are in the pack as well.
  for (std::size_t at = 0; at < text.size() && at < 4096;) {
    const std::size_t space = std::min(text.find_first_of(" \n", at), text.size());
    const std::string_view word = text.substr(at, space - at);
    (void)pack.enumeration(word);
    (void)pack.passing(word);
    if (word.starts_with("_Z")) try_one(word, &pack);
    at = space + 1;
  }
  return 0;
}
