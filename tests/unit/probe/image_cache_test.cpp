#include "sonictrace/probe/image_cache.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "support/compile.hpp"

namespace sonictrace {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> libraries(std::size_t most) {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator("/lib/x86_64-linux-gnu"))
    if (entry.is_regular_file() &&
        entry.path().filename().string().find(".so") != std::string::npos &&
        entry.file_size() < 2'000'000 && paths.size() < most)
      paths.push_back(entry.path().string());
  return paths;
}

std::shared_ptr<ParsedImage> get(ImageCache& cache, const std::string& path) {
  const auto file = UniqueFd::open(path.c_str(), O_RDONLY);
  if (!file) return nullptr;
  auto parsed = cache.get(*file, path);
  return parsed ? *parsed : nullptr;
}

TEST(ImageCache, parses_a_file_once_under_all_its_names) {
  ImageCache cache;

  const auto one = get(cache, "/proc/self/exe");
  const auto other = get(cache, fs::read_symlink("/proc/self/exe").string());

  ASSERT_NE(one, nullptr);
  EXPECT_EQ(one, other);
  EXPECT_EQ(&one->calls(), &other->calls());
}

TEST(ImageCache, gives_the_same_image_to_all_threads) {
  ImageCache cache;
  const auto paths = libraries(20);
  ASSERT_FALSE(paths.empty());
  std::array<std::vector<const Result<elf::CallTable>*>, 4> seen;
  std::vector<std::thread> threads;

  cache.prefetch(paths);
  for (auto& tables : seen)
    threads.emplace_back([&] {
      for (const auto& path : paths)
        if (const auto parsed = get(cache, path)) tables.push_back(&parsed->calls());
    });
  for (std::thread& thread : threads)
    thread.join();

  EXPECT_FALSE(seen[0].empty());
  for (const auto& tables : seen)
    EXPECT_EQ(tables, seen[0]);
}

TEST(ImageCache, prefetches_nothing_that_is_not_there_and_can_end_at_any_time) {
  for (int i = 0; i < 20; ++i) {
    ImageCache cache;
    auto paths = libraries(30);
    paths.insert(paths.begin(), {"/no/such/file", "/", "/dev/null"});
    cache.prefetch(paths);
    cache.prefetch({"/proc/self/exe"});
    if (i % 2 == 0) { EXPECT_NE(get(cache, "/proc/self/exe"), nullptr); }
  } // destroyed with most of its work to do
}

TEST(ImageCache, leaves_signals_to_the_threads_of_others) {
  static volatile std::sig_atomic_t handled_by = 0;
  struct sigaction action {};
  action.sa_handler = [](int) { handled_by = static_cast<std::sig_atomic_t>(gettid()); };
  struct sigaction before {};
  sigaction(SIGUSR1, &action, &before);
  ImageCache cache;
  cache.prefetch(libraries(10));
  sigset_t mask, now;
  sigemptyset(&mask);

  EXPECT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &now), 0);
  for (int i = 0; i < 50; ++i) {
    handled_by = 0;
    kill(getpid(), SIGUSR1); // to the process; delivered before kill(2) returns, or to another
    EXPECT_EQ(handled_by, static_cast<std::sig_atomic_t>(gettid()));
  }

  EXPECT_EQ(sigismember(&now, SIGUSR1), 0); // our own mask is as it was
  sigaction(SIGUSR1, &before, nullptr);
}

TEST(ImageCache, keeps_tables_that_took_long_to_find) {
  const auto library =
      test::compile("int one;", "cp -L \"$(gcc -print-file-name=libstdc++.so)\" {out}");
  ASSERT_TRUE(library.succeeded) << library.messages;
  const std::string directory = library.directory / "cache";
  std::size_t found = 0;
  {
    ImageCache cache;
    cache.keep_tables_in(directory);
    const auto parsed = get(cache, library.path);
    ASSERT_NE(parsed, nullptr);
    const auto& calls = parsed->calls();
    ASSERT_TRUE(calls);
    found = calls->sites.size();
    EXPECT_GT(found, 0u);
  }
  ASSERT_TRUE(fs::exists(directory));

  ImageCache cache;
  cache.keep_tables_in(directory);
  const auto parsed = get(cache, library.path);
  ASSERT_NE(parsed, nullptr);
  const auto& calls = parsed->calls();

  ASSERT_TRUE(calls);
  EXPECT_EQ(calls->sites.size(), found);
}

TEST(ImageCache, can_be_moved_while_its_threads_work) {
  ImageCache first;
  first.prefetch(libraries(10));

  ImageCache second = std::move(first);

  EXPECT_NE(get(second, "/proc/self/exe"), nullptr);
}

} // namespace
} // namespace sonictrace
