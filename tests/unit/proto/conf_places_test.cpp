#include "sonictrace/proto/conf_places.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "unit/proto/show_type.hpp"

namespace sonictrace::proto {
namespace {

using Strings = std::vector<std::string>;

/// Files by path. A directory is there when a file is in it.
class FakeFiles : public ConfFiles {
public:
  FakeFiles(std::initializer_list<std::pair<const std::string, std::string>> files)
      : files_(files) {}

  Result<std::string> read(const std::string& path) const override {
    const auto found = files_.find(path);
    if (found == files_.end()) return Error(std::errc::no_such_file_or_directory, path);
    if (found->second == "LOCKED") return Error(std::errc::permission_denied, path);
    return found->second;
  }

  Result<Strings> list(const std::string& directory) const override {
    if (files_.count(directory) != 0) return Error(std::errc::not_a_directory, directory);
    Strings names;
    for (const auto& [path, text] : files_)
      if (path.substr(0, path.rfind('/')) == directory)
        names.insert(names.begin(), path.substr(directory.size() + 1));
    if (names.empty()) return Error(std::errc::no_such_file_or_directory, directory);
    return names;
  }

private:
  std::map<std::string, std::string> files_;
};

Strings shown(const std::vector<ConfPlace>& places) {
  Strings lines;
  for (const ConfPlace& place : places) {
    static constexpr const char* kKinds[] = {"file ", "directory ", "either ", "built in"};
    lines.push_back((place.asked_for ? "asked: " : "") +
                    std::string(kKinds[static_cast<std::size_t>(place.kind)]) + place.path);
  }
  return lines;
}

TEST(ConfPlaces, are_the_users_then_the_systems_then_ours_then_what_packages_bring) {
  ConfOptions options;
  options.files = {"a.conf:dir", "", ":b:"};
  options.environment.home = "/home/u";

  EXPECT_EQ(shown(conf_places(options)),
            (Strings{"asked: either a.conf", "asked: either dir", "asked: either b",
                     "directory /home/u/.config/sonictrace", "directory /etc/xdg/sonictrace",
                     "directory /home/u/.config/ltrace", "directory /home/u/.ltrace",
                     "file /home/u/.ltrace.conf", "directory /etc/xdg/ltrace", "built in",
                     "directory /usr/share/ltrace", "file /etc/ltrace.conf"}));
}

TEST(ConfPlaces, follow_the_xdg_variables) {
  ConfOptions options;
  options.environment = {"/home/u", "/cfg", "/one:relative::/two"};

  EXPECT_EQ(
      shown(conf_places(options)),
      (Strings{"directory /cfg/sonictrace", "directory /one/sonictrace",
               "directory /two/sonictrace", "directory /cfg/ltrace", "directory /home/u/.ltrace",
               "file /home/u/.ltrace.conf", "directory /one/ltrace", "directory /two/ltrace",
               "built in", "directory /usr/share/ltrace", "file /etc/ltrace.conf"}));
}

TEST(ConfPlaces, need_no_home) {
  ConfOptions options;
  options.environment.xdg_config_home = "relative";

  EXPECT_EQ(shown(conf_places(options)),
            (Strings{"directory /etc/xdg/sonictrace", "directory /etc/xdg/ltrace", "built in",
                     "directory /usr/share/ltrace", "file /etc/ltrace.conf"}));
}

TEST(ConfPlaces, are_two_files_for_ltrace_0_7_3_unless_others_are_given) {
  ConfOptions options;
  options.ltrace = true;
  options.environment = {"/home/u", "/cfg", "/one"};

  EXPECT_EQ(shown(conf_places(options)),
            (Strings{"file /etc/ltrace.conf", "file /home/u/.ltrace.conf"}));
  options.files = {"a:b", "c"};
  EXPECT_EQ(shown(conf_places(options)), (Strings{"asked: file a:b", "asked: file c"}));
}

std::string result_of(const PrototypeLibrary& library, std::string_view name,
                      std::string_view module = {}) {
  const Prototype* const prototype = library.find(name, module);
  return prototype->guessed ? "unknown" : show(*prototype->result);
}

TEST(LoadedPrototypes, come_from_files_and_from_the_files_of_directories) {
  const FakeFiles files{{"my.conf", "short f();\nbad();\n"},
                        {"d/libfoo.so.conf", "int f();\nint g();\n"},
                        {"d/prog.conf", "long g();\n"},
                        {"d/.conf", "bad();\n"},
                        {"d/libfoo.so.conf~", "bad();\n"},
                        {"/home/u/.ltrace/libfoo.so.1.conf", "double f();\ndouble h();\n"},
                        {"/etc/ltrace.conf", "double strlen();\ndouble mine();\n"}};
  ConfOptions options;
  options.files = {"my.conf:d"};
  options.environment.home = "/home/u";

  const auto loaded = load_prototypes(options, files);

  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->errors, (Strings{"my.conf:2:1: error: unknown type `bad`"}));
  const PrototypeLibrary& library = loaded->library;
  EXPECT_EQ(result_of(library, "f", "libfoo.so.1"), "i4");
  EXPECT_EQ(result_of(library, "f", "libbar.so.1"), "i2");
  EXPECT_EQ(result_of(library, "g", "prog"), "iword");
  EXPECT_EQ(result_of(library, "h", "libfoo.so.1"), "f8");
  EXPECT_EQ(result_of(library, "strlen", "libc.so.6"), "uword") << "ours say more than ltrace's";
  EXPECT_EQ(result_of(library, "mine", "libc.so.6"), "f8");
}

TEST(LoadedPrototypes, know_what_is_imported_from_any_directory) {
  const FakeFiles files{{"d/libfoo.so.conf", "import \"zz\";\nimport \"../x\"\nt f();\n"},
                        {"/home/u/.config/ltrace/zz.conf", "typedef t = short;\n"},
                        {"d/../x.conf", "typedef u = int;\n"}};
  ConfOptions options;
  options.files = {"d"};
  options.environment.home = "/home/u";

  const auto loaded = load_prototypes(options, files);

  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->errors, (Strings{"d/libfoo.so.conf:2:8: error: there is no ../x.conf"}));
  EXPECT_EQ(result_of(loaded->library, "f", "libfoo.so"), "i2");
}

TEST(LoadedPrototypes, need_what_was_asked_for) {
  const FakeFiles files{{"good.conf", "int f();\n"}, {"locked.conf", "LOCKED"}};
  ConfOptions options;

  options.files = {"good.conf:missing"};
  const auto missing = load_prototypes(options, files);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message(), "missing: No such file or directory");
  options.files = {"locked.conf"};
  const auto locked = load_prototypes(options, files);
  ASSERT_FALSE(locked);
  EXPECT_EQ(locked.error().message(), "locked.conf: Permission denied");
}

TEST(LoadedPrototypes, do_without_what_is_locked_and_say_so_where_it_was_to_be_seen) {
  const FakeFiles files{{"/home/u/.ltrace.conf", "LOCKED"}, {"/home/u/.ltrace/a.conf", "LOCKED"}};
  ConfOptions options;
  options.environment.home = "/home/u";

  const auto loaded = load_prototypes(options, files);

  ASSERT_TRUE(loaded);
  // That the other one is there at all can't be told: it may be somebody else's home.
  EXPECT_EQ(loaded->errors, (Strings{"/home/u/.ltrace/a.conf: Permission denied"}));
}

TEST(LoadedPrototypes, of_ltrace_0_7_3_are_those_of_its_files_alone) {
  const FakeFiles files{{"/etc/ltrace.conf", "int f();\nint g();\n"},
                        {"/home/u/.ltrace.conf", "long f();\npath h();\n"},
                        {"mine", "double f();\n"}};
  ConfOptions options;
  options.ltrace = true;
  options.environment.home = "/home/u";

  const auto own = load_prototypes(options, files);
  ASSERT_TRUE(own);
  EXPECT_EQ(own->errors, (Strings{"/home/u/.ltrace.conf:2:1: error: unknown type `path`"}));
  EXPECT_EQ(result_of(own->library, "f"), "iword");
  EXPECT_EQ(result_of(own->library, "g"), "i4");
  EXPECT_EQ(result_of(own->library, "strlen"), "unknown");

  options.files = {"mine"};
  const auto given = load_prototypes(options, files);
  ASSERT_TRUE(given);
  EXPECT_EQ(result_of(given->library, "f"), "f8");
  EXPECT_EQ(result_of(given->library, "g"), "unknown");

  options.files = {"missing"};
  const auto missing = load_prototypes(options, files);
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->errors, Strings{});
  EXPECT_EQ(result_of(missing->library, "strlen"), "unknown");
}

TEST(LoadedPrototypes, are_ours_for_ltrace_where_it_is_not_installed) {
  const FakeFiles files{{"/home/u/.ltrace.conf", "double strlen();\n"}};
  ConfOptions options;
  options.ltrace = true;
  options.environment.home = "/home/u";

  const auto loaded = load_prototypes(options, files);

  ASSERT_TRUE(loaded);
  EXPECT_EQ(result_of(loaded->library, "strlen"), "f8");
  EXPECT_EQ(result_of(loaded->library, "strcmp"), "i4");
}

/// A directory that is gone afterwards.
class RealConfFiles : public testing::Test {
protected:
  RealConfFiles() {
    std::string path = testing::TempDir() + "conf_places_XXXXXX";
    if (::mkdtemp(path.data()) != nullptr) directory_ = path;
  }
  ~RealConfFiles() override { std::filesystem::remove_all(directory_); }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((directory_ / name).parent_path());
    std::ofstream(directory_ / name) << text;
  }

  std::filesystem::path directory_;
};

TEST_F(RealConfFiles, are_read_where_they_are) {
  write("home/.config/sonictrace/libfoo.so.conf", "int f();\n");
  write("home/.ltrace.conf", "int g(" + std::string(200'000, ' ') + ");\n");
  write("given.conf", "int h();\n");
  std::filesystem::create_directory(directory_ / "home/.config/sonictrace/sub.conf");
  ConfOptions options;
  options.files = {directory_ / "given.conf"};
  options.environment.home = directory_ / "home";

  const auto loaded = load_prototypes(options);

  ASSERT_TRUE(loaded);
  EXPECT_EQ(result_of(loaded->library, "f", "libfoo.so"), "i4");
  EXPECT_EQ(result_of(loaded->library, "g"), "i4");
  EXPECT_EQ(result_of(loaded->library, "h"), "i4");
  ASSERT_GE(loaded->errors.size(), 1u);
  EXPECT_EQ(loaded->errors[0],
            (directory_ / "home/.config/sonictrace/sub.conf: Is a directory").string());
}

TEST_F(RealConfFiles, that_are_missing_are_told) {
  ConfOptions options;
  options.files = {directory_ / "none"};

  const auto loaded = load_prototypes(options);

  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message(),
            (directory_ / "none").string() + ": No such file or directory");
}

TEST_F(RealConfFiles, that_have_no_end_are_refused) {
  ConfOptions options;
  options.files = {"/dev/zero"};

  const auto loaded = load_prototypes(options);

  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message(), "/dev/zero: File too large");
}

} // namespace
} // namespace sonictrace::proto
