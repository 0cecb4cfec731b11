#pragma once

// Freestanding, as everything in wire/: the tracer and the agent both compile it.
//
// Which Python function, and where in it, a thread is in: read out of CPython's own structures,
// without running any of its code. Where they lie differs from version to version; a PythonLayout
// says it.

#include <cstddef>
#include <cstdint>

namespace sonictrace::wire {

/// How a frame says which instruction it is at.
enum class PythonInstruction : std::uint32_t {
  Pointer = 1, ///< its address (3.11 and later)
  Bytes = 2,   ///< a 32-bit offset in bytes (3.8, 3.9)
  Units = 3,   ///< a 32-bit number of instructions of two bytes (3.10)
};

/// How a code object tells the line of an instruction.
enum class PythonLines : std::uint32_t {
  Increments = 1, ///< 3.8, 3.9: Objects/lnotab_notes.txt
  Ranges = 2,     ///< 3.10: PEP 626
  Locations = 3,  ///< 3.11 and later: Objects/locations.md
};

/// Offset of a member that the version does not have.
constexpr std::uint32_t kNoMember = ~std::uint32_t{0};

/// Where the members that are looked at lie in a version's structures, in bytes.
struct PythonLayout {
  std::uint64_t runtime;   ///< address of _PyRuntime; 0: there is no interpreter
  std::uint64_t code_type; ///< address of PyCode_Type

  std::uint32_t runtime_interpreters; ///< _PyRuntimeState::interpreters.head
  std::uint32_t interpreter_next;     ///< PyInterpreterState::next
  std::uint32_t interpreter_threads;  ///< ... its first PyThreadState
  std::uint32_t thread_previous;      ///< PyThreadState::prev
  std::uint32_t thread_next;
  std::uint32_t thread_interpreter;
  std::uint32_t thread_id;    ///< ... pthread_self(3)
  std::uint32_t thread_frame; ///< ... the frame, or what `cframe_frame` is in
  std::uint32_t cframe_frame; ///< _PyCFrame::current_frame (3.11, 3.12)
  std::uint32_t frame_previous;
  std::uint32_t frame_code;
  std::uint32_t frame_instruction;
  std::uint32_t frame_owner; ///< a byte; kPythonFrameOfC is passed over (3.12 and later)
  std::uint32_t object_type; ///< PyObject::ob_type
  std::uint32_t code_first_line;
  std::uint32_t code_file;
  std::uint32_t code_name; ///< the qualified one, where there is one (3.11 and later)
  std::uint32_t code_lines;
  std::uint32_t code_bytes;  ///< co_code_adaptive: where `frame_instruction` counts from
  std::uint32_t text_length; ///< of a str: in characters
  std::uint32_t text_state;
  std::uint32_t text_ascii; ///< where the characters begin
  std::uint32_t text_other;
  std::uint32_t bytes_size;
  std::uint32_t bytes_data;
  PythonInstruction instruction;
  PythonLines lines;
  std::uint32_t reserved;
};
static_assert(sizeof(PythonLayout) == 128);

/// FRAME_OWNED_BY_CSTACK (Include/internal/pycore_frame.h): stands for the C code that has called
/// the interpreter.
constexpr std::uint8_t kPythonFrameOfC = 3;

/// Members lie no farther from an object's begin than this; of interpreters and the runtime, than
/// that.
constexpr std::size_t kPythonObjectSpan = 256;
constexpr std::uint32_t kPythonStateSpan = std::uint32_t{1} << 24;

/// Of the texts and the table that tell of a code object, at most so many bytes are copied.
constexpr std::uint32_t kPythonNameSpan = 1024;
constexpr std::uint32_t kPythonFileSpan = 4096;
constexpr std::uint32_t kPythonLinesSpan = std::uint32_t{1} << 17;

/// Where a thread is.
struct PythonPlace {
  std::uint64_t code = 0;  ///< address of its code object
  std::int64_t offset = 0; ///< of its instruction, in bytes; negative: before the first
};

/// What is kept of a thread from one look to the next.
struct PythonHint {
  std::uint64_t state; ///< its PyThreadState, when it was last seen; 0: none
  /// The first thread of the list that it was looked for in, in vain: none has come since.
  std::uint64_t missed;
};

/// A code object's members. `key` is another one for another code object, also where that lies at
/// the same address later.
struct PythonCode {
  std::uint64_t key;
  std::uint64_t file, name, lines; ///< addresses of objects
  std::uint32_t first_line;
};

/// The characters of a str.
struct PythonText {
  std::uint64_t data = 0;
  std::uint32_t bytes = 0;
  std::uint8_t unit = 1; ///< bytes of a character: 1 (Latin-1), 2, 4
  bool is_cut = false;
};

/// What a record of a place says (RingPython of ring.hpp), and what the one of its code object
/// holds: behind this the name, the file and the line table, each padded to 8 bytes.
struct PythonCodeHead {
  std::uint64_t key;
  std::uint32_t first_line;
  PythonLines lines;
  std::uint32_t name_size, file_size, lines_size; ///< bytes
  std::uint8_t name_unit, file_unit;              ///< see PythonText
  std::uint8_t name_is_cut, file_is_cut;
};
static_assert(sizeof(PythonCodeHead) == 32);

constexpr std::size_t python_padded(std::size_t size) { return (size + 7) & ~std::size_t{7}; }

/// `Memory`: see CaptureInterpreter.
template <class Memory>
class PythonReader {
public:
  PythonReader(Memory& memory, const PythonLayout& layout) : memory_(memory), layout_(layout) {}

  /// Where the innermost Python function of the thread with this pthread_self(3) is. False: it has
  /// none, or what is there does not make sense.
  bool find(std::uint64_t thread, PythonHint& hint, PythonPlace& place) {
    std::uint64_t frame = 0;
    if (hint.state == 0 || !read_thread(hint.state, thread) || !is_linked(hint.state) ||
        !read_frame(frame) || frame == 0)
      hint.state = search(thread, hint.missed, frame);
    constexpr int kMostInRow = 16;
    for (int i = 0; i < kMostInRow && frame != 0; ++i) {
      if (!read_object(frame, frame_span())) return false;
      const bool is_of_c =
          layout_.frame_owner != kNoMember &&
          static_cast<std::uint8_t>(bytes_[layout_.frame_owner]) == kPythonFrameOfC;
      if (!is_of_c) {
        place.code = word_at(layout_.frame_code);
        place.offset = offset_in(place.code);
        return place.code != 0;
      }
      frame = word_at(layout_.frame_previous);
    }
    return false;
  }

  /// False: it is none.
  bool read_code(std::uint64_t address, PythonCode& code) {
    if (!read_object(address, code_span()) || word_at(layout_.object_type) != layout_.code_type)
      return false;
    code.file = word_at(layout_.code_file);
    code.name = word_at(layout_.code_name);
    code.lines = word_at(layout_.code_lines);
    code.first_line = half_at(layout_.code_first_line);
    std::uint64_t key = mixed(mixed(address, code.file), mixed(code.name, code.lines));
    key = mixed(key, code.first_line);
    // The table's begin, too: where a code object has lain, the next one of the same names may.
    constexpr std::uint32_t kBegin = 32;
    const std::uint32_t data = layout_.bytes_data - layout_.bytes_size;
    const std::size_t read = memory_.read(code.lines + layout_.bytes_size, bytes_, data + kBegin);
    if (read < data) return false;
    const std::uint64_t size = word_at(0);
    key = mixed(key, size);
    for (std::uint32_t at = 0; at + 8 <= size && data + at + 8 <= read; at += 8)
      key = mixed(key, word_at(data + at));
    code.key = key != 0 ? key : 1;
    return true;
  }

  /// What of a code object is to be copied, and how much room that takes.
  struct Parts {
    PythonText name, file;
    std::uint64_t lines = 0;
    std::uint32_t lines_size = 0;
    std::size_t size = 0; ///< bytes, the PythonCodeHead included; a multiple of 8
  };
  Parts parts_of(const PythonCode& code) {
    Parts parts;
    parts.name = text_at(code.name, kPythonNameSpan);
    parts.file = text_at(code.file, kPythonFileSpan);
    std::uint64_t size = 0;
    if (read_word(code.lines + layout_.bytes_size, size)) {
      parts.lines = code.lines + layout_.bytes_data;
      parts.lines_size =
          size < kPythonLinesSpan ? static_cast<std::uint32_t>(size) : kPythonLinesSpan;
    }
    parts.size = sizeof(PythonCodeHead) + python_padded(parts.name.bytes) +
                 python_padded(parts.file.bytes) + python_padded(parts.lines_size);
    return parts;
  }

  /// Puts `parts.size` bytes to `to`, which is aligned to 8. What can't be read is left out.
  void put_code(const PythonCode& code, const Parts& parts, std::byte* to) {
    auto& head = *reinterpret_cast<PythonCodeHead*>(to);
    std::byte* at = to + sizeof head;
    head.key = code.key;
    head.first_line = code.first_line;
    head.lines = layout_.lines;
    head.name_size = put(parts.name.data, parts.name.bytes, at);
    head.file_size = put(parts.file.data, parts.file.bytes, at);
    head.lines_size = put(parts.lines, parts.lines_size, at);
    head.name_unit = parts.name.unit;
    head.file_unit = parts.file.unit;
    head.name_is_cut = parts.name.is_cut ? 1 : 0;
    head.file_is_cut = parts.file.is_cut ? 1 : 0;
  }

private:
  static constexpr std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    constexpr std::uint64_t kOdd = 0x9e37'79b9'7f4a'7c15;
    const std::uint64_t sum = (a ^ b * kOdd) * kOdd;
    return sum ^ sum >> 29;
  }
  static constexpr std::uint32_t larger(std::uint32_t a, std::uint32_t b) { return a > b ? a : b; }

  std::size_t thread_span() const {
    return larger(larger(layout_.thread_id, layout_.thread_frame),
                  larger(layout_.thread_interpreter,
                         larger(layout_.thread_next, layout_.thread_previous))) +
           std::size_t{8};
  }
  std::size_t frame_span() const {
    const std::uint32_t owner = layout_.frame_owner != kNoMember ? layout_.frame_owner / 8 * 8 : 0;
    return larger(larger(layout_.frame_code, layout_.frame_instruction),
                  larger(owner, layout_.frame_previous)) +
           std::size_t{8};
  }
  std::size_t code_span() const {
    return larger(larger(layout_.code_file, layout_.code_name),
                  larger(layout_.code_lines, layout_.code_first_line)) +
           std::size_t{8};
  }

  bool read_object(std::uint64_t address, std::size_t span) {
    return address != 0 && address % 8 == 0 && span <= sizeof bytes_ &&
           memory_.read(address, bytes_, span) == span;
  }
  std::uint64_t word_at(std::uint32_t offset) const {
    std::uint64_t word;
    __builtin_memcpy(&word, bytes_ + offset, sizeof word);
    return word;
  }
  std::uint32_t half_at(std::uint32_t offset) const {
    std::uint32_t half;
    __builtin_memcpy(&half, bytes_ + offset, sizeof half);
    return half;
  }
  bool read_word(std::uint64_t address, std::uint64_t& word) {
    return memory_.read(address, reinterpret_cast<std::byte*>(&word), sizeof word) == sizeof word;
  }

  /// Leaves the PyThreadState in `bytes_`.
  bool read_thread(std::uint64_t state, std::uint64_t thread) {
    return read_object(state, thread_span()) && word_at(layout_.thread_id) == thread;
  }

  /// A PyThreadState that was freed may look as it did; but it is in no list any more. The one in
  /// `bytes_`.
  bool is_linked(std::uint64_t state) {
    const std::uint64_t previous = word_at(layout_.thread_previous);
    const std::uint64_t link =
        previous != 0 ? previous + layout_.thread_next
                      : word_at(layout_.thread_interpreter) + layout_.interpreter_threads;
    std::uint64_t linked = 0;
    return read_word(link, linked) && linked == state;
  }

  /// The innermost frame of the PyThreadState in `bytes_`.
  bool read_frame(std::uint64_t& frame) {
    frame = word_at(layout_.thread_frame);
    return layout_.cframe_frame == kNoMember || read_word(frame + layout_.cframe_frame, frame);
  }

  /// The thread's PyThreadState, and its innermost frame. A thread that has been in several
  /// interpreters has one in each: the newest of those that have a frame is meant. New threads come
  /// first in their list, so that there is none as long as that begins with `missed`.
  std::uint64_t search(std::uint64_t thread, std::uint64_t& missed, std::uint64_t& frame) {
    constexpr int kMostInterpreters = 64, kMostThreads = 4096;
    std::uint64_t interpreter = 0, first = 0;
    bool is_known = false;
    frame = 0;
    if (!read_word(layout_.runtime + layout_.runtime_interpreters, interpreter)) return 0;
    for (int i = 0; i < kMostInterpreters && interpreter != 0; ++i) {
      std::uint64_t state = 0;
      if (!read_word(interpreter + layout_.interpreter_threads, state)) return 0;
      if (i == 0) {
        if (state != 0 && state == missed) return 0;
        first = state;
      }
      for (int k = 0; k < kMostThreads && state != 0; ++k) {
        if (!read_object(state, thread_span())) break;
        const std::uint64_t next = word_at(layout_.thread_next);
        if (word_at(layout_.thread_id) == thread) {
          is_known = true;
          if (read_frame(frame) && frame != 0) return state;
        }
        state = next;
      }
      if (!read_word(interpreter + layout_.interpreter_next, interpreter)) return 0;
    }
    if (!is_known) missed = first;
    return 0;
  }

  /// Of the instruction of the frame in `bytes_`.
  std::int64_t offset_in(std::uint64_t code) const {
    if (layout_.instruction == PythonInstruction::Pointer)
      return static_cast<std::int64_t>(word_at(layout_.frame_instruction) -
                                       (code + layout_.code_bytes));
    const auto index = static_cast<std::int32_t>(half_at(layout_.frame_instruction));
    return layout_.instruction == PythonInstruction::Units ? std::int64_t{index} * 2 : index;
  }

  /// PyASCIIObject::state (Include/cpython/unicodeobject.h): two bits say whether it is interned,
  /// three the bytes of a character, one each whether the characters lie behind the object, and
  /// whether they are ASCII.
  PythonText text_at(std::uint64_t object, std::uint32_t span) {
    PythonText text;
    const std::size_t head =
        larger(layout_.text_length, layout_.text_state / 8 * 8) + std::size_t{8};
    if (!read_object(object, head)) return text;
    const std::uint32_t state = half_at(layout_.text_state);
    const std::uint64_t length = word_at(layout_.text_length);
    const std::uint32_t unit = state >> 2 & 7;
    const bool is_behind = (state >> 5 & 1) != 0, is_ascii = (state >> 6 & 1) != 0;
    if (!is_behind || (unit != 1 && unit != 2 && unit != 4)) return text;
    text.unit = static_cast<std::uint8_t>(unit);
    text.is_cut = length > span / unit;
    text.bytes = text.is_cut ? span / unit * unit : static_cast<std::uint32_t>(length) * unit;
    text.data = object + (is_ascii ? layout_.text_ascii : layout_.text_other);
    return text;
  }

  std::uint32_t put(std::uint64_t from, std::uint32_t size, std::byte*& at) {
    std::byte* const to = at;
    at += python_padded(size);
    for (std::size_t i = size; i < python_padded(size); ++i)
      to[i] = std::byte{0};
    return memory_.read(from, to, size) == size ? size : 0;
  }

  Memory& memory_;
  const PythonLayout& layout_;
  alignas(8) std::byte bytes_[kPythonObjectSpan];
};

} // namespace sonictrace::wire
