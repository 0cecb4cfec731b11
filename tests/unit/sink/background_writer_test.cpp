#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include "sonictrace/sink/writer.hpp"
#include "support/log_fixture.hpp"

namespace sonictrace {
namespace {

Writer writer_to(const UniqueFd& file, Buffering buffering = Buffering::Background,
                 Compression compression = Compression::None) {
  return Writer(UniqueFd(::dup(file.get())), buffering, "a.log", compression);
}

std::set<std::string> threads() {
  std::set<std::string> ids;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    ids.insert(task.path().filename().string());
  return ids;
}

/// So many lines, of about 26 bytes.
std::string write_lines(Writer& writer, int count) {
  std::string all;
  for (int n = 0; n < count; ++n) {
    const std::string line = "line " + std::to_string(n) + " with some text\n";
    writer.text() += line;
    writer.end_line();
    all += line;
  }
  return all;
}

TEST(BackgroundWriter, has_written_all_text_in_its_order_when_a_flush_returns) {
  const UniqueFd file = memory_file();
  Writer writer = writer_to(file);
  std::string expected;
  for (int round = 0; round < 5; ++round) {
    expected += write_lines(writer, 100'000);
    EXPECT_EQ(writer.size(), expected.size());
    writer.flush();
    EXPECT_EQ(writer.size(), expected.size());
    ASSERT_TRUE(content_of(file.get()) == expected) << round;
  }
  writer.text() += "the end\n";
  writer.finish();
  EXPECT_TRUE(content_of(file.get()) == expected + "the end\n");
  EXPECT_TRUE(writer.status());
}

TEST(BackgroundWriter, makes_the_same_compressed_log) {
  const UniqueFd here = memory_file(), there = memory_file();
  Writer foreground = writer_to(here, Buffering::Blocks, Compression::Gzip);
  Writer background = writer_to(there, Buffering::Background, Compression::Gzip);
  for (int round = 0; round < 3; ++round) {
    write_lines(foreground, 50'000);
    write_lines(background, 50'000);
    foreground.flush();
    background.flush();
    EXPECT_EQ(background.size(), content_of(there.get()).size());
  }
  foreground.finish();
  background.finish();

  EXPECT_TRUE(content_of(there.get()) == content_of(here.get()));
}

TEST(BackgroundWriter, writes_full_blocks_of_a_writer_that_is_never_flushed) {
  const UniqueFd file = memory_file();
  std::string all;
  {
    Writer writer = writer_to(file);
    all = write_lines(writer, 100'000);
  }
  const std::string content = content_of(file.get());
  EXPECT_GT(content.size(), all.size() - 300'000);
  EXPECT_TRUE(all.starts_with(content));
}

TEST(BackgroundWriter, has_a_thread_from_the_first_full_block_on_which_takes_no_signals) {
  const UniqueFd file = memory_file();
  const auto before = threads();
  Writer writer = writer_to(file);
  write_lines(writer, 100);
  writer.flush();
  EXPECT_EQ(threads(), before);
  write_lines(writer, 100'000);

  auto now = threads();
  for (const auto& id : before)
    now.erase(id);
  ASSERT_EQ(now.size(), 1u);
  std::ifstream status("/proc/self/task/" + *now.begin() + "/status");
  std::string line, blocked;
  while (std::getline(status, line))
    if (line.starts_with("SigBlk:")) blocked = line;
  // All but SIGKILL, SIGSTOP and the two that the C library needs (nptl(7)).
  EXPECT_EQ(blocked, "SigBlk:\tfffffffe7ffbfeff");

  writer.finish();
  EXPECT_EQ(threads(), before);
}

TEST(BackgroundWriter, has_no_thread_where_the_log_is_no_file) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  ASSERT_GT(::fcntl(write_end.get(), F_SETPIPE_SZ, 1 << 20), 300'000);
  const auto before = threads();
  Writer writer(std::move(write_end), Buffering::Background, "a.log");
  write_lines(writer, 12'000);

  EXPECT_EQ(threads(), before);
  EXPECT_GT(writer.size(), 300'000u);
}

/// A limit to the size of files, which write(2) meets as a full disk.
class SizeLimit {
public:
  explicit SizeLimit(rlim_t size) : previous_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    rlimit limit = old_;
    limit.rlim_cur = size;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, previous_);
  }
  SizeLimit(const SizeLimit&) = delete;

private:
  void (*previous_)(int);
  rlimit old_ = {};
};

TEST(BackgroundWriter, loses_nothing_by_a_disk_that_was_full_for_a_while) {
  const UniqueFd file = memory_file();
  Writer writer = writer_to(file);
  std::string expected;
  {
    const SizeLimit limit(1'000'000);
    expected += write_lines(writer, 100'000); // 2.8 MB
    writer.flush();
    EXPECT_FALSE(writer.is_healthy());
    ASSERT_FALSE(writer.status());
    EXPECT_EQ(writer.status().error().message(), "can't write a.log: File too large");
    EXPECT_EQ(content_of(file.get()).size(), 1'000'000u);
    EXPECT_EQ(writer.size(), expected.size());
  }
  expected += write_lines(writer, 20'000); // there is room again
  writer.flush();

  EXPECT_TRUE(content_of(file.get()) == expected);
  EXPECT_FALSE(writer.status()) << "the first failure stays";
}

TEST(BackgroundWriter, is_not_healthy_as_soon_as_a_block_could_not_be_written) {
  const UniqueFd file = memory_file();
  Writer writer = writer_to(file, Buffering::Background, Compression::Zstd);
  const SizeLimit limit(0);
  int blocks = 0;
  while (writer.is_healthy() && blocks < 100) {
    write_lines(writer, 10'000);
    ++blocks;
  }
  EXPECT_LT(blocks, 100);
  ASSERT_FALSE(writer.status());
  EXPECT_TRUE(writer.status().error().is(std::errc::file_too_large));
}

TEST(BackgroundWriter, leaves_no_gap_once_it_had_to_drop_text) {
  const UniqueFd file = memory_file();
  Writer writer = writer_to(file);
  {
    const SizeLimit limit(500'000);
    for (int n = 0; n < 10; ++n)
      write_lines(writer, 100'000);
    EXPECT_LT(writer.text().size(), 6'000'000u) << "memory is bounded";
  }
  writer.text() += "later\n";
  writer.flush();

  EXPECT_EQ(content_of(file.get()).size(), 500'000u);
}

} // namespace
} // namespace sonictrace
