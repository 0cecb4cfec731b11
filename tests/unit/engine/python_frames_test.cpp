#include "engine/python_frames.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "sonictrace/wire/agent_abi.hpp"

namespace sonictrace {
namespace {

struct Told {
  std::uint64_t key = 1;
  std::string function = "f", file = "a.py";
  std::string lines = {char(0x80 | 13 << 3), 2}; ///< one instruction, a line further
  std::uint32_t first_line = 10;
};

std::vector<std::byte> record_of(const Told& told) {
  wire::PythonCodeHead head{};
  head.key = told.key;
  head.first_line = told.first_line;
  head.lines = wire::PythonLines::Locations;
  head.name_unit = head.file_unit = 1;
  head.name_size = static_cast<std::uint32_t>(told.function.size());
  head.file_size = static_cast<std::uint32_t>(told.file.size());
  head.lines_size = static_cast<std::uint32_t>(told.lines.size());
  std::string text(reinterpret_cast<const char*>(&head), sizeof head);
  for (const std::string& part : {told.function, told.file, told.lines}) {
    text += part;
    text.resize(wire::python_padded(text.size()));
  }
  const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

class PythonFramesTest : public testing::Test {
protected:
  std::vector<FrameDefinition> defined;
  PythonFrames frames{[this](const FrameDefinition& frame) { defined.push_back(frame); },
                      FrameIdPool(3, 4)};
  PythonCodes codes;
};

TEST_F(PythonFramesTest, are_defined_once_each_line) {
  codes.learn(record_of({}));

  const auto first = codes.frame_at({1, 0}, frames);
  const auto again = codes.frame_at({1, 0}, frames);
  const auto before = codes.frame_at({1, -2}, frames);

  EXPECT_EQ(first, 3u);
  EXPECT_EQ(again, first);
  EXPECT_EQ(before, 7u);
  ASSERT_EQ(defined.size(), 2u);
  EXPECT_TRUE(defined[0].is_python);
  EXPECT_EQ(defined[0].function, "f");
  EXPECT_EQ(defined[0].file, "a.py");
  EXPECT_EQ(defined[0].line, 11u);
  EXPECT_EQ(defined[1].line, 10u);
}

TEST_F(PythonFramesTest, of_the_same_line_in_another_thread_are_the_same) {
  PythonCodes others;
  codes.learn(record_of({}));
  others.learn(record_of({.key = 99}));

  EXPECT_EQ(codes.frame_at({1, 0}, frames), others.frame_at({99, 0}, frames));
  EXPECT_EQ(defined.size(), 1u);
}

TEST_F(PythonFramesTest, are_not_made_up_for_code_that_was_not_told) {
  EXPECT_FALSE(codes.frame_at({1, 0}, frames));
  codes.learn(record_of({}));
  EXPECT_FALSE(codes.frame_at({2, 0}, frames));

  codes.learn(record_of({.key = 1 + wire::kPythonSeen})); // takes its place, as in the agent
  EXPECT_FALSE(codes.frame_at({1, 0}, frames));
}

TEST_F(PythonFramesTest, are_not_shown_where_a_name_could_not_be_read) {
  codes.learn(record_of({.function = ""}));

  EXPECT_FALSE(codes.frame_at({1, 0}, frames));
  EXPECT_TRUE(defined.empty());
}

TEST_F(PythonFramesTest, of_a_record_that_is_cut_have_no_line) {
  auto record = record_of({});
  record.resize(record.size() - 8);
  codes.learn(record);

  ASSERT_TRUE(codes.frame_at({1, 0}, frames));
  EXPECT_EQ(defined[0].line, 0u);
}

TEST_F(PythonFramesTest, of_a_name_that_was_cut_say_so) {
  auto record = record_of({});
  record[offsetof(wire::PythonCodeHead, name_is_cut)] = std::byte{1};
  codes.learn(record);

  ASSERT_TRUE(codes.frame_at({1, 0}, frames));
  EXPECT_EQ(defined[0].function, "f...");
}

TEST_F(PythonFramesTest, replace_what_is_no_character) {
  auto record = record_of({.function = std::string("\xff\xff\xff\xff", 4)});
  record[offsetof(wire::PythonCodeHead, name_unit)] = std::byte{4};
  codes.learn(record);

  ASSERT_TRUE(codes.frame_at({1, 0}, frames));
  EXPECT_EQ(defined[0].function, "\xef\xbf\xbd");
}

} // namespace
} // namespace sonictrace
