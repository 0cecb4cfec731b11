#include "sonictrace/names/scope_facts.hpp"

#include <gtest/gtest.h>

namespace sonictrace::names {
namespace {

struct Case {
  const char* mangled;
  const char* scope; ///< asked for
  bool is_namespace, is_passed_by_reference;
};

void PrintTo(const Case& tested, std::ostream* out) { *out << tested.mangled; }

class FactsOfName : public testing::TestWithParam<Case> {};

TEST_P(FactsOfName, are_what_is_certain) {
  ScopeFacts facts;

  facts.add(GetParam().mangled);

  EXPECT_EQ(facts.is_namespace(GetParam().scope), GetParam().is_namespace);
  EXPECT_EQ(facts.is_passed_by_reference(GetParam().scope), GetParam().is_passed_by_reference);
}

INSTANTIATE_TEST_SUITE_P(
    Namespaces, FactsOfName,
    testing::Values(
        Case{"_ZN1a1fEi", "a", false, false}, // static or not, or in a namespace
        Case{"_ZN1aplERKNS_1bEi", "a", true, false}, Case{"_ZN1a1bplERKi", "a::b", false, false},
        Case{"_ZN1a1cplERKNS_1bEi", "a", true, false}, // what it is in is one too
        Case{"_ZN1alsIcEERSoS1_RKNS_1bIT_EE", "a", true, false},
        Case{"_ZN1ali2_xEPKcm", "a", true, false},
        Case{"_ZN1a1bnwEm", "a::b", false, false}, // no `this`, and a member all the same
        Case{"_ZN1a1bcviEv", "a::b", false, false},
        Case{"_ZN1a1b12_GLOBAL__N_11fEv", "a::b", true, false},
        Case{"_ZN1aL1fEv", "a", true, false}, Case{"_ZNK1a1bltERKS0_", "a", false, false},
        Case{"_ZN1aplE", "a", false, false}, Case{"_ZN99aplERKNS_1bEi", "a", false, false}));

INSTANTIATE_TEST_SUITE_P(
    Classes, FactsOfName,
    testing::Values(
        Case{"_ZN1aC1ERKS_", "a", false, true}, Case{"_ZN1a1bC2ERKS0_", "a::b", false, true},
        Case{"_ZN1a1b1cC1EOS1_", "a::b::c", false, true},
        Case{"_ZN1a1bC1ERKS_", "a::b", false, false}, // of another class
        Case{"_ZN1a1bC1Ei", "a::b", false, false}, Case{"_ZN1a1bD2Ev", "a::b", false, true},
        Case{"_ZTVN1a1bE", "a::b", false, true}, Case{"_ZTV1a", "a", false, true},
        Case{"_ZTIN1a1bE", "a::b", false, false}, Case{"_ZTVN1a1bIiEE", "a::b", false, false}));

} // namespace
} // namespace sonictrace::names
