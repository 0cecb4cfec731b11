// The prototypes that are built in, against what the headers say: docs/PROTOTYPES.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "proto/built_in.hpp"
#include "sonictrace/proto/placement.hpp"
#include "sonictrace/proto/call_plan.hpp"
#include "sonictrace/proto/prototype_library.hpp"
#include "unit/proto/show_type.hpp"

namespace sonictrace::proto {
namespace {

using Strings = std::vector<std::string>;

const PrototypeLibrary& built_in() {
  static const PrototypeLibrary library = PrototypeLibrary::built_in();
  return library;
}

/// One of tests/proto_data.
Strings lines_of(const std::string& name) {
  std::ifstream file(std::string(TEST_DATA_DIR) + "/../../proto_data/" + name);
  Strings lines;
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') lines.push_back(line);
  EXPECT_FALSE(lines.empty()) << name;
  return lines;
}

std::string size_of(const Type& type) { return std::to_string(layout_of(type, 8).size); }

/// The code that the lists have for a type: i4, u8, f8, p, {i4,i4}.
std::string code_of(const Type& type) {
  switch (type.kind) {
    case TypeKind::Void: return "v";
    case TypeKind::Signed: return "i" + size_of(type);
    case TypeKind::Unsigned: return "u" + size_of(type);
    case TypeKind::Character:
    case TypeKind::WideCharacter: return "c" + size_of(type);
    case TypeKind::Float: return (type.size == 16 ? "x" : "f") + size_of(type);
    case TypeKind::Pointer: return "p";
    case TypeKind::Array: return "array";
    case TypeKind::Sequence:
    case TypeKind::Opaque: return "of C++";
    case TypeKind::Struct: break;
  }
  std::string code;
  for (const Type* field : type.fields)
    code += (code.empty() ? "{" : ",") + code_of(*field);
  return code + "}";
}

bool are_equal(const Type& type, const std::string& code) {
  const std::string own = code_of(type);
  if (own == code) return true;
  // A character is an int in most headers, its other bytes are of no interest.
  if (own == "c1") return code == "i1" || code == "i4";
  if (own == "c4") return code == "i4" || code == "u4";
  // What there is no type for takes the right place, and is not shown.
  if (type.lens != Lens::Hide) return false;
  if (code == "q16") return own == "f8";
  if (code == "{q16,q16}") return own == "{x16,x16}";
  if (code == "{x16,x16}") return own == "x16"; // as a result: in st0 and st1
  return code == "{" + size_of(type) + "}";     // in memory
}

std::string in_short(const Prototype& prototype) {
  std::string text = code_of(*prototype.result);
  for (const Parameter& parameter : prototype.parameters)
    text += " " + code_of(*parameter.type);
  return text;
}

/// Empty where the prototype says what the list says.
std::string difference(const std::string& line) {
  std::istringstream words(line);
  std::string name, result;
  words >> name >> result;
  Strings parameters;
  for (std::string word; words >> word;)
    parameters.push_back(word);
  const bool is_variadic = !parameters.empty() && parameters.back() == "...";
  if (is_variadic) parameters.pop_back();

  const Prototype* const prototype = built_in().find(name, "");
  if (prototype->guessed) return line + ": no prototype";
  const std::string wrong = line + ": the prototype is " + in_short(*prototype);
  const std::size_t count = prototype->parameters.size();
  if (is_variadic ? count < parameters.size() : count != parameters.size()) return wrong;
  if (!are_equal(*prototype->result, result)) return wrong;
  for (std::size_t at = 0; at < parameters.size(); ++at)
    if (!are_equal(*prototype->parameters[at].type, parameters[at])) return wrong;
  return {};
}

void expect_no_differences(const std::string& list) {
  Strings differences;
  const Strings lines = lines_of(list);
  std::size_t known = 0;
  for (const std::string& line : lines) {
    const std::string found = difference(line);
    known += found.find(": no prototype") == std::string::npos;
    if (!found.empty()) differences.push_back(found);
  }
  std::cout << list << ": " << known << " of " << lines.size() << " have a prototype\n";
  EXPECT_EQ(differences, Strings{});
}

TEST(BuiltInPrototypes, are_read_without_an_error) {
  std::set<std::string> texts;
  for (const ConfText& conf : built_in_confs()) {
    texts.insert(std::string(conf.file));
    PrototypeLibrary library; // alone: it uses nobody else's typedefs
    EXPECT_EQ(library.add(conf.text, conf.file), Strings{});
  }
  for (const char* name :
       {"libc.conf", "libm.conf", "libpthread.conf", "libdl.conf", "libz.conf", "libresolv.conf"})
    EXPECT_TRUE(texts.contains(name)) << name;
}

TEST(BuiltInPrototypes, say_what_the_headers_of_glibc_say) {
  expect_no_differences("glibc_2_36_functions.txt");
}

TEST(BuiltInPrototypes, say_what_other_exported_functions_of_glibc_take) {
  expect_no_differences("glibc_2_36_other_functions.txt");
}

TEST(BuiltInPrototypes, say_what_the_header_of_zlib_says) {
  expect_no_differences("zlib_1_2_13_functions.txt");
}

// Made by the tool that made the prototypes: what is checked is that they parse to what the
// declarations say, whatever lens was given by hand.
class Pack : public testing::TestWithParam<const char*> {};

TEST_P(Pack, has_nearly_all_that_headers_declare_and_libraries_export) {
  expect_no_differences(std::string(GetParam()) + "_functions.txt");
}

INSTANTIATE_TEST_SUITE_P(BuiltInPrototypes, Pack,
                         testing::Values("ffmpeg", "libpng", "libjpeg", "openblas", "openmp",
                                         "cpython"),
                         [](const auto& chosen) { return std::string(chosen.param); });

TEST(BuiltInPrototypes, count_for_all_names_that_a_library_goes_by) {
  const auto is_known = [](const char* function, const char* module) {
    return !built_in().find(function, module)->guessed;
  };

  EXPECT_TRUE(is_known("avcodec_send_packet", "libavcodec.so.59"));
  EXPECT_TRUE(is_known("avcodec_send_packet", "libavcodec-9f1b2c3d.so.60.31.102"));
  EXPECT_TRUE(is_known("GOMP_parallel", "libgomp-a34b3233.so.1"));
  EXPECT_TRUE(is_known("PyObject_Call", "python3.11"));
  EXPECT_TRUE(is_known("PyObject_Call", "libpython3.12.so.1.0"));
  EXPECT_TRUE(is_known("cblas_sgemm", "libblas.so.3"));

  EXPECT_FALSE(is_known("avcodec_send_packet", "libavcodec-mine.so.60"));
  EXPECT_FALSE(is_known("avcodec_send_packet", "libavcodecs.so"));
  EXPECT_FALSE(is_known("PyObject_Call", "python3-config"));
  EXPECT_FALSE(is_known("PyObject_Call", "libpython2.7.so.1.0"));
}

TEST(BuiltInPrototypes, are_compared_in_number_type_and_width) {
  EXPECT_EQ(difference("strlen u8 p"), "");
  EXPECT_EQ(difference("printf i4 p ..."), "");
  EXPECT_EQ(difference("fcntl i4 i4 i4 ..."), ""); // with one of the variadic ones
  EXPECT_NE(difference("strlen i8 p"), "");
  EXPECT_NE(difference("strlen u4 p"), "");
  EXPECT_NE(difference("strlen u8"), "");
  EXPECT_NE(difference("strlen u8 p p"), "");
  EXPECT_NE(difference("sin f4 f8"), "");
  EXPECT_NE(difference("div {i4,i8} i4 i4"), "");
  EXPECT_NE(difference("there_is_no_such_function v"), "");
}

/// Each name in front of a `(` that does not belong to the grammar.
std::set<std::string> functions_of_ltrace_conf(std::istream& text) {
  std::set<std::string> names;
  const std::string name_chars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  for (std::string line; std::getline(text, line);) {
    const std::size_t comment = line.find(';');
    if (comment == 0 || line.rfind("typedef", 0) == 0) continue;
    // The function's name is the only one behind a blank or a star.
    for (std::size_t at = line.find('('); at != std::string::npos; at = line.find('(', at + 1)) {
      const std::size_t before = line.find_last_not_of(name_chars, at - 1);
      if (at == 0 || before == std::string::npos || before + 1 == at) continue;
      if (line[before] != ' ' && line[before] != '\t' && line[before] != '*') continue;
      names.insert(line.substr(before + 1, at - before - 1));
      break;
    }
  }
  return names;
}

TEST(BuiltInPrototypes, are_there_for_each_function_that_ltrace_conf_names) {
  const char* const path = "/etc/ltrace.conf";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "there is no " << path;
  std::ifstream file(path);
  const std::set<std::string> names = functions_of_ltrace_conf(file);
  ASSERT_FALSE(names.empty());
  Strings missing;
  std::size_t count = 0;
  for (const std::string& name : names) {
    if (name.rfind("SYS_", 0) == 0) continue; // syscalls.conf
    ++count;
    const auto is_known_in = [&](const char* module) {
      return !built_in().find(name, module)->guessed;
    };
    const auto modules = {"libc.so.6",     "libcrypt.so.1",  "libacl.so.1",
                          "libbfd.so",     "libX11.so.6",    "libncurses.so.6",
                          "libtinfo.so.6", "libpcap.so.0.8", "libreadline.so.8"};
    if (std::none_of(modules.begin(), modules.end(), is_known_in)) missing.push_back(name);
  }
  std::cout << count - missing.size() << " of " << count << " names\n";
  EXPECT_EQ(missing, Strings{});
}

/// The types of a function's parameters as its file has them, out parameters with `+`.
std::string parameters_of(const char* name) {
  const std::string_view view = name;
  const Prototype* const prototype = view.substr(0, 4) == "SYS_"
                                         ? built_in().find_syscall(view.substr(4))
                                         : built_in().find(view, "");
  std::string text;
  for (const Parameter& parameter : prototype->parameters) {
    using When = Parameter::When;
    text += text.empty() ? "" : ", ";
    text += !parameter.out                       ? ""
            : parameter.when == When::IfPositive ? "+?"
            : parameter.when == When::Always     ? "+!"
                                                 : "+";
    text += parameter.type->names != nullptr ? "names" : show(*parameter.type);
  }
  return text;
}

struct ParametersCase {
  const char* function;
  const char* expected;
};

void PrintTo(const ParametersCase& tested, std::ostream* out) { *out << tested.function; }

class BuiltInParameters : public testing::TestWithParam<ParametersCase> {};

TEST_P(BuiltInParameters, show_what_the_call_has_made) {
  EXPECT_EQ(parameters_of(GetParam().function), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    OfCountAndSize, BuiltInParameters,
    testing::Values(ParametersCase{"fread", "+bytes:>[c arg2*retval], uword, uword, addr:>void"},
                    ParametersCase{"__fread_chk",
                                   "+bytes:>[c arg3*retval], uword, uword, uword, addr:>void"},
                    ParametersCase{"fwrite", "bytes:>[c arg2*arg3], uword, uword, addr:>void"},
                    ParametersCase{"gzfread", "+bytes:>[c arg2*retval], uword, uword, addr:>void"},
                    ParametersCase{"gzfwrite", "bytes:>[c arg2*arg3], uword, uword, addr:>void"}));

// With MSG_TRUNC, a size of 0, a buffer too small the result is what there would have been.
INSTANTIATE_TEST_SUITE_P(
    OfResultsAboveTheSize, BuiltInParameters,
    testing::Values(
        ParametersCase{"recv", "i4, +bytes:>[c arg3|retval], uword, names"},
        ParametersCase{"__recv_chk", "i4, +bytes:>[c arg3|retval], uword, uword, names"},
        ParametersCase{"SYS_recvfrom", "i4, +bytes:>[c arg3|retval], uword, names, "
                                       "addr:>void, addr:>void"},
        ParametersCase{"getgroups", "i4, +>[u4 arg1|retval]"},
        ParametersCase{"SYS_getgroups", "i4, +>[u4 arg1|retval]"},
        ParametersCase{"confstr", "names, +text:>[c arg3|retval/0], uword"},
        ParametersCase{"res_send", "bytes:>[c arg2], i4, +bytes:>[c arg4|retval], i4"},
        ParametersCase{"SYS_listxattr", "path:>[c -/0], +bytes:>[c arg3|retval], uword"}));

INSTANTIATE_TEST_SUITE_P(
    OfResultsThatSayMore, BuiltInParameters,
    testing::Values(ParametersCase{"waitpid", "i4, +?>hex:i4, names"},
                    ParametersCase{"SYS_wait4", "i4, +?>hex:i4, names, addr:>void"},
                    ParametersCase{"mkstemp", "+!path:>[c -/0]"},
                    ParametersCase{"strtol", "text:>[c -/0], +!>text:>[c -/0], i4"},
                    ParametersCase{"connect", "i4, bytes:>[c arg3], u4"},
                    ParametersCase{"timespec_get", "+?>{iword iword}, i4"}));

INSTANTIATE_TEST_SUITE_P(
    OfWideFormats, BuiltInParameters,
    testing::Values(ParametersCase{"wprintf", "format:>[w4 -/0]"},
                    ParametersCase{"__vfwprintf_chk",
                                   "addr:>void, i4, vaformat:>[w4 -/0], addr:>void"},
                    ParametersCase{"__isoc99_swscanf", "text:>[w4 -/0], scanformat:>[w4 -/0]"}));

/// How many arguments there are where the one that says it has that value.
std::size_t count_of(const char* name, std::size_t argument, std::int64_t value) {
  const std::string_view view = name;
  const Prototype* const prototype = view.substr(0, 4) == "SYS_"
                                         ? built_in().find_syscall(view.substr(4))
                                         : built_in().find(view, "");
  return static_cast<std::size_t>(std::count_if(
      prototype->parameters.begin(), prototype->parameters.end(), [&](const Parameter& parameter) {
        const auto& absent = parameter.absent_for;
        return parameter.depends_on != argument ||
               std::find(absent.begin(), absent.end(), value) == absent.end();
      }));
}

TEST(BuiltInPrototypes, know_which_arguments_an_operation_does_not_take) {
  for (const char* name : {"fcntl", "fcntl64", "SYS_fcntl", "SYS_fcntl64"}) {
    EXPECT_EQ(count_of(name, 2, 1), 2u) << name << " F_GETFD";
    EXPECT_EQ(count_of(name, 2, 1034), 2u) << name << " F_GET_SEALS";
    EXPECT_EQ(count_of(name, 2, 2), 3u) << name << " F_SETFD";
  }
  for (const char* name : {"prctl", "SYS_prctl"}) {
    EXPECT_EQ(count_of(name, 1, 3), 1u) << name << " PR_GET_DUMPABLE";
    EXPECT_EQ(count_of(name, 1, 58), 1u) << name << " PR_GET_IO_FLUSHER";
    EXPECT_EQ(count_of(name, 1, 15), 2u) << name << " PR_SET_NAME";
    EXPECT_EQ(count_of(name, 1, 22), 3u) << name << " PR_SET_SECCOMP";
    EXPECT_EQ(count_of(name, 1, 0x53564d41), 5u) << name << " PR_SET_VMA";
  }
  for (const char* name : {"ioctl", "SYS_ioctl"}) {
    EXPECT_EQ(count_of(name, 2, 0x5451), 2u) << name << " FIOCLEX";
    EXPECT_EQ(count_of(name, 2, 0x5413), 3u) << name << " TIOCGWINSZ";
  }
  EXPECT_EQ(count_of("ptrace", 1, 0), 1u) << "PTRACE_TRACEME";
  EXPECT_EQ(count_of("ptrace", 1, 4), 4u) << "PTRACE_POKETEXT";
}

TEST(BuiltInPrototypes, can_be_compiled_into_plans) {
  std::size_t most = 0;
  for (const char* list : {"glibc_2_36_functions.txt", "glibc_2_36_other_functions.txt",
                           "zlib_1_2_13_functions.txt"}) {
    for (const std::string& line : lines_of(list)) {
      const Prototype* const prototype = built_in().find(line.substr(0, line.find(' ')), "");
      for (const auto convention : {CallingConvention::SystemV64, CallingConvention::SystemV32}) {
        PlanOptions options;
        options.convention = convention;
        const CallPlan plan = compile(*prototype, options);
        EXPECT_GE(plan.parameters.size(), prototype->parameters.size()) << line;
        most = std::max<std::size_t>(most, plan.entry_room);
      }
    }
  }
  EXPECT_GT(most, 0u);
}

} // namespace
} // namespace sonictrace::proto
