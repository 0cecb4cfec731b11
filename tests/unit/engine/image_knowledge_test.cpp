#include "engine/inline/image_knowledge.hpp"

#include <gtest/gtest.h>

#include "sonictrace/elf/image.hpp"

namespace sonictrace {
namespace {

class KnowledgeOfTheCLibrary : public testing::Test {
protected:
  void SetUp() override {
    auto image = elf::Image::open("/lib/x86_64-linux-gnu/libc.so.6");
    if (!image) GTEST_SKIP() << image.error().message();
    image_ = *image;
  }
  ElfAddress entry(std::string_view name) const {
    const auto* const symbol = image_->find_export(name, {});
    return symbol == nullptr ? ElfAddress() : symbol->value;
  }

  std::shared_ptr<const elf::Image> image_;
  ImageKnowledge knowledge_;
};

TEST_F(KnowledgeOfTheCLibrary, is_what_a_survey_says_and_stays) {
  const std::vector<ElfAddress> entries = {entry("malloc"), entry("qsort"), entry("malloc")};

  knowledge_.survey(image_, entries);
  const elf::EntryWay* const malloc_way = &knowledge_.way(image_, entries[0]);
  knowledge_.survey(image_, std::vector<ElfAddress>{entry("free"), entries[0]});

  const elf::EntrySurvey survey(image_);
  const auto ways = survey.ways(std::vector<ElfAddress>{entries[0], entries[1], entry("free")});
  EXPECT_EQ(malloc_way->jump, ways[0].jump);
  EXPECT_EQ(knowledge_.way(image_, entries[1]).jump, ways[1].jump);
  EXPECT_EQ(knowledge_.way(image_, entry("free")).jump, ways[2].jump);
  EXPECT_EQ(&knowledge_.way(image_, entries[0]), malloc_way); // not surveyed again
  EXPECT_EQ(knowledge_.code(image_, entries[0]).data(), survey.code(entries[0]).data());
}

TEST_F(KnowledgeOfTheCLibrary, has_the_gadget_that_a_search_finds) {
  EXPECT_EQ(knowledge_.gadget(image_), elf::find_return_gadget(*image_));
}

} // namespace
} // namespace sonictrace
