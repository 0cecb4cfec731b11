#include "engine/python_layout.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <string_view>
#include <utility>

namespace sonictrace {
namespace {

using wire::PythonInstruction;
using wire::PythonLayout;
using wire::PythonLines;

constexpr unsigned k38 = 0x0308, k39 = 0x0309, k310 = 0x030a, k311 = 0x030b, k312 = 0x030c,
                   k313 = 0x030d;

/// What is the same in all of them on a 64-bit machine: PyObject, PyVarObject, PyBytesObject, and
/// the heads of PyThreadState and PyASCIIObject.
PythonLayout common_layout() {
  PythonLayout layout{};
  layout.interpreter_next = 0;
  layout.thread_previous = 0;
  layout.thread_next = 8;
  layout.thread_interpreter = 16;
  layout.cframe_frame = wire::kNoMember;
  layout.frame_owner = wire::kNoMember;
  layout.object_type = 8;
  layout.text_length = 16;
  layout.text_state = 32;
  layout.text_ascii = 48; // sizeof(PyASCIIObject) ...
  layout.text_other = 72; // ... and PyCompactUnicodeObject, with their wchar_t (to 3.11)
  layout.bytes_size = 16;
  layout.bytes_data = 32;
  return layout;
}

/// 3.8 to 3.10: the frame is an object (PyFrameObject).
PythonLayout layout_with_frame_objects(std::uint32_t last_instruction, PythonInstruction how,
                                       PythonLines lines) {
  PythonLayout layout = common_layout();
  layout.runtime_interpreters = 32;
  layout.interpreter_threads = 8;
  layout.thread_id = 176;
  layout.thread_frame = 24;
  layout.frame_previous = 24;
  layout.frame_code = 32;
  layout.frame_instruction = last_instruction;
  layout.code_first_line = 40;
  layout.code_file = 104;
  layout.code_name = 112; // there is no qualified one
  layout.code_lines = 120;
  layout.instruction = how;
  layout.lines = lines;
  return layout;
}

/// 3.11: the frame is a _PyInterpreterFrame.
PythonLayout layout_of_311() {
  PythonLayout layout = common_layout();
  layout.runtime_interpreters = 40;
  layout.interpreter_threads = 16;
  layout.thread_id = 152;
  layout.thread_frame = 56;
  layout.cframe_frame = 8;
  layout.frame_previous = 48;
  layout.frame_code = 32;
  layout.frame_instruction = 56;
  layout.code_first_line = 72;
  layout.code_file = 112;
  layout.code_name = 128;
  layout.code_lines = 136;
  layout.code_bytes = 184;
  layout.instruction = PythonInstruction::Pointer;
  layout.lines = PythonLines::Locations;
  return layout;
}

PythonLayout layout_of_312() {
  PythonLayout layout = layout_of_311();
  layout.interpreter_threads = 72;
  layout.thread_id = 136;
  layout.cframe_frame = 0;
  layout.frame_previous = 8;
  layout.frame_code = 0;
  layout.frame_owner = 70;
  layout.code_first_line = 68;
  layout.code_bytes = 192;
  layout.text_ascii = 40;
  layout.text_other = 56;
  return layout;
}

std::uint64_t word_of(std::span<const std::byte> bytes, std::size_t index) {
  std::uint64_t word = 0;
  if ((index + 1) * sizeof word <= bytes.size())
    std::memcpy(&word, bytes.data() + index * sizeof word, sizeof word);
  return word;
}

/// Py_Version (3.11), or what a version has that the one before it lacks.
unsigned version_of(const elf::Image& image) {
  if (const auto* symbol = image.find_export("Py_Version", ""))
    return static_cast<unsigned>(word_of(image.bytes_at(symbol->value, 8), 0) & 0xffff'ffff) >> 16;
  constexpr std::array<std::pair<std::string_view, unsigned>, 3> kNew = {
      {{"PyIter_Send", k310}, {"PyThreadState_GetFrame", k39}, {"PyCode_NewWithPosOnlyArgs", k38}}};
  for (const auto& [name, version] : kNew)
    if (image.find_export(name, "") != nullptr) return version;
  return 0;
}

/// Where a frame's instructions are counted from is the size of a code object without them, which
/// its type states (3.11 and later). A build with other objects (Py_TRACE_REFS) is not known.
bool has_known_objects(const elf::Image& image, const elf::Symbol& code_type,
                       const PythonLayout& layout) {
  constexpr std::int64_t kBasicSize = 32; // PyTypeObject::tp_basicsize
  return layout.code_bytes == 0 ||
         word_of(image.bytes_at(code_type.value + kBasicSize, 8), 0) == layout.code_bytes;
}

} // namespace

std::optional<PythonLayout> known_python_layout(unsigned version) {
  switch (version) {
    case k38:
    case k39:
      return layout_with_frame_objects(104, PythonInstruction::Bytes, PythonLines::Increments);
    case k310: return layout_with_frame_objects(96, PythonInstruction::Units, PythonLines::Ranges);
    case k311: return layout_of_311();
    case k312: return layout_of_312();
    default: return std::nullopt;
  }
}

std::optional<PythonLayout> python_layout_of_itself(std::span<const std::byte> offsets) {
  constexpr std::string_view kCookie = "xdebugpy";
  if (offsets.size() < kCookie.size() ||
      std::memcmp(offsets.data(), kCookie.data(), kCookie.size()) != 0 ||
      word_of(offsets, 1) >> 16 != k313)
    return std::nullopt;
  // The members are words, group by group, each group with the size of its structure first.
  enum : std::size_t {
    kRuntime = 3,
    kInterpreter = kRuntime + 3,
    kThread = kInterpreter + 13,
    kFrame = kThread + 9,
    kCode = kFrame + 6,
    kObject = kCode + 10,
    kType = kObject + 2,
    kTuple = kType + 4,
    kList = kTuple + 3,
    kDict = kList + 3,
    kFloat = kDict + 3,
    kLong = kFloat + 2,
    kBytes = kLong + 3,
    kText = kBytes + 3,
    kEnd = kText + 4,
  };
  if (offsets.size() < kEnd * 8) return std::nullopt;
  bool is_sound = true;
  const auto member = [&](std::size_t index, std::uint32_t limit) {
    const std::uint64_t offset = word_of(offsets, index);
    is_sound = is_sound && offset <= limit - 8;
    return static_cast<std::uint32_t>(offset);
  };
  constexpr auto kSpan = static_cast<std::uint32_t>(wire::kPythonObjectSpan);
  PythonLayout layout = common_layout();
  layout.runtime_interpreters = member(kRuntime + 2, wire::kPythonStateSpan);
  layout.interpreter_next = member(kInterpreter + 2, wire::kPythonStateSpan);
  layout.interpreter_threads = member(kInterpreter + 3, wire::kPythonStateSpan);
  layout.thread_previous = member(kThread + 1, kSpan);
  layout.thread_next = member(kThread + 2, kSpan);
  layout.thread_interpreter = member(kThread + 3, kSpan);
  layout.thread_frame = member(kThread + 4, kSpan);
  layout.thread_id = member(kThread + 5, kSpan);
  layout.frame_previous = member(kFrame + 1, kSpan);
  layout.frame_code = member(kFrame + 2, kSpan);
  layout.frame_instruction = member(kFrame + 3, kSpan);
  layout.frame_owner = member(kFrame + 5, kSpan);
  layout.code_file = member(kCode + 1, kSpan);
  layout.code_name = member(kCode + 3, kSpan);
  layout.code_lines = member(kCode + 4, kSpan);
  layout.code_first_line = member(kCode + 5, kSpan);
  layout.code_bytes = member(kCode + 9, wire::kPythonStateSpan);
  layout.object_type = member(kObject + 1, kSpan);
  layout.bytes_size = member(kBytes + 1, kSpan / 2);
  layout.bytes_data = member(kBytes + 2, kSpan / 2);
  layout.text_state = member(kText + 1, kSpan);
  layout.text_length = member(kText + 2, kSpan);
  layout.text_ascii = member(kText + 3, kSpan);
  layout.text_other = layout.text_ascii + 16; // PyCompactUnicodeObject: utf8_length, utf8
  layout.instruction = PythonInstruction::Pointer;
  layout.lines = PythonLines::Locations;
  if (!is_sound || layout.bytes_data < layout.bytes_size + 8) return std::nullopt;
  return layout;
}

Result<std::optional<PythonLayout>> python_layout(const elf::Image& image, LoadBias bias) {
  const auto* runtime = image.find_export("_PyRuntime", "");
  const auto* code_type = image.find_export("PyCode_Type", "");
  if (runtime == nullptr || code_type == nullptr) return std::optional<PythonLayout>();
  const unsigned version = version_of(image);
  constexpr std::size_t kOffsetsRoom = 1024;
  auto layout = version >= k313
                    ? python_layout_of_itself(image.bytes_at(runtime->value, kOffsetsRoom))
                    : known_python_layout(version);
  if (!layout || !has_known_objects(image, *code_type, *layout))
    return Error::saying(version != 0 ? fmt::format("this build of Python {}.{} is not known",
                                                    version >> 8, version & 0xff)
                                      : "this version of Python is not known");
  layout->runtime = bias.to_tracee(runtime->value).value();
  layout->code_type = bias.to_tracee(code_type->value).value();
  return layout;
}

} // namespace sonictrace
