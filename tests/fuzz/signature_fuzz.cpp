// Names as a hostile symbol table could hold them: what their prototypes capture of any words and
// any memory fits into the room that the plan asks for, and can be shown.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "sonictrace/decode/json.hpp"
#include "sonictrace/decode/render.hpp"
#include "sonictrace/names/signature.hpp"
#include "sonictrace/proto/call_plan.hpp"
#include "sonictrace/proto/prototype_library.hpp"

using namespace sonictrace;

namespace {

/// The input itself, at an address that its own words may well hold.
struct InputMemory {
  std::string_view bytes;
  std::size_t read(std::uint64_t address, std::byte* into, std::size_t size) {
    constexpr std::uint64_t kBegin = 0x10000;
    if (bytes.empty() || address < kBegin || address >= kBegin + bytes.size()) return 0;
    const auto offset = static_cast<std::size_t>(address - kBegin);
    const std::size_t readable = std::min(size, bytes.size() - offset);
    std::memcpy(into, bytes.data() + offset, readable);
    return readable;
  }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A name, a NUL, and what the call's words and the memory are.
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(input.find('\0'), input.size());
  const std::string name = "_Z" + std::string(input.substr(0, end));
  const std::string_view rest = input.substr(end);

  proto::PrototypeLibrary library;
  library.read_names();
  const proto::CallPlan plan = proto::compile(*library.find(name, {}), {});
  if (plan.at_entry.size() != plan.entry_looks.size()) std::abort();

  std::vector<std::uint64_t> words(wire::kEntryWords + 8);
  std::memcpy(words.data(), rest.data(), std::min(rest.size(), words.size() * sizeof words[0]));
  InputMemory memory{rest};
  const wire::CallWords call = {words.data(), static_cast<std::uint32_t>(words.size() * 8),
                                wire::kStackWordsAt, 0};
  std::vector<std::byte> out(plan.entry_room);
  out.resize(wire::run_capture(plan.at_entry.data(), plan.at_entry.size(), call, memory, out.data(),
                               out.size()));
  std::string shown;
  append_arguments(shown, plan, out, std::nullopt, ArgumentPart::All, {});
  json_arguments(shown, plan, out, std::nullopt, {});
  return 0;
}
