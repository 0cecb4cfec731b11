#include "sonictrace/log/line.hpp"

#include <array>
#include <cstring>

#include "log/digits.hpp"

namespace sonictrace::log {
namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::string_view kUnfinished = " <unfinished ...>";
constexpr std::string_view kNoReturn = " <no return ...>";
constexpr std::string_view kResumed = " resumed> ";

/// Bytes of the names that need no second look: C's, and those of C++ in namespaces.
constexpr auto kPlainNameBytes = [] {
  std::array<bool, 256> plain = {};
  for (int c = '0'; c <= '9'; ++c)
    plain[static_cast<std::size_t>(c)] = true;
  for (int c = 'a'; c <= 'z'; ++c)
    plain[static_cast<std::size_t>(c)] = plain[static_cast<std::size_t>(c - 32)] = true;
  for (const char c : {'_', ':', '.', '@', '$', '~', '+'})
    plain[static_cast<unsigned char>(c)] = true;
  return plain;
}();

/// A file's name may have these; they tell CALLER->NAME from `operator->`.
bool is_file_byte(char c) {
  return kPlainNameBytes[static_cast<unsigned char>(c)] || c == '-' || c == ' ' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// Walks through a line.
class Parser {
public:
  /// `line` is a fresh one.
  Parser(std::string_view text, std::size_t slack, Line& line)
      : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()),
        readable_(end_ + slack), line_(line) {
    if (at_ != end_ && end_[-1] == '\r') --end_;
  }

  void parse() {
    if (at_ == end_) {
      line_.kind = LineKind::Blank;
      return;
    }
    if (*at_ == '\t') return read_source();
    if (!read_thread() || !read_time()) return bad();
    read_address();
    const char* const content = at_;
    while (at_ != end_ && *at_ == ' ')
      ++at_;
    line_.indent = static_cast<std::uint32_t>(at_ - content);
    if (at_ == end_) {
      line_.kind = LineKind::Blank;
      return;
    }
    switch (*at_) {
      case '+': return read_plus();
      case '-': return read_dashes();
      case '>': return read_frame();
      case '<':
        if (rest().starts_with("<... ")) return read_resumed();
        [[fallthrough]]; // Rust: <T as Trait>::f(
      default: return read_call();
    }
  }

private:
  std::string_view rest() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }
  std::uint32_t offset(const char* p) const { return static_cast<std::uint32_t>(p - begin_); }

  void bad() { line_ = Line{}; }

  /// `[pid 4822] ` and `4822 `.
  bool read_thread() {
    if (*at_ == '[') {
      if (!rest().starts_with("[pid ")) return true; // an address
      const char* p = at_ + 5;
      if (p == end_ || !is_digit(*p)) return false;
      const auto tid = read_number(p, end_);
      if (end_ - p < 2 || p[0] != ']' || p[1] != ' ') return false;
      at_ = p + 2;
      return set_thread(tid);
    }
    if (!is_digit(*at_)) return true;
    const char* p = at_;
    const auto tid = read_number(p, end_);
    if (p == end_) return false;
    if (*p != ' ') return true; // a time
    at_ = p + 1;
    return set_thread(tid);
  }

  bool set_thread(std::uint64_t tid) {
    if (tid > 0xffffffffU) return false;
    line_.tid = static_cast<std::uint32_t>(tid);
    return true;
  }

  bool read_time() {
    const char* p = at_;
    // Relative times are right-justified in three columns.
    while (p != end_ && *p == ' ')
      ++p;
    if (p == end_ || !is_digit(*p)) return true; // no time: an indent
    const char* const first = p;
    // Nearly every line of a log has this one: HH:MM:SS.
    if (end_ - p > 8 && p[2] == ':' && p[5] == ':') {
      const std::uint64_t word = load_eight(p);
      constexpr std::uint64_t kColons = 0x0000ff0000ff0000U;
      std::uint64_t seconds = 0;
      // HHMMSS: the colons are taken out.
      const std::uint64_t six =
          (word & 0xffffU) | (word >> 8 & 0xffff0000U) | (word >> 16 & 0xffff00000000U);
      if ((word & kColons) != (in_all_bytes(':') & kColons) || !read_six_digits(six, seconds))
        return false;
      const std::uint64_t minutes = seconds / 100 % 100;
      if (minutes > 59 || seconds % 100 > 60) return false;
      line_.time_ns = (seconds / 10000 * 3600 + minutes * 60 + seconds % 100) * 1'000'000'000U;
      line_.clock = Clock::TimeOfDay;
      p += 8;
    } else {
      line_.time_ns = read_number(p, end_) * 1'000'000'000U;
      // -ttt has ten digits until 2286; a machine's clock may stand at its beginning, but then not
      // within the first three years.
      line_.clock = p - first >= 9 ? Clock::Epoch : Clock::Relative;
      if (p == end_ || *p != '.') return false;
    }
    if (p != end_ && *p == '.') {
      const char* const digits = ++p;
      std::uint64_t microseconds = 0;
      if (readable_ - p >= 8 && end_ - p > 6 && !is_digit(p[6]) &&
          read_six_digits(load_eight(p), microseconds)) {
        line_.time_ns += microseconds * 1000;
        p += 6;
      } else {
        line_.time_ns += read_fraction_ns(p, end_);
      }
      if (p == digits) return false;
      line_.fraction_digits = static_cast<std::uint8_t>(p - digits > 9 ? 9 : p - digits);
    }
    if (p != end_ && *p == '/') {
      const char* const digits = ++p;
      if (!set_thread(read_number(p, end_)) || p == digits) return false;
    }
    if (p == end_ || *p != ' ') return false;
    at_ = p + 1;
    return true;
  }

  void read_address() {
    if (end_ - at_ < 5 || at_[0] != '[' || at_[1] != '0' || at_[2] != 'x') return;
    const auto* close = static_cast<const char*>(std::memchr(at_, ']', 24));
    if (static_cast<std::size_t>(end_ - at_) < 24)
      close = static_cast<const char*>(std::memchr(at_, ']', static_cast<std::size_t>(end_ - at_)));
    if (close != nullptr && close + 1 != end_ && close[1] == ' ') at_ = close + 2;
  }

  void read_plus() {
    const auto text = rest();
    if (!text.starts_with("+++ ") || !text.ends_with(" +++") || text.size() < 8) return bad();
    line_.name_begin = offset(at_ + 4);
    line_.name_end = offset(end_ - 4);
    const auto inner = text.substr(4, text.size() - 8);
    if (inner.starts_with("exited (status ") || inner.starts_with("killed by "))
      line_.kind = LineKind::Exited;
    else if (inner.starts_with("sonictrace: "))
      line_.kind = LineKind::Closing;
    else if (inner.ends_with(" s, not written") &&
             (inner.find(" more calls, ") != npos || inner.find(" more call, ") != npos))
      line_.kind = LineKind::Thinned;
    else if (inner.find(" is in ") != npos)
      line_.kind = LineKind::ModuleOf;
    else
      line_.kind = LineKind::Remark;
  }

  void read_dashes() {
    const auto text = rest();
    if (!text.starts_with("--- ") || !text.ends_with(" ---") || text.size() < 8) return bad();
    line_.name_begin = offset(at_ + 4);
    line_.name_end = offset(end_ - 4);
    line_.kind = text.starts_with("--- Called exec() ---") ? LineKind::Exec : LineKind::Signal;
  }

  void read_frame() {
    if (!rest().starts_with("> ") || line_.indent == 0) return bad();
    line_.kind = LineKind::Frame;
  }

  /// What ltrace 0.8 writes behind a frame: `\t../csu/libc-start.c:360:3`.
  void read_source() {
    const auto text = rest();
    const auto colon = text.find(':');
    if (colon == npos || colon + 1 == text.size() ||
        text.find_first_not_of("0123456789:", colon) != npos)
      return bad();
    line_.kind = LineKind::Frame;
  }

  void read_resumed() {
    const auto text = rest();
    const auto mark = text.find(kResumed, 5);
    if (mark == npos || mark == 5) return bad();
    line_.name_begin = offset(at_ + 5);
    line_.name_end = offset(at_ + mark);
    line_.arguments_begin = offset(at_ + mark + kResumed.size());
    line_.kind = LineKind::Resumed;
    if (!read_end()) return bad();
  }

  void read_call() {
    const char* const name = at_;
    const char* p = skip_plain_name(at_);
    if (p != end_ && *p == '(' && p != name && is_plain(name, p)) {
      line_.name_begin = line_.caller_begin = line_.caller_end = offset(name);
    } else {
      const auto caller = read_caller();
      at_ = name + caller;
      line_.name_begin = offset(at_);
      line_.caller_begin = offset(name);
      line_.caller_end = caller == 0 ? offset(name) : offset(at_ - 2);
      const auto open = find_open_parenthesis(rest());
      if (open == npos) return bad();
      p = at_ + open;
    }
    line_.name_end = offset(p);
    line_.arguments_begin = offset(p + 1);
    line_.kind = LineKind::Call;
    if (!read_end()) return bad();
  }

  /// The first byte that is none of a plain name.
  const char* skip_plain_name(const char* p) const {
    while (readable_ - p >= 8) {
      const std::uint64_t word = load_eight(p);
      const std::uint64_t folded = word | in_all_bytes(0x20);
      // Letters, and what folding makes their neighbours: @ ~ _ and ` ^, which are in no name.
      // Digits, and . / : beside them; a slash is in no name either.
      const std::uint64_t plain = (bytes_between(folded & in_all_bytes(0x7f), 0x60, 0x7a) |
                                   bytes_between(folded & in_all_bytes(0x7f), 0x7e, 0x7f) |
                                   bytes_between(word & in_all_bytes(0x7f), 0x2e, 0x3a)) &
                                  ~word;
      const std::uint64_t other = ~plain & in_all_bytes(0x80);
      if (other == 0) {
        p += 8;
        continue;
      }
      p += std::countr_zero(other) / 8;
      return p > end_ ? end_ : p;
    }
    while (p < end_ && kPlainNameBytes[static_cast<unsigned char>(*p)])
      ++p;
    return p > end_ ? end_ : p;
  }

  /// Whether the parenthesis at `open` surely opens the arguments.
  bool is_plain(const char* name, const char* open) const {
    if (end_ - open < 3) return true;
    if (open[-1] == ':') return false; // (anonymous ..)
    if (open[-1] == 'r' && open - name >= 8 && std::memcmp(open - 8, "operator", 8) == 0)
      return false;
    // The full form: types, and not values, may follow. Values begin with a letter too, but seldom.
    if (open[1] == ')')
      return open[2] != '(' && open + 2 != end_ &&
             !(open[2] == ' ' && end_ - open > 3 &&
               (open[3] == 'c' || open[3] == 'v' || open[3] == '&' || open[3] == '['));
    const auto first = static_cast<unsigned char>(open[1] | 0x20);
    return !(first >= 'a' && first <= 'z');
  }

  /// Length of `CALLER->`; 0 without one.
  std::size_t read_caller() const {
    const auto text = rest();
    std::size_t i = 0;
    while (i < text.size() && is_file_byte(text[i])) {
      if (text[i] == '-' && i + 1 < text.size() && text[i + 1] == '>') {
        const bool is_operator = i >= 8 && text.substr(i - 8, 8) == "operator";
        return i == 0 || is_operator ? 0 : i + 2;
      }
      ++i;
    }
    return 0;
  }

  /// What stands at the end of a call's line, from there towards its beginning.
  bool read_end() {
    const char* const arguments = begin_ + line_.arguments_begin;
    if (arguments > end_) return false;
    const char* tail = end_;
    if (end_ != arguments && end_[-1] == '>') {
      if (const char* const mark = read_duration(arguments)) {
        tail = mark;
      } else if (line_.kind == LineKind::Call) {
        // The argument list may be empty: `pause( <unfinished ...>`.
        const std::string_view text(arguments - 1, static_cast<std::size_t>(end_ - arguments) + 1);
        if (text.ends_with(kUnfinished)) {
          line_.kind = LineKind::Begun;
          line_.tail = offset(end_ - kUnfinished.size());
          return true;
        }
        if (text.ends_with(kNoReturn)) {
          line_.kind = LineKind::NoReturn;
          line_.tail = offset(end_ - kNoReturn.size());
          return true;
        }
      }
    }
    line_.tail = offset(tail);
    const char* const sign = find_result(arguments, tail);
    if (sign == nullptr) return false;
    line_.unwound = tail - sign == 11 && std::memcmp(sign, "= <unwound>", 11) == 0;
    return true;
  }

  /// ` <0.000012>` at the end: where it begins, or null.
  const char* read_duration(const char* arguments) {
    // Nearly always: ` <0.000012>`.
    if (end_ - arguments > 11 && end_[-8] == '.' && end_[-10] == '<' && end_[-11] == ' ' &&
        is_digit(end_[-9])) {
      std::uint64_t microseconds = 0;
      if (read_six_digits(load_eight(end_ - 9) >> 16, microseconds)) {
        line_.duration_ns = digit(end_[-9]) * std::uint64_t{1'000'000'000} + microseconds * 1000;
        return end_ - 11;
      }
    }
    const char* p = end_ - 1;
    while (p != arguments && is_digit(p[-1]))
      --p;
    const char* const fraction = p;
    if (p == end_ - 1 || p == arguments || *--p != '.') return nullptr;
    while (p != arguments && is_digit(p[-1]))
      --p;
    const char* const seconds = p;
    if (*p == '.' || p - arguments < 2 || p[-1] != '<' || p[-2] != ' ') return nullptr;
    const char* at = seconds;
    std::uint64_t ns = read_number(at, end_);
    if (ns >= 10'000'000'000U || *at != '.') return nullptr; // 300 years
    at = fraction;
    line_.duration_ns = ns * 1'000'000'000U + read_fraction_ns(at, end_);
    return seconds - 2;
  }

  /// The `=` of `) = value`, searched from the end; null where there is none.
  static const char* find_result(const char* arguments, const char* tail) {
    for (const char* p = tail - 2; p > arguments; --p) {
      if (*p != '=' || p[1] != ' ' || p[-1] != ' ') continue;
      const char* q = p - 1;
      while (q > arguments && q[-1] == ' ')
        --q;
      if (q > arguments && q[-1] == ')') return p;
    }
    return nullptr;
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  const char* readable_; ///< bytes up to here may be read
  Line& line_;
};

} // namespace

void parse_line(std::string_view text, std::size_t slack, Line& line) {
  Parser(text, slack, line).parse();
}

CallText split_call(std::string_view text, const Line& line) {
  const auto inner =
      text.substr(line.arguments_begin,
                  line.tail > line.arguments_begin ? line.tail - line.arguments_begin : 0);
  if (line.kind == LineKind::Begun || line.kind == LineKind::NoReturn) return {inner, {}};
  // Forwards first: a result may look like the end of a call. Arguments that have quotes which are
  // not escaped, as ltrace writes them, may look like anything: then backwards.
  auto close = find_close_parenthesis(inner, 0);
  std::size_t result = npos;
  if (close != npos) {
    result = inner.find_first_not_of(' ', close + 1);
    if (result == npos || !inner.substr(result).starts_with("= ")) close = npos;
  }
  if (close == npos) {
    for (result = inner.rfind("= "); result != npos && result > 0;
         result = inner.rfind("= ", result - 1)) {
      close = inner.find_last_not_of(' ', result - 1);
      if (inner[result - 1] == ' ' && close != npos && inner[close] == ')') break;
    }
    if (result == npos || result == 0 || close == npos) return {inner, {}};
  }
  return {inner.substr(0, close), inner.substr(result + 2)};
}

ModuleOf split_module(std::string_view text, const Line& line) {
  const auto inner = line.name(text);
  // A name may hold these words, a soname hardly.
  const auto mark = inner.rfind(" is in ");
  return {inner.substr(0, mark), inner.substr(mark + 7)};
}

ThinnedCalls split_thinned(std::string_view text, const Line& line) {
  const auto inner = line.name(text);
  auto words = inner.rfind(" more calls, ");
  if (words == npos) words = inner.rfind(" more call, "); // just one
  const auto colon = words == npos ? npos : inner.rfind(": ", words);
  if (colon == npos) return {};
  ThinnedCalls thinned;
  thinned.function = inner.substr(0, colon);
  const char* p = inner.data() + colon + 2;
  const char* const end = inner.data() + inner.size();
  thinned.calls = read_number(p, end);
  p = inner.data() + inner.find(", ", words) + 2;
  thinned.total_ns = read_number(p, end) * 1'000'000'000U;
  if (p != end && *p == '.') thinned.total_ns += read_fraction_ns(++p, end);
  return thinned;
}

} // namespace sonictrace::log
