// CPython's structures as its headers declare them, as far as they are looked at, built by hand in
// a memory that does not exist: Include/cpython/pystate.h, code.h, frameobject.h,
// Include/internal/pycore_{runtime,interp,frame}.h of each version.
#include "engine/python_layout.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>

#include "engine/python_frames.hpp"
#include "support/fake_memory.hpp"

namespace sonictrace {
namespace {

using wire::PythonLayout;
using Pointer = std::uint64_t;

struct Object {
  std::int64_t references;
  Pointer type;
};
struct VariableObject {
  Object base;
  std::int64_t size;
};
struct Bytes {
  VariableObject base;
  std::int64_t hash;
};

// ---- 3.8, 3.9
struct Runtime38 {
  int flags[4];
  Pointer finalizing, interpreters_mutex, interpreters_head;
};
struct Interpreter38 {
  Pointer next, threads_head;
};
struct ErrorStackItem {
  Pointer type, value, traceback, previous;
};
struct Thread38 {
  Pointer previous, next, interpreter, frame;
  int recursion_depth;
  char overflowed, recursion_critical;
  int stackcheck_counter, tracing, use_tracing;
  Pointer profile_function, trace_function, profile_object, trace_object;
  Pointer error_type, error_value, error_traceback;
  ErrorStackItem exception;
  Pointer exception_info, dictionary;
  int gilstate_counter;
  Pointer async_exception;
  unsigned long thread_id;
};
struct Frame38 {
  VariableObject base;
  Pointer back, code, builtins, globals, locals, value_stack, stack_top, trace;
  char trace_lines, trace_opcodes;
  Pointer generator;
  int last_instruction, line;
};
struct Code38 {
  Object base;
  int argcount, posonly, kwonly, locals, stack_size, flags, first_line;
  Pointer code, constants, names, varnames, freevars, cellvars, cell2arg, file, name, lines;
};
struct Text38 { ///< PyCompactUnicodeObject
  Object base;
  std::int64_t length, hash;
  std::uint32_t state;
  Pointer wide;
  std::int64_t utf8_length; ///< from here on not of ASCII
  Pointer utf8;
  std::int64_t wide_length;
};

// ---- 3.10
struct Thread310 {
  Pointer previous, next, interpreter, frame;
  int recursion_depth, recursion_headroom, stackcheck_counter, tracing;
  Pointer cframe, profile_function, trace_function, profile_object, trace_object;
  Pointer error_type, error_value, error_traceback;
  ErrorStackItem exception;
  Pointer exception_info, dictionary;
  int gilstate_counter;
  Pointer async_exception;
  unsigned long thread_id;
};
struct Frame310 {
  VariableObject base;
  Pointer back, code, builtins, globals, locals, value_stack, trace;
  int stack_depth;
  char trace_lines, trace_opcodes;
  Pointer generator;
  int last_instruction, line;
};

// ---- 3.11
struct Runtime311 {
  int flags[5];
  Pointer finalizing, interpreters_mutex, interpreters_head;
};
struct Interpreter311 {
  Pointer next;
  std::uint64_t next_unique_id;
  Pointer threads_head;
};
struct Thread311 {
  Pointer previous, next, interpreter;
  int initialized, is_static, recursion_remaining, recursion_limit, headroom, tracing, what_event;
  Pointer cframe, profile_function, trace_function, profile_object, trace_object;
  Pointer error_type, error_value, error_traceback, exception_info, dictionary;
  int gilstate_counter;
  Pointer async_exception;
  unsigned long thread_id, native_thread_id;
};
struct CFrame311 {
  std::uint8_t use_tracing;
  Pointer current_frame, previous;
};
struct Frame311 {
  Pointer function, globals, builtins, locals, code, object, previous, previous_instruction;
  int stack_top;
  bool is_entry;
  char owner;
};
struct Code311 {
  VariableObject base;
  Pointer constants, names, exceptions;
  int flags;
  short warmup, entry_size;
  int argcount, posonly, kwonly, stack_size, first_line;
  int counts[5];
  Pointer locals_names, locals_kinds, file, name, qualified_name, lines, weak_references, code,
      line_array;
  int first_traceable;
  Pointer extra;
  char instructions[64];
};

// ---- 3.12
struct Interpreter312 {
  Pointer next;
  std::int64_t id, id_references;
  int requires_reference;
  Pointer mutex;
  int initialized, finalizing;
  std::uint64_t monitoring_version, restart_version, next_unique_id;
  Pointer threads_head;
};
struct Thread312 {
  Pointer previous, next, interpreter;
  unsigned status;
  int whence;
  int py_recursion_remaining, py_recursion_limit, c_recursion_remaining, headroom, tracing,
      what_event;
  Pointer cframe, profile_function, trace_function, profile_object, trace_object, exception,
      exception_info, dictionary;
  int gilstate_counter;
  Pointer async_exception;
  unsigned long thread_id, native_thread_id;
};
struct CFrame312 {
  Pointer current_frame, previous;
};
struct Frame312 {
  Pointer code, previous, function, globals, builtins, locals, object, previous_instruction;
  int stack_top;
  std::uint16_t return_offset;
  char owner;
};
struct Code312 {
  VariableObject base;
  Pointer constants, names, exceptions;
  int flags, argcount, posonly, kwonly, stack_size, first_line;
  int counts[5];
  std::uint32_t version;
  Pointer locals_names, locals_kinds, file, name, qualified_name, lines, weak_references, cached;
  std::uint64_t instrumentation_version;
  Pointer monitoring;
  int first_traceable;
  Pointer extra;
  char instructions[64];
};
struct Text312 {
  Object base;
  std::int64_t length, hash;
  std::uint32_t state;
  std::int64_t utf8_length; ///< from here on not of ASCII
  Pointer utf8;
};

constexpr Pointer kRuntime = 0x1000'0000, kInterpreter = 0x1000'2000, kThread = 0x1000'3000,
                  kOtherThread = 0x1000'4000, kCFrame = 0x1000'5000, kFrame = 0x1000'6000,
                  kOuterFrame = 0x1000'7000, kCode = 0x1000'8000, kName = 0x1000'9000,
                  kFile = 0x1000'a000, kLines = 0x1000'b000, kCodeType = 0x1000'c000;
constexpr std::uint64_t kSelf = 0x7f00'1234'5740, kOther = 0x7f00'1111'1740;

template <class T>
std::string bytes_of(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

/// A process with one interpreter of this version, the second thread of which is in `shape.area`,
/// in its seventh instruction.
class Process {
public:
  explicit Process(unsigned version) : version_(version) {
    switch (version) {
      case 0x0308:
      case 0x0309: map_threads<Runtime38, Interpreter38, Thread38>(kFrame); break;
      case 0x030a: map_threads<Runtime38, Interpreter38, Thread310>(kFrame); break;
      case 0x030b: map_threads<Runtime311, Interpreter311, Thread311>(kCFrame); break;
      default: map_threads<Runtime311, Interpreter312, Thread312>(kCFrame); break;
    }
    map_frames();
    map_code();
    Bytes lines{};
    lines.base.size = static_cast<std::int64_t>(table().size());
    lines.hash = -1;
    memory.map(kLines, bytes_of(lines) + table() + "behind it");
  }

  PythonLayout layout() const {
    PythonLayout layout = known_python_layout(version_).value();
    layout.runtime = kRuntime;
    layout.code_type = kCodeType;
    return layout;
  }

  FakeMemory memory;

  /// `text`: characters of one byte.
  void map_text(Pointer at, std::string_view text, bool is_ascii = true, unsigned unit = 1) {
    const std::uint32_t state = unit << 2 | 1U << 5 | (is_ascii ? 1U << 6 : 0);
    const auto map = [&](auto object, std::size_t ascii_size) {
      object.length = static_cast<std::int64_t>(text.size() / unit);
      object.state = state;
      const std::string head =
          bytes_of(object).substr(0, is_ascii ? ascii_size : std::string::npos);
      memory.map(at, head + std::string(text) + std::string(8, '\0'));
    };
    if (version_ < 0x030c)
      map(Text38{}, offsetof(Text38, utf8_length));
    else
      map(Text312{}, offsetof(Text312, utf8_length));
  }

  /// Line 30 of the seventh instruction, in this version's form.
  std::string table() const {
    if (version_ < 0x030a) return {0, 2, 12, 8, 2, 1};
    if (version_ == 0x030a) return {12, 2, 2, 8, 2, 1};
    // Six units of line 22, one of line 30, one of line 31, without columns.
    return {char(0x80 | 13 << 3 | 5), 4, char(0x80 | 13 << 3), 16, char(0x80 | 13 << 3), 2};
  }

private:
  template <class Runtime, class Interpreter, class Thread>
  void map_threads(Pointer frame) {
    Runtime runtime{};
    runtime.interpreters_head = kInterpreter;
    memory.map(kRuntime, bytes_of(runtime));
    Interpreter interpreter{};
    interpreter.threads_head = kOtherThread;
    memory.map(kInterpreter, bytes_of(interpreter));
    Thread thread{};
    thread.next = kThread;
    thread.interpreter = kInterpreter;
    thread.thread_id = kOther;
    memory.map(kOtherThread, bytes_of(thread));
    thread.previous = kOtherThread;
    thread.next = 0;
    thread.thread_id = kSelf;
    set_frame(thread, frame);
    memory.map(kThread, bytes_of(thread));
  }
  static void set_frame(Thread38& thread, Pointer frame) { thread.frame = frame; }
  static void set_frame(Thread310& thread, Pointer frame) { thread.frame = frame; }
  static void set_frame(Thread311& thread, Pointer frame) { thread.cframe = frame; }
  static void set_frame(Thread312& thread, Pointer frame) { thread.cframe = frame; }

  void map_frames() {
    if (version_ < 0x030a) {
      Frame38 frame{};
      frame.code = kCode;
      frame.last_instruction = 12;
      memory.map(kFrame, bytes_of(frame));
    } else if (version_ == 0x030a) {
      Frame310 frame{};
      frame.code = kCode;
      frame.last_instruction = 6;
      memory.map(kFrame, bytes_of(frame));
    } else if (version_ == 0x030b) {
      CFrame311 current{};
      current.use_tracing = 255;
      current.current_frame = kFrame;
      memory.map(kCFrame, bytes_of(current));
      Frame311 frame{};
      frame.code = kCode;
      frame.previous_instruction = kCode + offsetof(Code311, instructions) + 12;
      frame.owner = 3; // has no meaning there
      memory.map(kFrame, bytes_of(frame));
    } else {
      CFrame312 current{};
      current.current_frame = kFrame;
      memory.map(kCFrame, bytes_of(current));
      Frame312 frame{};
      frame.code = kName; // nothing that is looked at
      frame.owner = 3;    // FRAME_OWNED_BY_CSTACK
      frame.previous = kOuterFrame;
      memory.map(kFrame, bytes_of(frame));
      frame.code = kCode;
      frame.owner = 0;
      frame.previous = 0;
      frame.previous_instruction = kCode + offsetof(Code312, instructions) + 12;
      memory.map(kOuterFrame, bytes_of(frame));
    }
  }

  template <class Code>
  std::string code_of() {
    Code code{};
    if constexpr (requires { code.base.type; })
      code.base.type = kCodeType;
    else
      code.base.base.type = kCodeType;
    code.first_line = 20;
    code.file = kFile;
    if constexpr (requires { code.qualified_name; })
      code.qualified_name = kName;
    else
      code.name = kName;
    code.lines = kLines;
    return bytes_of(code);
  }
  void map_code() {
    map_text(kName, "Shape.area");
    map_text(kFile, "/srv/shape.py");
    memory.map(kCode, version_ < 0x030b    ? code_of<Code38>()
                      : version_ == 0x030b ? code_of<Code311>()
                                           : code_of<Code312>());
  }

  unsigned version_;
};

/// `FUNCTION FILE:LINE`, or nothing.
std::optional<std::string> place_in(FakeMemory& memory, const PythonLayout& layout,
                                    wire::PythonHint& hint) {
  wire::PythonReader<FakeMemory> reader(memory, layout);
  wire::PythonPlace place;
  wire::PythonCode code;
  if (!reader.find(kSelf, hint, place) || !reader.read_code(place.code, code)) return std::nullopt;
  const auto parts = reader.parts_of(code);
  std::vector<std::uint64_t> words(parts.size / 8);
  const auto bytes = std::as_writable_bytes(std::span(words));
  reader.put_code(code, parts, bytes.data());
  PythonCodes codes;
  codes.learn(bytes);
  std::optional<std::string> text;
  PythonFrames frames(
      [&](const FrameDefinition& frame) {
        text = frame.function + ' ' + frame.file + ':' + std::to_string(frame.line);
      },
      FrameIdPool());
  (void)codes.frame_at({code.key, place.offset}, frames);
  return text;
}
std::optional<std::string> place_in(FakeMemory& memory, const PythonLayout& layout) {
  wire::PythonHint hint{};
  return place_in(memory, layout, hint);
}

class PythonVersions : public testing::TestWithParam<unsigned> {};

TEST_P(PythonVersions, show_the_function_that_a_thread_is_in) {
  Process process(GetParam());

  EXPECT_EQ(place_in(process.memory, process.layout()), "Shape.area /srv/shape.py:30");
}

TEST_P(PythonVersions, show_texts_of_other_alphabets) {
  Process process(GetParam());
  process.map_text(kFile, "/caf\xe9.py", false);
  process.map_text(kName, std::string("f\0\xb1\x03", 4), false, 2);

  EXPECT_EQ(place_in(process.memory, process.layout()), "f\xce\xb1 /caf\xc3\xa9.py:30");
}

TEST_P(PythonVersions, show_nothing_of_what_is_no_code) {
  Process process(GetParam());
  PythonLayout layout = process.layout();
  layout.code_type += 8;

  EXPECT_EQ(place_in(process.memory, layout), std::nullopt);
}

TEST_P(PythonVersions, find_the_thread_again_as_long_as_it_is_in_the_list) {
  Process process(GetParam());
  const PythonLayout layout = process.layout();
  wire::PythonHint hint{};
  ASSERT_TRUE(place_in(process.memory, layout, hint));
  EXPECT_EQ(hint.state, kThread);
  EXPECT_TRUE(place_in(process.memory, layout, hint));

  // Freed: its memory is as it was, but the thread before it has none behind it any more.
  process.memory.map(kOtherThread, std::string(256, '\0'));

  EXPECT_EQ(place_in(process.memory, layout, hint), std::nullopt);
  EXPECT_EQ(hint.state, 0u);
}

TEST_P(PythonVersions, look_for_the_interpreter_in_which_a_thread_has_a_function) {
  Process process(GetParam());
  const PythonLayout layout = process.layout();
  // A newer interpreter, where the thread has been as well, and has returned from.
  constexpr Pointer kNewer = 0x2000'0000, kThere = 0x2000'1000, kNoFrame = 0x2000'2000;
  std::string interpreter(256, '\0'), thread(256, '\0'), runtime(256, '\0');
  const auto put = [](std::string& object, std::uint32_t offset, std::uint64_t word) {
    std::memcpy(object.data() + offset, &word, sizeof word);
  };
  put(runtime, layout.runtime_interpreters, kNewer);
  put(interpreter, layout.interpreter_next, kInterpreter);
  put(interpreter, layout.interpreter_threads, kThere);
  put(thread, layout.thread_id, kSelf);
  put(thread, layout.thread_interpreter, kNewer);
  if (layout.cframe_frame != wire::kNoMember) put(thread, layout.thread_frame, kNoFrame);
  process.memory.map(kNoFrame, std::string(64, '\0'));
  process.memory.map(kRuntime, runtime);
  process.memory.map(kNewer, interpreter);
  process.memory.map(kThere, thread);
  wire::PythonHint hint{kThere, 0};

  EXPECT_EQ(place_in(process.memory, layout, hint), "Shape.area /srv/shape.py:30");
  EXPECT_EQ(hint.state, kThread);
}

TEST_P(PythonVersions, do_not_look_for_a_thread_again_before_another_one_has_come) {
  Process process(GetParam());
  const PythonLayout layout = process.layout();
  const auto find = [&](std::uint64_t thread, wire::PythonHint& hint) {
    wire::PythonReader<FakeMemory> reader(process.memory, layout);
    wire::PythonPlace place;
    return reader.find(thread, hint, place);
  };
  wire::PythonHint hint{};
  ASSERT_FALSE(find(0x4711, hint));
  EXPECT_EQ(hint.missed, kOtherThread);
  const int before = process.memory.reads();

  EXPECT_FALSE(find(0x4711, hint));

  EXPECT_EQ(process.memory.reads() - before, 2);
}

INSTANTIATE_TEST_SUITE_P(Python, PythonVersions,
                         testing::Values(0x0308u, 0x0309u, 0x030au, 0x030bu, 0x030cu),
                         [](const auto& tested) {
                           return "version_3_" + std::to_string(tested.param & 0xff);
                         });

TEST(PythonLayout, of_other_versions_is_not_known) {
  EXPECT_FALSE(known_python_layout(0x0307));
  EXPECT_FALSE(known_python_layout(0x030d));
  EXPECT_FALSE(known_python_layout(0));
}

/// struct _Py_DebugOffsets of 3.13, by the numbers of its words: group by group, the structure's
/// size first.
std::vector<std::uint64_t> offsets_of_313() {
  std::vector<std::uint64_t> words(75, 0);
  std::memcpy(words.data(), "xdebugpy", 8);
  words[1] = 0x030d02f0; // 3.13.2
  const auto put = [&](std::size_t at, std::initializer_list<std::uint64_t> members) {
    std::copy(members.begin(), members.end(), words.begin() + static_cast<std::ptrdiff_t>(at));
  };
  put(3, {0, 600, 632});                                  // runtime: finalizing, head
  put(6, {0, 800, 816, 944, 0, 0, 0, 0, 0, 0, 0, 0, 0});  // interpreter: id, next, threads
  put(19, {0, 0, 8, 16, 72, 152, 160, 0, 0});             // thread
  put(28, {0, 8, 0, 56, 80, 70});                         // frame
  put(34, {0, 112, 120, 128, 136, 68, 52, 96, 104, 200}); // code
  put(44, {16, 8});                                       // object
  put(46, {0, 24, 88, 168});                              // type
  put(50, {0, 24, 16});                                   // tuple
  put(53, {0, 24, 16});                                   // list
  put(56, {0, 32, 40});                                   // dict
  put(59, {0, 16});                                       // float
  put(61, {0, 16, 24});                                   // int
  put(64, {0, 16, 32});                                   // bytes
  put(67, {0, 32, 16, 40});                               // str
  return words;
}

TEST(PythonLayout, of_3_13_is_what_it_says_itself) {
  const auto words = offsets_of_313();

  const auto layout = python_layout_of_itself(std::as_bytes(std::span(words)));

  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->runtime_interpreters, 632u);
  EXPECT_EQ(layout->interpreter_next, 816u);
  EXPECT_EQ(layout->interpreter_threads, 944u);
  EXPECT_EQ(layout->thread_next, 8u);
  EXPECT_EQ(layout->thread_frame, 72u);
  EXPECT_EQ(layout->thread_id, 152u);
  EXPECT_EQ(layout->cframe_frame, wire::kNoMember);
  EXPECT_EQ(layout->frame_instruction, 56u);
  EXPECT_EQ(layout->frame_owner, 70u);
  EXPECT_EQ(layout->code_name, 128u);
  EXPECT_EQ(layout->code_first_line, 68u);
  EXPECT_EQ(layout->code_bytes, 200u);
  EXPECT_EQ(layout->object_type, 8u);
  EXPECT_EQ(layout->bytes_data, 32u);
  EXPECT_EQ(layout->text_ascii, 40u);
  EXPECT_EQ(layout->text_other, 56u);
}

TEST(PythonLayout, is_not_believed_where_it_makes_no_sense) {
  const auto of = [](std::vector<std::uint64_t> words) {
    return python_layout_of_itself(std::as_bytes(std::span(words))).has_value();
  };
  auto words = offsets_of_313();
  EXPECT_TRUE(of(words));
  words.resize(70);
  EXPECT_FALSE(of(words)) << "cut short";
  words = offsets_of_313();
  words[0] ^= 1;
  EXPECT_FALSE(of(words)) << "no cookie";
  words = offsets_of_313();
  words[1] = 0x030e0000;
  EXPECT_FALSE(of(words)) << "of 3.14";
  words = offsets_of_313();
  words[23] = 100'000;
  EXPECT_FALSE(of(words)) << "a frame so far from its thread's state";
}

TEST(PythonLayout, is_found_in_no_other_program) {
  const auto image = elf::Image::open("/proc/self/exe");
  ASSERT_TRUE(image);

  const auto layout = python_layout(**image, LoadBias());

  ASSERT_TRUE(layout);
  EXPECT_FALSE(*layout);
}

} // namespace
} // namespace sonictrace
