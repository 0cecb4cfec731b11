// Prototype files as anybody could write them: read in both dialects; what was taken is compiled
// for each calling convention and run over a call whose memory is made of the input too. Three
// bytes: string limit, array limit, seed of the memory; the rest: the file.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "proto/parser.hpp"
#include "sonictrace/proto/call_plan.hpp"
#include "sonictrace/proto/prototype_library.hpp"
#include "sonictrace/wire/capture.hpp"

using namespace sonictrace;

namespace {

void require(bool promise) {
  if (!promise) std::abort();
}

constexpr std::uint64_t kMemoryAt = 0x7f0000000000;
constexpr std::uint64_t kMemorySize = 1 << 14;

/// Numbers of all kinds, pointers into the memory, now and then a wild one.
std::uint64_t word_of(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t mixed = (number + 1) * (seed * 2 + 0x9e3779b97f4a7c15u);
  mixed ^= mixed >> 29;
  switch (mixed >> 61) {
    case 0: return 0;
    case 1: return mixed % 7;
    case 2: return mixed;
    case 3: return 0x2073252064252020u; // text with conversions, without an end
    case 4: return 0x6867666564636261u & (mixed | 0xffffffu);
    default: return kMemoryAt + mixed % kMemorySize;
  }
}

struct Memory {
  explicit Memory(std::uint64_t seed) {
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] = word_of(seed, i);
  }

  std::size_t read(std::uint64_t address, std::byte* into, std::size_t size) const {
    if (address < kMemoryAt || address >= kMemoryAt + kMemorySize) return 0;
    const std::uint64_t at = address - kMemoryAt;
    size = static_cast<std::size_t>(std::min<std::uint64_t>(size, kMemorySize - at));
    std::memcpy(into, reinterpret_cast<const std::byte*>(words.data()) + at, size);
    return size;
  }

  std::array<std::uint64_t, kMemorySize / 8> words;
};

void run(const std::vector<wire::CaptureOp>& ops, std::size_t room, std::size_t call_at,
         Memory& memory) {
  constexpr std::uint32_t kWords = 40;
  const std::uint64_t* const words = memory.words.data() + call_at % 1000;
  std::vector<std::byte> out(room);
  const wire::CallWords call = {words, kWords * 8, wire::kStackWordsAt, kMemoryAt};
  require(wire::run_capture(ops.data(), ops.size(), call, memory, out.data(), room) <= room);
}

void compile_and_run(const proto::Prototype& prototype, proto::PlanOptions options,
                     std::size_t call_at, Memory& memory) {
  using proto::CallingConvention;
  for (std::size_t at = 0; at < prototype.parameters.size(); ++at) {
    const proto::Parameter& parameter = prototype.parameters[at];
    require(parameter.depends_on <= at); // 1-based: an earlier one
    require((parameter.depends_on == 0) == parameter.absent_for.empty());
  }
  for (const auto convention :
       {CallingConvention::SystemV64, CallingConvention::SystemV32, CallingConvention::Syscall64}) {
    options.convention = convention;
    const proto::CallPlan plan = proto::compile(prototype, options);
    require(plan.at_entry.size() == plan.entry_looks.size());
    require(plan.at_return.size() == plan.return_looks.size());
    require(plan.parameters.size() >= prototype.parameters.size());
    run(plan.at_entry, plan.entry_room, call_at, memory);
    run(plan.at_return, plan.return_room, call_at, memory);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kHead = 3;
  if (size < kHead) return 0;
  proto::PlanOptions options;
  options.string_limit = data[0] == 255 ? ~0u : data[0];
  options.array_limit = data[1] == 255 ? ~0u : data[1] % 32u;
  Memory memory(data[2]);
  const std::string_view text(reinterpret_cast<const char*>(data) + kHead, size - kHead);

  for (const auto dialect : {proto::Dialect::Current, proto::Dialect::Ltrace07}) {
    proto::TypeArena arena;
    proto::ConfScope scope;
    const auto parsed = proto::parse_conf(text, "fuzz", {dialect, arena, scope, {}});
    // A function is compiled when it is called: their number is no matter.
    const std::size_t count = std::min<std::size_t>(parsed.prototypes.size(), 50);
    for (std::size_t i = 0; i < count; ++i)
      compile_and_run(parsed.prototypes[i], options, i, memory);

    proto::PrototypeLibrary library;
    (void)library.add(text, "fuzz", "libfuzz.so", dialect);
    for (std::size_t i = 0; i < count; ++i)
      require(!library.find(parsed.prototypes[i].name, "libfuzz.so.1")->guessed);
  }
  return 0;
}
