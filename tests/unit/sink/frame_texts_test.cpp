#include "sink/frame_texts.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sonictrace {
namespace {

std::string block(const FrameTexts& texts, std::uint32_t id) {
  std::string out;
  texts.append_block(out, std::array{id});
  return out;
}

TEST(FrameTexts, an_id_stands_for_the_place_that_it_was_given_last) {
  FrameTexts texts(DemangleStyle::None, false);
  texts.define({3, 0x1000, "liba.so", "one", 4});
  texts.define({3, 0x2000, "", "", 0});
  EXPECT_EQ(block(texts, 3), " > [0x2000]\n\n");
}

TEST(FrameTexts, an_id_that_is_too_large_has_no_text) {
  FrameTexts texts(DemangleStyle::None, false);
  texts.define({0xffff'ffff, 0x1000, "liba.so", "one", 4});
  EXPECT_EQ(block(texts, 0xffff'ffff), " > ?\n\n");
}

TEST(FrameTexts, of_a_python_function_name_its_file_and_line) {
  FrameTexts texts(DemangleStyle::Full, false);
  FrameDefinition frame{3, 0, "", "_Z1fv", 0}; // no C++ name there
  frame.is_python = true;
  frame.file = "/srv/a b.py";
  frame.line = 12;
  texts.define(frame);
  EXPECT_EQ(block(texts, 3), " > python _Z1fv /srv/a b.py:12\n\n");

  frame.line = 0;
  frame.file = "a\nb";
  texts.define(frame);
  EXPECT_EQ(block(texts, 3), " > python _Z1fv a\\012b:?\n\n");
}

} // namespace
} // namespace sonictrace
