// What is kept for the next session changes how long the start takes, and nothing else.
#include <sys/stat.h>

#include "trace.hpp"

namespace sonictrace::test {
namespace {

namespace fs = std::filesystem;

class CacheOf : public WithEngine {
protected:
  /// Names of all calls, of a program whose modules include one that is worth keeping.
  std::vector<std::string> calls(const std::vector<std::string>& options = {}) const {
    const auto run = traced(options + std::vector<std::string>{"-e", "*"}, {"/bin/true"},
                            {.argv = {}, .environment = {"XDG_CACHE_HOME=" + cache_.path("of")}});
    EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << run.ended.err;
    EXPECT_EQ(run.ended.err, "");
    std::vector<std::string> names;
    for (const auto& call : run.log.calls)
      names.push_back(call.name);
    return names;
  }
  std::string directory() const { return cache_.path("of/sonictrace"); }
  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(directory()))
      all.push_back(entry.path());
    return all;
  }

  TemporaryDirectory cache_;
};

TEST_P(CacheOf, calls_is_the_same_cold_warm_and_off) {
  const auto off = calls({"--no-cache"});
  EXPECT_FALSE(fs::exists(directory()));

  const auto cold = calls();
  ASSERT_TRUE(fs::exists(directory()));
  EXPECT_FALSE(files().empty());
  const auto warm = calls();

  EXPECT_FALSE(off.empty());
  EXPECT_EQ(cold, off);
  EXPECT_EQ(warm, off);
}

TEST_P(CacheOf, calls_is_the_same_where_its_files_are_broken) {
  const auto right = calls();
  ASSERT_FALSE(files().empty());
  const auto whole = read_file(files().front());

  const std::vector<std::string> broken = {"", "st-calls", std::string(5000, '\xff'),
                                           whole.substr(0, whole.size() / 2), whole + whole};
  for (const auto& text : broken) {
    for (const auto& file : files())
      write_file(file, text, 0600);
    EXPECT_EQ(calls(), right) << "with " << text.size() << " bytes";
  }

  EXPECT_EQ(read_file(files().front()).size(), whole.size()); // written anew
}

TEST_P(CacheOf, calls_is_the_same_where_others_may_have_written_to_it) {
  const auto right = calls();
  ASSERT_FALSE(files().empty());

  for (const auto& file : files())
    ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
  EXPECT_EQ(calls(), right);
  ASSERT_EQ(::chmod(directory().c_str(), 0777), 0);
  EXPECT_EQ(calls(), right);
  fs::remove_all(directory());
  write_file(directory(), "no directory");
  EXPECT_EQ(calls(), right);
}

INSTANTIATE_OVER_ENGINES(CacheOf);

TEST(CacheOfSomebodyElse, is_left_alone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give directories away";
  const TemporaryDirectory home;
  ASSERT_EQ(::chown(home.path().c_str(), 65534, 65534), 0);

  const auto run = run_program({.argv = {SONICTRACE, "-o", "/dev/null", "-e", "*", "/bin/true"},
                                .environment = {"XDG_CACHE_HOME=", "HOME=" + home.path()}});

  EXPECT_TRUE(run.exited_with(0)) << run.end() << run.err;
  EXPECT_TRUE(fs::is_empty(home.path())); // root has left nothing there
}

} // namespace
} // namespace sonictrace::test
