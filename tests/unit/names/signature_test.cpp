#include "sonictrace/names/signature.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>

namespace sonictrace::names {
namespace {

std::string show(const CppType& type) {
  using Kind = CppType::Kind;
  std::string inner;
  for (const CppType& part : type.inner)
    inner += (inner.empty() ? "" : ", ") + show(part);
  const std::string qualifier = type.is_const ? " const" : "";
  switch (type.kind) {
    case Kind::Unknown: return "?" + qualifier;
    case Kind::Builtin: return type.name + qualifier;
    case Kind::Named: return type.name + (inner.empty() ? "" : "<" + inner + ">") + qualifier;
    case Kind::Pointer: return inner + "*" + qualifier;
    case Kind::LvalueReference: return inner + "&" + qualifier;
    case Kind::RvalueReference: return inner + "&&" + qualifier;
    case Kind::Array: return inner + "[]" + qualifier;
    case Kind::Function: return "function" + qualifier;
    case Kind::DataMemberPointer: return "member*" + qualifier;
    case Kind::MethodPointer: return "method*" + qualifier;
    case Kind::Value: return "=" + type.name;
  }
  return {};
}

std::string show(const FunctionSignature& signature) {
  std::string text;
  switch (signature.object) {
    case FunctionSignature::Object::No: break;
    case FunctionSignature::Object::Yes: text += "this "; break;
    case FunctionSignature::Object::Unknown: text += "this? "; break;
  }
  if (signature.structor == FunctionSignature::Structor::Base) text += "base ";
  if (signature.structor == FunctionSignature::Structor::Complete) text += "complete ";
  text += signature.result ? show(*signature.result) + " (" : "(";
  bool first = true;
  for (const CppType& parameter : signature.parameters) {
    text += (first ? "" : ", ") + show(parameter);
    first = false;
  }
  return text + (signature.is_variadic ? ", ...)" : ")");
}

struct Case {
  const char* mangled;
  const char* expected;
};

void PrintTo(const Case& tested, std::ostream* out) { *out << tested.mangled; }

class SignatureOfName : public testing::TestWithParam<Case> {};

TEST_P(SignatureOfName, is_what_the_name_says) {
  const auto signature = read_signature(GetParam().mangled);
  EXPECT_EQ(signature ? show(*signature) : "none", GetParam().expected);
}

// [over.oper]: an operator that is a member has an operand less among its parameters.
INSTANTIATE_TEST_SUITE_P(
    Operators, SignatureOfName,
    testing::Values(Case{"_ZN1a1bplERKi", "this? (int const&)"}, // or unary, and no member
                    Case{"_ZN1aplERKNS_1bERKi", "(a::b const&, int const&)"},
                    Case{"_ZN1a1bpLERKi", "this (int const&)"},
                    Case{"_ZN1apLERNS_1bEi", "(a::b&, int)"},
                    Case{"_ZN1alsERSoRKNS_1bE", "(std::ostream&, a::b const&)"},
                    Case{"_ZN1a1blsEi", "this (int)"}, Case{"_ZN1a1bngEv", "this ()"},
                    Case{"_ZN1angERKNS_1bE", "this? (a::b const&)"},
                    Case{"_ZN1antERKNS_1bE", "(a::b const&)"}, Case{"_ZN1a1bntEv", "this ()"},
                    Case{"_ZN1a1bppEv", "this ()"}, Case{"_ZN1a1bppEi", "this (int)"},
                    Case{"_ZN1appERNS_1bE", "(a::b&)"}, Case{"_ZN1appERNS_1bEi", "(a::b&, int)"},
                    Case{"_ZN1amlERKNS_1bES2_", "(a::b const&, a::b const&)"},
                    Case{"_ZN1ali2_xEPKcm", "(char const*, unsigned long)"}));

INSTANTIATE_TEST_SUITE_P(
    Functions, SignatureOfName,
    testing::Values(
        Case{"_Z1fv", "()"}, Case{"_Z1fiz", "(int, ...)"},
        Case{"_Z1fPKcmd", "(char const*, unsigned long, double)"},
        Case{"_Z1fRKSt6vectorIiSaIiEE", "(std::vector<int, std::allocator<int>> const&)"},
        Case{"_Z1fSs", "(std::string)"},
        Case{"_Z1fNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
             "(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>>)"},
        Case{"_Z1fSt8functionIFviEE", "(std::function<function>)"},
        Case{"_Z1fPFvicE", "(function*)"}, Case{"_Z1fRA5_Kc", "(char const[]&)"},
        Case{"_Z1fM1AFivE", "(method*)"}, Case{"_Z1fM1AKFivE", "(method*)"},
        Case{"_Z1fM1Ai", "(member*)"}, Case{"_Z1fSt5arrayIiLm3EE", "(std::array<int, =3>)"},
        Case{"_Z1fNSt6vectorIiSaIiEE8iteratorE", "(std::vector<>::iterator)"},
        Case{"_Z1fu3numc", "(?, char)"}, Case{"_Z1fDn", "(decltype(nullptr))"},
        Case{"_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
             "std::basic_ostream<char, std::char_traits<char>>& "
             "(std::basic_ostream<char, std::char_traits<char>>&, char const*)"},
        Case{"_Znwm", "void* (unsigned long)"}, Case{"_ZdlPvm", "void (void*, unsigned long)"}));

INSTANTIATE_TEST_SUITE_P(
    Members, SignatureOfName,
    testing::Values(Case{"_ZN1A1fEi", "this? (int)"}, Case{"_ZNK1A1fEi", "this (int)"},
                    Case{"_ZNO1A1fEv", "this ()"}, Case{"_ZN1AC1Ei", "this complete (int)"},
                    Case{"_ZN1AC2Ei", "this base (int)"}, Case{"_ZN1AD0Ev", "this complete ()"},
                    Case{"_ZN1AD2Ev", "this base ()"}, Case{"_ZN1AcvbEv", "this bool ()"},
                    Case{"_ZN1AaSERKS_", "this (A const&)"}, Case{"_ZN1AixEi", "this (int)"},
                    Case{"_ZN1AclEi", "this (int)"}, Case{"_ZN1AptEv", "this ()"},
                    Case{"_ZN1AplERKS_", "this? (A const&)"},
                    Case{"_ZN1AnwEm", "void* (unsigned long)"}, Case{"_ZNKSs4sizeEv", "this ()"},
                    Case{"_ZZ4mainENKUliE_clEi", "this (int)"},
                    Case{"_ZN12_GLOBAL__N_11fEi", "this? (int)"}));

INSTANTIATE_TEST_SUITE_P(
    Templates, SignatureOfName,
    testing::Values(Case{"_Z1fIdEvT_S0_", "void (double, double)"},
                    Case{"_Z3sumIJidcEEiDpT_", "int (int, double, char)"},
                    Case{"_Z1fIJEEvDpT_", "void ()"},
                    Case{"_ZNSt6vectorIiSaIiEE12emplace_backIJRKiEEERiDpOT_",
                         "this? int& (int const&)"},
                    Case{"_ZSt7forwardIRiEOT_RNSt16remove_referenceIS1_E4typeE",
                         "int& (std::remove_reference<>::type&)"},
                    Case{"_ZN1AIiE1fEi", "this? (int)"}, Case{"_ZN1AcvT_IiEEv", "this int ()"}));

INSTANTIATE_TEST_SUITE_P(Others, SignatureOfName,
                         testing::Values(Case{"malloc", "none"}, Case{"_ZTV1A", "none"},
                                         Case{"_ZThn8_N1A1fEv", "none"}, Case{"_ZN1A1bE", "none"},
                                         Case{"_Z1fi.isra.0", "none"}, Case{"_Z", "none"},
                                         Case{"_Z1fiQ", "none"}, Case{"", "none"}));

// Each substitution is twice as large as the one before it.
TEST(Signatures, of_names_that_stand_for_endless_types_are_not_read) {
  std::string name = "_Z1fI1AIiEE";
  std::string type = "1AIiiE";
  for (int at = 0; at < 20; ++at)
    type = "1AI" + type + (at < 10 ? "S" + std::to_string(at) + "_" : std::string("i")) + "E";
  (void)read_signature("_Z1f" + type);

  std::string deep = "_Z1f";
  deep.append(5000, 'P');
  EXPECT_FALSE(read_signature(deep + "i"));
  deep.resize(4 + 200);
  EXPECT_FALSE(read_signature(deep + "i")); // no such type is worth it
}

} // namespace
} // namespace sonictrace::names
