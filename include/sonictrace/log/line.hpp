#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sonictrace::log {

constexpr std::uint32_t kNoTid = 0; ///< the first thread of a log that names no threads
constexpr std::uint64_t kNoTime = ~std::uint64_t{0};
constexpr std::uint64_t kNoDuration = ~std::uint64_t{0};

enum class LineKind : std::uint8_t {
  Call,     ///< a whole call
  Begun,    ///< `<unfinished ...>`
  NoReturn, ///< `<no return ...>`
  Resumed,  ///< `<... NAME resumed>`
  Signal,   ///< `--- SIGUSR1 (User defined signal 1) ---`
  Exec,     ///< `--- Called exec() ---`
  Exited,   ///< `+++ exited (status 0) +++`, `+++ killed by SIGKILL +++`
  ModuleOf, ///< `+++ NAME is in SONAME +++`
  Thinned,  ///< `+++ NAME: N more calls, T s, not written +++`
  Closing,  ///< `+++ sonictrace: ... +++`
  Remark,   ///< any other `+++ ... +++`
  Frame,    ///< of a backtrace: ` > libc.so.6(puts+0x1) [0x7f..]`
  Blank,
  Bad, ///< nothing of the grammar, or cut
};

/// What the time at the beginning of a line counts from.
enum class Clock : std::uint8_t {
  None,
  TimeOfDay, ///< -t, -tt: midnight
  Epoch,     ///< -ttt: 1970
  Relative,  ///< -r: the line before
};

/// One line taken apart. Positions are offsets into the text that was parsed.
struct Line {
  std::uint64_t time_ns = kNoTime;
  std::uint64_t duration_ns = kNoDuration; ///< of `<t>`
  std::uint32_t tid = kNoTid;
  std::uint32_t indent = 0;       ///< blanks in front of the name: -n
  std::uint32_t caller_begin = 0; ///< of CALLER->NAME; the same as `caller_end` without one
  std::uint32_t caller_end = 0;
  std::uint32_t name_begin =
      0; ///< with @SONAME; of events and remarks: of what is between the marks
  std::uint32_t name_end = 0;
  std::uint32_t arguments_begin = 0; ///< behind the parenthesis, or behind `resumed> `
  std::uint32_t tail = 0;            ///< where ` <t>` begins, or ` <unfinished ...>`, or the end
  LineKind kind = LineKind::Bad;
  Clock clock = Clock::None;
  std::uint8_t fraction_digits = 0; ///< of the time: 0, 6 or 9
  bool unwound = false;             ///< `= <unwound>`

  std::string_view name(std::string_view text) const {
    return text.substr(name_begin, name_end - name_begin);
  }
  std::string_view caller(std::string_view text) const {
    return text.substr(caller_begin, caller_end - caller_begin);
  }
};

/// `text` is a line without its newline. Never fails: what is no line of a log is `Bad`. `slack`:
/// so many bytes behind the text may be read; with eight it is faster.
void parse_line(std::string_view text, std::size_t slack, Line& line);
inline Line parse_line(std::string_view text) {
  Line line;
  parse_line(text, 0, line);
  return line;
}

/// Arguments and result of a call, as they are written; views into `text`.
struct CallText {
  std::string_view arguments; ///< without the parentheses
  std::string_view result;    ///< empty where there is none
};

/// Of a line of the kinds Call, Begun, NoReturn, Resumed. Costs more than parse_line.
CallText split_call(std::string_view text, const Line& line);

/// `NAME is in SONAME`.
struct ModuleOf {
  std::string_view function;
  std::string_view module;
};
ModuleOf split_module(std::string_view text, const Line& line);

/// `NAME: N more calls, T s, not written`.
struct ThinnedCalls {
  std::string_view function;
  std::uint64_t calls = 0;
  std::uint64_t total_ns = 0;
};
ThinnedCalls split_thinned(std::string_view text, const Line& line);

/// Where the arguments begin: offset of the parenthesis that opens them in `text`, which begins
/// with a name, as short or as long as a demangler makes it; npos where there is none.
std::size_t find_open_parenthesis(std::string_view text);

/// Where the parenthesis that is open before `from` closes, outside of strings; npos where it does
/// not.
std::size_t find_close_parenthesis(std::string_view text, std::size_t from);

} // namespace sonictrace::log
