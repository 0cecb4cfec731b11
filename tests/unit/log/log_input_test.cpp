#include "sonictrace/log/log_input.hpp"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include "unit/log/read_text.hpp"

namespace sonictrace::log {
namespace {

constexpr std::string_view kFirst = "a(1) = 0 <0.000001>\nb(2) = ";
constexpr std::string_view kSecond = "0 <0.000002>\nc(3) = 0 <0.000003>\n";

std::string gzip(std::string_view text) {
  z_stream stream = {};
  EXPECT_EQ(::deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(text.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return packed;
}

std::string zstd(std::string_view text) {
  std::string packed(::ZSTD_compressBound(text.size()), '\0');
  packed.resize(::ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

std::string long_text() {
  std::string text;
  for (int i = 0; i < 50'000; ++i)
    text += fmt::format("malloc({}) = 0x{:x} <0.{:06}>\n", i * 7919 % 10007, i * 31337, i % 1000);
  return text;
}

TEST(LogInput, unpacks_gzip_whatever_its_members) {
  const auto log = test::read_text(gzip(kFirst) + gzip(kSecond));

  EXPECT_EQ(log.calls.size(), 3U);
  EXPECT_FALSE(log.account.is_cut);
}

TEST(LogInput, unpacks_zstd_whatever_its_frames) {
  const auto log = test::read_text(zstd(kFirst) + zstd(kSecond));

  EXPECT_EQ(log.calls.size(), 3U);
  EXPECT_FALSE(log.account.is_cut);
}

TEST(LogInput, unpacks_long_logs) {
  const auto text = long_text();

  EXPECT_EQ(test::read_text(gzip(text)).account.bytes, text.size());
  EXPECT_EQ(test::read_text(zstd(text)).account.bytes, text.size());
}

TEST(LogInput, reads_a_packed_log_without_an_end_as_far_as_it_goes) {
  const auto text = long_text();
  for (const auto& packed : {gzip(text), zstd(text)}) {
    const auto log = test::read_text(packed.substr(0, packed.size() / 2));

    EXPECT_TRUE(log.account.is_cut);
    EXPECT_EQ(log.error, "");
    EXPECT_GT(log.calls.size(), 1000U);
  }
}

TEST(LogInput, says_that_a_packed_log_is_damaged) {
  auto packed = gzip(long_text());
  for (std::size_t i = packed.size() / 2; i < packed.size() / 2 + 100; ++i)
    packed[i] = 'x';
  const auto log = test::read_text(packed);

  EXPECT_NE(log.error.find("damaged"), std::string::npos) << log.error;
  EXPECT_GT(log.calls.size(), 1000U);
}

TEST(LogInput, says_what_to_do_about_a_log_that_it_can_not_read) {
  EXPECT_EQ(test::read_path("/no/such/log").error,
            "can't open log /no/such/log: No such file or directory; give the log that sonictrace "
            "-o or ltrace -o "
            "has written");
  EXPECT_EQ(test::read_path("/tmp").error,
            "can't read log /tmp: it is a directory; give the log files in it");
}

TEST(LogInput, reads_an_empty_log) {
  const auto log = test::read_text("");

  EXPECT_EQ(log.account.lines, 0U);
  EXPECT_EQ(log.error, "");
}

TEST(LogInput, reads_a_last_line_without_a_newline) {
  EXPECT_EQ(test::read_text("a() = 0\nb() = 1").calls.size(), 2U);
}

} // namespace
} // namespace sonictrace::log
