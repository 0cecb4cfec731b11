#include "probe/call_table_store.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "sonictrace/probe/image_cache.hpp"
#include "support/compile.hpp"

namespace sonictrace {
namespace {

namespace fs = std::filesystem;

// Calls through the PLT and by a hoisted load.
constexpr const char* kProgram = R"(
#include <stdlib.h>
#include <stdio.h>
int main(int argc, char** argv) {
  char* out[16];
  for (int i = 0; i < argc; ++i) out[i] = malloc(i + 1);
  for (int i = 0; i < argc; ++i) free(out[i]);
  return puts(argv[0]);
}
)";

class KeptCallTable : public testing::Test {
protected:
  void SetUp() override {
    compiled_.emplace(
        test::compile(kProgram, "clang-14 -O2 -fno-plt {src} -o {out} -Wl,--build-id"));
    ASSERT_TRUE(compiled_->succeeded) << compiled_->messages;
    auto image = elf::Image::open(compiled_->path);
    ASSERT_TRUE(image) << image.error().message();
    image_ = *image;
    auto calls = elf::find_calls(*image_);
    ASSERT_TRUE(calls) << calls.error().message();
    table_ = *calls;
    ASSERT_FALSE(table_.sites.empty());
    ASSERT_FALSE(table_.hoisted.empty());
    directory_ = compiled_->directory / "cache";
  }

  CallTableStore store() const { return CallTableStore(directory_); }
  fs::path kept_file() const {
    for (const auto& entry : fs::directory_iterator(directory_))
      return entry.path();
    return {};
  }
  /// Overwrites a byte of the file; of its end for a negative offset.
  void spoil(std::int64_t offset) const {
    std::fstream file(kept_file(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(offset, offset < 0 ? std::ios::end : std::ios::beg);
    const int before = file.peek();
    file.seekp(offset, offset < 0 ? std::ios::end : std::ios::beg);
    file.put(static_cast<char>(before ^ 1));
  }

  std::optional<test::Compiled> compiled_;
  std::shared_ptr<const elf::Image> image_;
  elf::CallTable table_;
  std::string directory_;
};

TEST_F(KeptCallTable, comes_back_as_it_was) {
  store().keep(*image_, table_);

  const auto loaded = store().load(*image_);

  ASSERT_TRUE(loaded);
  ASSERT_EQ(loaded->imports.size(), table_.imports.size());
  for (std::size_t i = 0; i < table_.imports.size(); ++i) {
    EXPECT_EQ(loaded->imports[i].slot, table_.imports[i].slot);
    EXPECT_EQ(loaded->imports[i].name, table_.imports[i].name);
  }
  ASSERT_EQ(loaded->sites.size(), table_.sites.size());
  for (std::size_t i = 0; i < table_.sites.size(); ++i) {
    EXPECT_EQ(loaded->sites[i].at, table_.sites[i].at);
    EXPECT_EQ(loaded->sites[i].import, table_.sites[i].import);
    EXPECT_EQ(loaded->sites[i].size, table_.sites[i].size);
    EXPECT_EQ(loaded->sites[i].kind, table_.sites[i].kind);
    EXPECT_EQ(loaded->sites[i].in_plt, table_.sites[i].in_plt);
  }
  EXPECT_EQ(loaded->hoisted, table_.hoisted);
}

TEST_F(KeptCallTable, is_nothing_before_it_was_kept) {
  EXPECT_FALSE(store().load(*image_));
  EXPECT_FALSE(fs::exists(directory_)); // nobody makes a directory to look into it
}

TEST_F(KeptCallTable, is_the_users_own) {
  store().keep(*image_, table_);

  struct stat status;
  ASSERT_EQ(stat(kept_file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  ASSERT_EQ(stat(directory_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
}

TEST_F(KeptCallTable, is_not_taken_where_a_single_byte_is_wrong) {
  store().keep(*image_, table_);
  const auto size = static_cast<std::int64_t>(fs::file_size(kept_file()));

  for (std::int64_t offset = 0; offset < size; ++offset) {
    spoil(offset);
    EXPECT_FALSE(store().load(*image_)) << "byte " << offset;
    spoil(offset);
  }

  EXPECT_TRUE(store().load(*image_));
}

TEST_F(KeptCallTable, is_not_taken_where_it_is_cut_or_longer) {
  store().keep(*image_, table_);
  const auto size = fs::file_size(kept_file());
  for (const auto wrong : {std::uintmax_t{0}, size / 2, size - 1, size + 1}) {
    fs::resize_file(kept_file(), wrong);
    EXPECT_FALSE(store().load(*image_)) << wrong;
  }
}

TEST_F(KeptCallTable, is_not_taken_of_another_image_with_the_same_build_id) {
  elf::CallTable moved = table_;
  for (elf::CallSite& site : moved.sites)
    site.at = site.at + 1; // the checksum is right then, the place is not
  store().keep(*image_, moved);

  EXPECT_FALSE(store().load(*image_));
}

TEST_F(KeptCallTable, is_not_taken_with_an_index_out_of_range) {
  elf::CallTable wrong = table_;
  wrong.hoisted.push_back(static_cast<std::uint32_t>(table_.imports.size()));
  store().keep(*image_, wrong);
  EXPECT_FALSE(store().load(*image_));

  wrong = table_;
  wrong.sites.front().import = ~std::uint32_t{0};
  store().keep(*image_, wrong);
  EXPECT_FALSE(store().load(*image_));
}

TEST_F(KeptCallTable, is_not_taken_where_others_may_write) {
  store().keep(*image_, table_);

  ASSERT_EQ(chmod(kept_file().c_str(), 0620), 0);
  EXPECT_FALSE(store().load(*image_));
  ASSERT_EQ(chmod(kept_file().c_str(), 0600), 0);
  ASSERT_EQ(chmod(directory_.c_str(), 0702), 0);
  EXPECT_FALSE(store().load(*image_));
  store().keep(*image_, table_); // nor written to

  ASSERT_EQ(chmod(directory_.c_str(), 0700), 0);
  EXPECT_TRUE(store().load(*image_));
}

TEST_F(KeptCallTable, is_not_taken_from_somebody_else) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  store().keep(*image_, table_);

  ASSERT_EQ(chown(kept_file().c_str(), 65534, 65534), 0);
  EXPECT_FALSE(store().load(*image_));
  ASSERT_EQ(chown(kept_file().c_str(), 0, 0), 0);
  ASSERT_EQ(chown(directory_.c_str(), 65534, 65534), 0);
  EXPECT_FALSE(store().load(*image_));
}

TEST_F(KeptCallTable, is_not_made_in_somebody_elses_directory) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give directories away";
  const std::string home = compiled_->directory / "home";
  ASSERT_TRUE(fs::create_directory(home));
  ASSERT_EQ(chown(home.c_str(), 65534, 65534), 0);

  CallTableStore(home + "/.cache/sonictrace").keep(*image_, table_);
  EXPECT_TRUE(fs::is_empty(home));
  ASSERT_TRUE(fs::create_directory(home + "/.cache"));
  ASSERT_EQ(chown((home + "/.cache").c_str(), 65534, 65534), 0);
  CallTableStore(home + "/.cache/sonictrace").keep(*image_, table_);
  EXPECT_TRUE(fs::is_empty(home + "/.cache"));

  ASSERT_EQ(chown(home.c_str(), 0, 0), 0); // one's own: with the .cache that was missing
  fs::remove(home + "/.cache");
  CallTableStore(home + "/.cache/sonictrace").keep(*image_, table_);
  EXPECT_TRUE(CallTableStore(home + "/.cache/sonictrace").load(*image_));
}

TEST_F(KeptCallTable, is_not_taken_through_symbolic_links) {
  store().keep(*image_, table_);

  const std::string link = compiled_->directory / "link";
  fs::create_directory_symlink(directory_, link);
  EXPECT_FALSE(CallTableStore(link).load(*image_));

  const fs::path file = kept_file(), elsewhere = compiled_->directory / "elsewhere";
  fs::rename(file, elsewhere);
  fs::create_symlink(elsewhere, file);
  EXPECT_FALSE(store().load(*image_));
}

TEST_F(KeptCallTable, is_not_taken_from_what_is_no_file) {
  store().keep(*image_, table_);
  const fs::path file = kept_file();
  fs::remove(file);

  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(store().load(*image_)); // and does not wait for a writer
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_FALSE(store().load(*image_));
}

TEST_F(KeptCallTable, replaces_a_broken_one_and_leaves_nothing_else_behind) {
  store().keep(*image_, table_);
  spoil(-1);

  store().keep(*image_, table_);

  EXPECT_TRUE(store().load(*image_));
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()), 1);
}

TEST_F(KeptCallTable, is_one_of_a_bounded_number) {
  store().keep(*image_, table_);
  for (int i = 0; i < 1000; ++i)
    std::ofstream(directory_ + "/" + std::to_string(i) + ".calls");

  store().keep(*image_, table_);

  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()), 1);
  EXPECT_TRUE(store().load(*image_));
}

TEST(DefaultCacheDirectory, follows_the_base_directory_specification) {
  const auto with = [](const char* cache, const char* home) {
    cache != nullptr ? setenv("XDG_CACHE_HOME", cache, 1) : unsetenv("XDG_CACHE_HOME");
    home != nullptr ? setenv("HOME", home, 1) : unsetenv("HOME");
    return default_cache_directory().value_or("none");
  };
  const auto value_of = [](const char* name) {
    const char* const value = getenv(name);
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  };
  const auto cache = value_of("XDG_CACHE_HOME"), home = value_of("HOME");

  EXPECT_EQ(with("/c", "/h"), "/c/sonictrace");
  EXPECT_EQ(with("relative", "/h"), "/h/.cache/sonictrace");
  EXPECT_EQ(with(nullptr, "/h"), "/h/.cache/sonictrace");
  EXPECT_EQ(with("", ""), "none");
  EXPECT_EQ(with(nullptr, nullptr), "none");

  with(cache ? cache->c_str() : nullptr, home ? home->c_str() : nullptr); // as it was
}

} // namespace
} // namespace sonictrace
