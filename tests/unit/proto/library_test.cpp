#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "proto/built_in.hpp"
#include "proto/parser.hpp"
#include "sonictrace/proto/call_plan.hpp"
#include "sonictrace/proto/prototype_library.hpp"
#include "unit/proto/show_type.hpp"

namespace sonictrace::proto {
namespace {

using Strings = std::vector<std::string>;

std::string result_of(const PrototypeLibrary& library, std::string_view name,
                      std::string_view module = {}) {
  const Prototype* const prototype = library.find(name, module);
  return prototype->guessed ? "unknown" : show(*prototype->result);
}

TEST(PrototypeLibrary, gives_the_guess_for_an_unknown_function) {
  const PrototypeLibrary library;
  const Prototype* const guess = library.find("nobody_knows_me", "");

  ASSERT_NE(guess, nullptr);
  EXPECT_TRUE(guess->guessed);
  EXPECT_EQ(guess->parameters.size(), 4u);
  EXPECT_EQ(show(*guess->result), "guess:iword");
  EXPECT_EQ(library.find_syscall("nobody_knows_me"), guess);
}

TEST(PrototypeLibrary, keeps_the_first_of_two_prototypes_of_one_name) {
  PrototypeLibrary library;
  (void)library.add("int f(int);\nlong f();\n", "a.conf");
  (void)library.add("void f();\n", "b.conf");

  EXPECT_EQ(library.size(), 1u);
  EXPECT_EQ(result_of(library, "f"), "i4");
}

TEST(PrototypeLibrary, keeps_the_last_of_them_as_ltrace_0_7_3_does) {
  PrototypeLibrary library;
  (void)library.add("int f(int);\nlong f();\nint g();\nlong g();\n", "a.conf", "",
                    Dialect::Ltrace07);
  (void)library.add("void f();\n", "b.conf", "", Dialect::Ltrace07);

  EXPECT_EQ(result_of(library, "f"), "void");
  EXPECT_EQ(result_of(library, "g"), "iword");
}

TEST(PrototypeLibrary, reports_errors_with_the_name_of_the_file) {
  PrototypeLibrary library;

  const auto errors = library.add("int good();\nint bad(nothing);\n", "dir/my.conf");

  EXPECT_EQ(errors, (Strings{"dir/my.conf:2:9: error: unknown type `nothing`"}));
  EXPECT_EQ(library.size(), 1u);
}

struct ModuleCase {
  const char* module;
  const char* expected;
};

void PrintTo(const ModuleCase& tested, std::ostream* out) { *out << tested.module; }

class FileOfAModule : public testing::TestWithParam<ModuleCase> {};

TEST_P(FileOfAModule, counts_for_the_versions_of_the_module) {
  PrototypeLibrary library;
  (void)library.add("short f();\n", "libfoo.so.1.conf", "libfoo.so.1");
  (void)library.add("int f();\n", "libfoo.so.conf", "libfoo.so");
  (void)library.add("long f();\n", "any.conf");
  (void)library.add("double f();\n", "prog.conf", "prog");

  EXPECT_EQ(result_of(library, "f", GetParam().module), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    PrototypeLibrary, FileOfAModule,
    testing::Values(ModuleCase{"libfoo.so.1", "i2"}, ModuleCase{"libfoo.so.1.2", "i2"},
                    ModuleCase{"libfoo.so.2", "i4"}, ModuleCase{"libfoo.so", "i4"},
                    ModuleCase{"libfoo.so.10", "i4"}, ModuleCase{"libfoo.sox", "iword"},
                    ModuleCase{"libfoo", "iword"}, ModuleCase{"libfoo-2.so", "iword"},
                    ModuleCase{"prog", "f8"}, ModuleCase{"prog.1", "iword"}, ModuleCase{"", "i2"}));

TEST(PrototypeLibrary, asks_files_of_other_modules_last) {
  PrototypeLibrary library;
  (void)library.add("int f();\nint g();\n", "prog.conf", "prog");
  (void)library.add("long f();\n", "any.conf");

  EXPECT_EQ(result_of(library, "f", "libbar.so"), "iword");
  EXPECT_EQ(result_of(library, "g", "libbar.so"), "i4");
}

class WellKnownName : public testing::TestWithParam<ModuleCase> {};

TEST_P(WellKnownName, counts_where_it_is_that_of_the_well_known_function) {
  PrototypeLibrary library;
  (void)library.add("double log(double);\n", "libm.so.conf", "libm.so");
  (void)library.add("int malloc();\nint send();\n", "libc.so.conf", "libc.so.6");

  const std::string wanted = GetParam().expected;
  EXPECT_EQ(result_of(library, "log", GetParam().module), wanted == "all" ? "f8" : "unknown");
  EXPECT_EQ(result_of(library, "send", GetParam().module), wanted == "all" ? "i4" : "unknown");
  EXPECT_EQ(result_of(library, "malloc", GetParam().module), "i4") << "often replaced";
}

INSTANTIATE_TEST_SUITE_P(
    PrototypeLibrary, WellKnownName,
    testing::Values(ModuleCase{"libm.so.6", "all"}, ModuleCase{"", "all"},
                    ModuleCase{"libc.so.6", "all"}, ModuleCase{"libc.so", "all"},
                    ModuleCase{"ld-musl-x86_64.so.1", "all"},
                    ModuleCase{"libc.musl-x86_64.so.1", "all"},
                    ModuleCase{"ld-linux-x86-64.so.2", "all"}, ModuleCase{"libpthread.so.0", "all"},
                    ModuleCase{"libasan.so.8", "all"}, ModuleCase{"libjemalloc.so.2", "all"},
                    ModuleCase{"libcuda.so.1", "malloc"}, ModuleCase{"libmine.so", "malloc"},
                    ModuleCase{"prog", "malloc"}));

class BuiltInName : public testing::TestWithParam<const char*> {};

TEST_P(BuiltInName, says_nothing_of_another_library_that_has_it_too) {
  const PrototypeLibrary library = PrototypeLibrary::built_in();

  for (const char* module :
       {"libmine.so", "libmine.so.1", "prog", "libcuda.so.1", "libasanitized.so"})
    EXPECT_EQ(result_of(library, GetParam(), module), "unknown") << module;
  for (const char* module : {"", "libc.so.6", "libpthread.so.0"})
    EXPECT_NE(result_of(library, GetParam(), module), "unknown") << module;
}

INSTANTIATE_TEST_SUITE_P(PrototypeLibrary, BuiltInName,
                         testing::Values("error", "index", "send", "select", "warn", "sendfile",
                                         "open", "dlopen", "pthread_create", "printf", "log"));

class InterposedName : public testing::TestWithParam<const char*> {};

TEST_P(InterposedName, means_the_same_function_wherever_it_is) {
  const PrototypeLibrary library = PrototypeLibrary::built_in();

  EXPECT_NE(result_of(library, GetParam(), "libmine.so"), "unknown");
  EXPECT_NE(result_of(library, GetParam(), "prog"), "unknown");
}

INSTANTIATE_TEST_SUITE_P(PrototypeLibrary, InterposedName,
                         testing::Values("malloc", "calloc", "realloc", "free", "memalign",
                                         "aligned_alloc", "posix_memalign", "valloc", "pvalloc",
                                         "malloc_usable_size", "reallocarray", "cfree", "strdup",
                                         "strndup", "memcpy", "strlen", "strtol"));

class Interposer : public testing::TestWithParam<const char*> {};

TEST_P(Interposer, has_the_functions_of_the_c_library) {
  const PrototypeLibrary library = PrototypeLibrary::built_in();

  for (const char* name : {"read", "pthread_create", "printf", "gettimeofday", "frexp"})
    EXPECT_NE(result_of(library, name, GetParam()), "unknown") << name;
  EXPECT_EQ(result_of(library, "compress", GetParam()), "unknown") << "but not of others";
}

INSTANTIATE_TEST_SUITE_P(PrototypeLibrary, Interposer,
                         testing::Values("libasan.so.8", "libtsan.so.2", "liblsan.so.0",
                                         "libubsan.so.1", "libhwasan.so.0",
                                         "libclang_rt.asan-x86_64.so", "libjemalloc.so.2",
                                         "libtcmalloc_minimal.so.4", "libmimalloc.so.2.0",
                                         "libhoard.so", "libfakeroot-sysv.so", "libeatmydata.so.1",
                                         "libfaketimeMT.so.1", "libc_malloc_debug.so.0"));

TEST(PrototypeLibrary, takes_from_the_built_in_c_library_only_the_types_where_it_is_imported) {
  PrototypeLibrary library;
  EXPECT_EQ(
      library.add("import \"libc.so\";\nerror f(timespec*);\n", "libmine.so.conf", "libmine.so"),
      Strings{});
  library.add_built_in();

  EXPECT_EQ(library.find("f", "libmine.so.1")->parameters.size(), 1u);
  EXPECT_EQ(result_of(library, "send", "libmine.so.1"), "unknown");
  EXPECT_NE(result_of(library, "send", "libc.so.6"), "unknown");
}

TEST(PrototypeLibrary, asks_the_files_of_ltrace_for_names_that_it_does_not_know_only) {
  PrototypeLibrary library;
  library.add_built_in();
  (void)library.add("double error(string);\ndouble mine();\ndouble compress();\n"
                    "double SYS_read();\ndouble SYS_mine();\n",
                    "/etc/ltrace.conf");
  (void)library.add("double send();\n", "/usr/share/ltrace/libc.so.conf", "libc.so");

  EXPECT_EQ(result_of(library, "error", "libmine.so"), "unknown");
  EXPECT_EQ(result_of(library, "error", "libc.so.6"), "void");
  EXPECT_EQ(result_of(library, "compress", "libmine.so"), "unknown");
  EXPECT_EQ(result_of(library, "send", "libc.so.6"), "iword");
  EXPECT_EQ(result_of(library, "mine", "libmine.so"), "f8");
  EXPECT_EQ(show(*library.find_syscall("read")->result), "iword");
  EXPECT_EQ(show(*library.find_syscall("mine")->result), "f8");
}

TEST(PrototypeLibrary, lets_given_files_say_what_they_like_of_any_name) {
  PrototypeLibrary library;
  (void)library.add("double error(string);\n", "my.conf");
  (void)library.add("float send();\n", "libmine.so.conf", "libmine.so");
  library.add_built_in();

  EXPECT_EQ(result_of(library, "error", "libmine.so"), "f8");
  EXPECT_EQ(result_of(library, "send", "libmine.so.1"), "f4");
  EXPECT_EQ(result_of(library, "send", "libc.so.6"), "iword");
}

TEST(PrototypeLibrary, puts_what_was_added_before_the_built_in_ones_first) {
  PrototypeLibrary library;
  (void)library.add("double strlen();\n", "my.conf");
  library.add_built_in();
  (void)library.add("double strlen();\ndouble strcmp();\ndouble mine();\n", "ltrace.conf");

  EXPECT_EQ(result_of(library, "strlen", "libc.so.6"), "f8");
  EXPECT_EQ(result_of(library, "strcmp", "libc.so.6"), "i4");
  EXPECT_EQ(result_of(library, "strcmp", "other"), "i4");
  EXPECT_EQ(result_of(library, "mine", "libc.so.6"), "f8");
}

TEST(PrototypeLibrary, prefers_the_built_in_ones_about_a_module_to_given_ones_about_another) {
  PrototypeLibrary library;
  (void)library.add("double strlen();\n", "libfoo.so.conf", "libfoo.so");
  library.add_built_in();
  (void)library.add("float strlen();\n", "ltrace.conf");

  EXPECT_EQ(result_of(library, "strlen", "libc.so.6"), "uword");
  EXPECT_EQ(result_of(library, "strlen", "libfoo.so.1"), "f8");
  EXPECT_EQ(result_of(library, "strlen", "libbar.so.1"), "f8");
}

TEST(PrototypeLibrary, lets_texts_import_each_other) {
  PrototypeLibrary library;
  Strings asked;
  library.set_importer([&](std::string_view name) -> std::optional<PrototypeLibrary::Conf> {
    asked.emplace_back(name);
    if (name == "types")
      return PrototypeLibrary::Conf{"types.conf",
                                    "typedef t = short;\nt shared();\nbad\nimport \"back\";\n"};
    if (name == "back")
      return PrototypeLibrary::Conf{"back.conf", "import \"types\";\nt back();\n"};
    return std::nullopt;
  });

  const auto errors =
      library.add("import \"types\";\nimport \"none\"\nt f();\n", "libfoo.so.conf", "libfoo.so");

  EXPECT_EQ(errors, (Strings{"types.conf:3:1: error: unknown type `bad`",
                             "libfoo.so.conf:2:8: error: there is no none.conf"}));
  EXPECT_EQ(asked, (Strings{"types", "back", "none"}));
  EXPECT_EQ(result_of(library, "f", "libfoo.so.1"), "i2");
  EXPECT_EQ(result_of(library, "shared", "libfoo.so.1"), "i2");
  EXPECT_EQ(result_of(library, "back"), "i2") << "circles are no trap";
  EXPECT_EQ(library.add("int shared();\n", "types.conf", "types"), Strings{});
  EXPECT_EQ(result_of(library, "shared", "types"), "i2") << "read already";
}

TEST(PrototypeLibrary, bounds_the_imports_of_a_text) {
  PrototypeLibrary library;
  int asked = 0;
  library.set_importer([&](std::string_view name) {
    ++asked;
    return PrototypeLibrary::Conf{std::string(name), ""};
  });
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += "import \"t" + std::to_string(i) + "\";\n";

  EXPECT_EQ(library.add(text, "t.conf").size(), 8u);
  EXPECT_EQ(asked, 32);
}

TEST(PrototypeLibrary, counts_imported_prototypes_for_the_module_that_imports_them) {
  PrototypeLibrary library;
  (void)library.add("int f();\n", "common.conf", "common");
  (void)library.add("long f();\n", "any.conf");
  (void)library.add("import \"common\";\n", "libfoo.so.conf", "libfoo.so");

  EXPECT_EQ(result_of(library, "f", "libfoo.so.1"), "i4");
  EXPECT_EQ(result_of(library, "f", "libbar.so.1"), "iword");
}

TEST(PrototypeLibrary, shares_the_typedefs_of_the_texts_for_any_module) {
  PrototypeLibrary library;

  EXPECT_EQ(library.add("typedef t = short;\n", "a.conf"), Strings{});
  EXPECT_EQ(library.add("t f();\ntypedef t = long;\nt g();\n", "b.conf"), Strings{});
  EXPECT_EQ(library.add("t h();\n", "c.conf", "libfoo.so").size(), 1u);

  EXPECT_EQ(result_of(library, "f"), "i2");
  EXPECT_EQ(result_of(library, "g"), "iword");
}

TEST(PrototypeLibrary, has_one_table_of_typedefs_for_ltrace_0_7_3) {
  PrototypeLibrary library;
  (void)library.add("typedef t = short;\n", "a.conf", "", Dialect::Ltrace07);

  EXPECT_EQ(library.add("typedef t = long;\nt f();\n", "b.conf", "", Dialect::Ltrace07),
            (Strings{"b.conf:1:9: error: `t` is defined already"}));
  EXPECT_EQ(result_of(library, "f"), "i2");
}

TEST(PrototypeLibrary, keeps_functions_and_system_calls_apart) {
  PrototypeLibrary library;
  (void)library.add("int SYS_read();\nlong read();\n", "old.conf");
  (void)library.add("double close();\nfloat SYS_open();\n", "syscalls.conf", "syscalls");

  EXPECT_EQ(show(*library.find_syscall("read")->result), "i4");
  EXPECT_EQ(show(*library.find_syscall("close")->result), "f8");
  EXPECT_EQ(show(*library.find_syscall("open")->result), "f4");
  EXPECT_EQ(result_of(library, "read"), "iword");
  EXPECT_EQ(result_of(library, "close"), "unknown");
  EXPECT_EQ(result_of(library, "close", "libc.so.6"), "unknown");
}

TEST(PrototypeLibrary, keeps_its_prototypes_where_they_are) {
  PrototypeLibrary library;
  (void)library.add("int f();\n", "a.conf");
  const Prototype* const before = library.find("f", "");
  for (int i = 0; i < 1000; ++i)
    (void)library.add("int g" + std::to_string(i) + "();\n", "b.conf");

  PrototypeLibrary moved = std::move(library);

  EXPECT_EQ(moved.find("f", ""), before);
}

TEST(BuiltInPrototypes, know_the_common_functions_of_the_c_library) {
  const PrototypeLibrary library = PrototypeLibrary::built_in();

  EXPECT_GT(library.size(), 250u);
  EXPECT_EQ(library.find("strlen", "libc.so.6")->parameters.at(0).type->lens, Lens::Text);
  EXPECT_EQ(result_of(library, "strlen", "libc.so.6"), "uword");
  EXPECT_EQ(library.find("open", "libc.so.6")->parameters.at(0).type->lens, Lens::Path);
  EXPECT_EQ(result_of(library, "free", "libc.so.6"), "void");
  EXPECT_EQ(library.find("getpid", "libc.so.6")->parameters.size(), 0u);
}

TEST(BuiltInPrototypes, are_free_of_faults) {
  for (const ConfText& conf : built_in_confs()) {
    const std::string file(conf.file);
    PrototypeLibrary eager; // reads all of what is not built in
    EXPECT_EQ(eager.add(conf.text, file, "read.so"), Strings{});

    TypeArena arena;
    ConfScope scope;
    const ConfContext context = {
        Dialect::Current, arena, scope,
        [&](std::string_view) -> Result<const ConfScope*> { return &scope; }};
    for (const DeferredPrototype& deferred : index_conf(conf.text, file, context).prototypes) {
      const std::string name(deferred.name);
      const Prototype* const known = eager.find(name, "read.so");
      ASSERT_EQ(known->name, name) << file << ": " << deferred.text;
    }
  }
}

TEST(BuiltInPrototypes, compile_for_every_convention) {
  const PrototypeLibrary library = PrototypeLibrary::built_in();

  const Prototype& write = *library.find("write", "libc.so.6");
  for (const auto convention :
       {CallingConvention::SystemV64, CallingConvention::SystemV32, CallingConvention::Syscall64}) {
    PlanOptions options;
    options.convention = convention;
    EXPECT_EQ(compile(write, options).parameters.size(), 3u);
  }
}

} // namespace
} // namespace sonictrace::proto
