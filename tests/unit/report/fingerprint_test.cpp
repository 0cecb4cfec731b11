#include "sonictrace/report/fingerprint.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sonictrace/report/sha256.hpp"
#include "sonictrace/report/trend.hpp"

namespace sonictrace::report {
namespace {

std::string sha256_of(std::string_view text) {
  Sha256 hash;
  hash.add(text);
  return hash.finish();
}

TEST(Sha256, gives_the_values_of_the_standard) {
  EXPECT_EQ(sha256_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_of(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

Fingerprint sample() {
  FunctionProfile f;
  f.name = "f\"\\\n\xc3\xa9";
  f.module = "libf.so";
  f.runs = {{3, 60, 50, 20.125}, {1, 7, 7, 7}};
  f.all.calls = 4;
  f.all.sum_ns = 67;
  f.all.self_ns = 57;
  f.all.outermost_ns = 66;
  for (const std::uint64_t ns : {10U, 20U, 30U, 7U})
    f.all.durations.add(ns);
  f.all.timed = 4;
  FunctionProfile g;
  g.name = "read";
  g.is_syscall = true;
  g.call_class = CallClass::Io;
  g.runs = {{0, 0, 0, 0}, {2, 0, 0, 0}};
  g.all.calls = 2;
  Fingerprint one;
  one.machine = "a machine";
  one.tool = "sonicreport 1.2.3";
  one.parameters = {{"steps", "20"}, {"resolution", "512"}};
  one.profile = Profile::of({{"ab", 3, 3, 1000, 0}, {"cd", 3, 3, 1100, 1}}, {f, g});
  return one;
}

TEST(Fingerprint, gives_back_what_was_kept) {
  const auto text = to_json(sample());
  const auto read = parse_fingerprint(text, "x.sfp");

  ASSERT_TRUE(read) << read.error().message();
  EXPECT_TRUE(is_fingerprint(text));
  EXPECT_EQ(to_json(*read), text);
  EXPECT_EQ(read->parameters, sample().parameters);
  EXPECT_EQ(read->profile.runs(), sample().profile.runs());
  ASSERT_EQ(read->profile.functions().size(), 2u);
  const auto& f = read->profile.functions()[0];
  EXPECT_EQ(f.name, "f\"\\\n\xc3\xa9");
  EXPECT_EQ(f.runs, sample().profile.functions()[0].runs);
  EXPECT_EQ(f.all.durations.largest(), 30u);
  EXPECT_EQ(f.all.durations.quantile(500), 10u);
  EXPECT_TRUE(read->profile.functions()[1].is_syscall);
}

TEST(Fingerprint, refuses_what_is_none_with_one_line) {
  const auto good = to_json(sample());
  auto next = good;
  next.replace(next.find(": 1,"), 4, ": 2,");
  const auto version = parse_fingerprint(next, "x.sfp");
  ASSERT_FALSE(version);
  EXPECT_NE(version.error().message().find("x.sfp: a fingerprint of version 2"), std::string::npos);
  // Cut anywhere it is an error, and never a crash.
  for (std::size_t size = 0; size + 2 < good.size(); ++size)
    EXPECT_FALSE(parse_fingerprint(good.substr(0, size), "x.sfp")) << size;
}

// Other values than those that are expected, in every place: an error, and never a crash.
TEST(Fingerprint, refuses_values_of_other_kinds) {
  const auto good = nlohmann::json::parse(to_json(sample()));
  ASSERT_TRUE(parse_fingerprint(good.dump(), "x.sfp")); // the order does not matter
  const auto flat = good.flatten();
  for (const auto& [place, value] : flat.items()) {
    const auto key = place.substr(place.rfind('/') + 1);
    if (key == "noise" || key == "class" || key == "syscall" || key == "p50_ns" ||
        key == "p90_ns" || key == "p99_ns")
      continue; // for people
    for (const auto& other : {nlohmann::json(), nlohmann::json(-1), nlohmann::json::array({1}),
                              nlohmann::json::object()}) {
      auto changed = good;
      changed[nlohmann::json::json_pointer(place)] = other;
      EXPECT_FALSE(parse_fingerprint(changed.dump(), "x.sfp")) << place << " " << other;
    }
  }
}

TEST(Fingerprint, says_where_it_is_damaged) {
  auto text = to_json(sample());
  text.replace(text.find("\"machine\""), 9, "machine");
  const auto read = parse_fingerprint(text, "x.sfp");

  ASSERT_FALSE(read);
  EXPECT_TRUE(
      read.error().message().starts_with("x.sfp: a damaged fingerprint, parse error at line 4"))
      << read.error().message();
  EXPECT_FALSE(parse_fingerprint(std::string(100'000, '['), "x.sfp"));
}

TEST(Trend, has_one_row_for_each_version_and_the_change_from_row_to_row) {
  auto next = sample();
  auto functions = next.profile.functions();
  functions[0].runs = {{6, 120, 100, 20.125}, {2, 14, 14, 7}};
  next.profile = Profile::of(next.profile.runs(), functions);

  const auto table = trend_table({{"v1", sample()}, {"v2", next}}, {});

  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0][0], Cell(std::string("v1")));
  EXPECT_EQ(table.rows[0][2], Cell(std::uint64_t{3})); // of 3 and 3
  EXPECT_EQ(table.rows[0][3], Cell(std::monostate()));
  EXPECT_EQ(table.rows[1][2], Cell(std::uint64_t{5})); // of 6 and 4
  EXPECT_EQ(table.rows[1].size(), table.columns.size());
}

} // namespace
} // namespace sonictrace::report
