// What a process may have where an interpreter's structures would be, and what it may tell of code
// objects: anything.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "engine/python_frames.hpp"
#include "engine/python_layout.hpp"
#include "engine/python_lines.hpp"

using namespace sonictrace;

namespace {

/// Every address leads somewhere into the input, which is shorter now and then.
class InputMemory {
public:
  explicit InputMemory(std::span<const std::byte> input) : input_(input) {}
  std::size_t read(std::uint64_t address, std::byte* into, std::size_t size) {
    if (input_.empty() || ++reads_ > 100'000) return 0;
    const std::size_t at = address / 8 * 8 % input_.size();
    const std::size_t count = std::min(size, input_.size() - at);
    std::memcpy(into, input_.data() + at, count);
    return count;
  }

private:
  std::span<const std::byte> input_;
  int reads_ = 0;
};

void look_at_codes(std::span<const std::byte> record, const wire::RingPython& place) {
  PythonFrames frames(
      [](const FrameDefinition& frame) {
        if (frame.function.empty() || frame.file.empty()) std::abort();
      },
      FrameIdPool());
  PythonCodes codes;
  codes.learn(record);
  wire::PythonCodeHead head = {};
  if (record.size() >= sizeof head) std::memcpy(&head, record.data(), sizeof head);
  for (std::int64_t offset = -2; offset < 64; offset += 2)
    (void)codes.frame_at({head.key, offset}, frames);
  (void)codes.frame_at(place, frames);
}

void read_a_place(const wire::PythonLayout& of_version, std::span<const std::byte> input) {
  wire::PythonLayout layout = of_version;
  InputMemory memory(input);
  layout.runtime = 8;
  std::uint64_t thread = 0;
  if (input.size() >= sizeof thread) std::memcpy(&thread, input.data(), sizeof thread);
  // What an object's type is must not be guessed.
  std::memcpy(&layout.code_type, &thread, sizeof thread);
  wire::PythonReader<InputMemory> reader(memory, layout);
  wire::PythonHint hint = {};
  wire::PythonPlace place;
  wire::PythonCode code;
  for (int i = 0; i < 2; ++i)
    if (!reader.find(thread, hint, place)) return;
  if (!reader.read_code(place.code, code)) return;
  const auto parts = reader.parts_of(code);
  std::vector<std::uint64_t> words(parts.size / 8);
  const auto bytes = std::as_writable_bytes(std::span(words));
  reader.put_code(code, parts, bytes.data());
  look_at_codes(bytes, {code.key, place.offset});
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span input(reinterpret_cast<const std::byte*>(data), size);
  for (const auto kind :
       {wire::PythonLines::Increments, wire::PythonLines::Ranges, wire::PythonLines::Locations})
    for (const std::int64_t offset : {-1, 0, 1, 100, 1'000'000})
      (void)python_line(kind, input, 1, offset);
  look_at_codes(input, {1, 0});
  for (unsigned version = 0x0308; version < 0x030d; ++version)
    read_a_place(known_python_layout(version).value(), input);
  if (const auto layout = python_layout_of_itself(input))
    read_a_place(*layout, input.subspan(input.size() / 2));
  return 0;
}
