#include "sonictrace/wire/format.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>

namespace sonictrace::wire {
namespace {

class TextSource {
public:
  explicit TextSource(std::string_view text) : text_(text) {}
  int peek() const { return at_ < text_.size() ? static_cast<unsigned char>(text_[at_]) : 0; }
  int next() {
    const int c = peek();
    if (c > 0) ++at_;
    return c;
  }

private:
  std::string_view text_;
  std::size_t at_ = 0;
};

std::string name_of(ArgumentTag tag) {
  constexpr const char* kNames[] = {"none", "d", "u", "x", "o", "c", "C",  "f",
                                    "a",    "s", "S", "p", "b", "n", "buf"};
  return kNames[static_cast<unsigned>(tag)];
}

/// `d4 s8.3 s8.*0`: what each argument is, its size, and which text has which precision.
std::string spelled(const FormatArguments& arguments) {
  std::string out;
  for (std::size_t at = 0; at < arguments.count; ++at) {
    const FormatArgument& argument = arguments.list[at];
    if (at > 0) out += ' ';
    out += name_of(argument.tag) + std::to_string(argument.size);
    if (argument.precision >= 0) out += "." + std::to_string(argument.precision);
    if (argument.precision_argument != kNoArgument)
      out += ".*" + std::to_string(argument.precision_argument);
    if (argument.allocates) out += "m";
  }
  return out;
}

std::string printed(std::string_view format, std::uint8_t word = 8) {
  TextSource source(format);
  return spelled(FormatParser<TextSource>(source, word).parse_print());
}

std::string scanned(std::string_view format, std::uint8_t word = 8) {
  TextSource source(format);
  return spelled(FormatParser<TextSource>(source, word).parse_scan());
}

struct Case {
  const char* format;
  const char* expected;
};

void PrintTo(const Case& tested, std::ostream* out) { *out << tested.format; }

class PrintFormat : public testing::TestWithParam<Case> {};
class ScanFormat : public testing::TestWithParam<Case> {};

TEST_P(PrintFormat, asks_for_these_arguments) {
  EXPECT_EQ(printed(GetParam().format), GetParam().expected);
}

TEST_P(ScanFormat, asks_for_these_arguments) {
  EXPECT_EQ(scanned(GetParam().format), GetParam().expected);
}

// fprintf(3).
INSTANTIATE_TEST_SUITE_P(
    Format, PrintFormat,
    testing::Values(
        Case{"", ""}, Case{"no conversion", ""}, Case{"100%%, %5%", ""}, Case{"%m %d", "d4"},
        Case{"%d%i%u%x%X%o", "d4 d4 u4 x4 x4 o4"}, Case{"%b%B", "b4 b4"},
        Case{"%hhd%hd%ld%lld%jd%zd%td%qd%Ld%Zd", "d1 d2 d8 d8 d8 d8 d8 d8 d8 d8"},
        Case{"%hhu%hx%lo%llX", "u1 x2 o8 x8"}, Case{"%e%E%f%F%g%G", "f8 f8 f8 f8 f8 f8"},
        Case{"%a%A%La%Lf%lf", "a8 a8 a16 f16 f8"}, Case{"%c%lc%C", "c4 C4 C4"},
        Case{"%s%ls%S", "s8 S8 S8"}, Case{"%p%n%hhn", "p8 p8 p8"}, Case{"%-+ #0'Id", "d4"},
        Case{"%-5d|%05d|%+.3d", "d4 d4 d4"}, Case{"%.3s", "s8.3"}, Case{"%.s %.0s", "s8.0 s8.0"},
        Case{"%-10.4ls", "S8.4"}, Case{"%.*s", "d4 s8.*0"}, Case{"%*d %.*s", "d4 d4 d4 s8.*2"},
        Case{"%*.*f", "d4 d4 f8"}, Case{"%.-3s", "s8"}, Case{"%1$s %1$s", "s8"},
        Case{"%2$d %1$s", "s8 d4"}, Case{"%1$*2$d %1$d", "d4 d4"},
        Case{"%3$.*1$s %2$p", "d4 p8 s8.*0"}, Case{"%1$05d %2$-3x", "d4 x4"},
        Case{"%1$d %3$d", "d4 x8 d4"}, Case{"%1$.3s %1$s", "s8"}, Case{"%1$s %1$.3s", "s8"},
        Case{"%1$.3s %1$.5s", "s8.5"}, Case{"%33$d %d", "d4"}, Case{"%99999999999$d", ""},
        Case{"%d %y %d", "d4"}, Case{"%d %", "d4"}, Case{"%d %l", "d4"}, Case{"%5", ""},
        Case{"%99999999999999999999d", "d4"}));

TEST(PrintFormat, of_a_32_bit_program_has_words_of_4_bytes) {
  EXPECT_EQ(printed("%ld %lld %zu %jd %s %p %Lf %f %n", 4), "d4 d8 u4 d8 s4 p4 f16 f8 p4");
}

TEST(PrintFormat, asks_for_32_arguments_at_most) {
  std::string format;
  for (int at = 0; at < 50; ++at)
    format += "%.*s";
  TextSource source(format);
  const auto arguments = FormatParser<TextSource>(source, 8).parse_print();
  EXPECT_EQ(arguments.count, kMostFormatArguments);
}

// scanf(3). The size of a text means nothing.
INSTANTIATE_TEST_SUITE_P(
    Format, ScanFormat,
    testing::Values(Case{"", ""}, Case{"%% %d", "d4"}, Case{"%d%i%u%x%X%o", "d4 d4 u4 x4 x4 o4"},
                    Case{"%hhd%hd%ld%lld%jd%zd%td%Ld", "d1 d2 d8 d8 d8 d8 d8 d8"},
                    Case{"%e%lf%Lg%a%la", "f4 f8 f16 f4 f8"}, Case{"%s%ls%S%5s", "s4 S8 S4 s4"},
                    Case{"%c%5c%lc%C", "buf4.1 buf4.5 C8.1 C4"}, Case{"%p", "p8"},
                    Case{"%d%n%hhn", "d4 n4 n1"}, Case{"%*d %d", "d4"}, Case{"%*s%*[a]%n", "n4"},
                    Case{"%ms%m[a-z]%5ms", "s4m s4m s4m"}, Case{"%[]a]%d", "s4 d4"},
                    Case{"%[^]a]%d", "s4 d4"}, Case{"%[^\n]%d", "s4 d4"},
                    Case{"%5[0-9]%d", "s4 d4"}, Case{"%l[a]", "S8"}, Case{"%[a", "s4"},
                    Case{"%[]", "s4"}, Case{"%2$d %1$s", "s4 d4"}, Case{"%'d%Id", "d4 d4"},
                    Case{"%d%y%d", "d4"}));

} // namespace
} // namespace sonictrace::wire
