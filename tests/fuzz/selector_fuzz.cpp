// Filters as a user could type them, in both grammars: none may crash or hang, and one that was
// taken must answer. First byte: the mode; the rest: the filter.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sonictrace/probe/selector.hpp"

using namespace sonictrace;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const unsigned mode = data[0];
  const std::string filter(reinterpret_cast<const char*>(data) + 1, size - 1);

  SelectorOptions options;
  options.ltrace = (mode & 1u) != 0;
  switch (mode / 2 % 3) {
    case 0: options.calls = {filter}; break;
    case 1: options.libraries = {filter}; break;
    default: options.entries = {filter}; break;
  }
  auto set = SelectorSet::parse(options);
  if (!set) return 0;

  const ModuleName modules[] = {
      {"app", "/opt/demo/bin/app", true},
      {"libstdc++.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30", false},
      {"_C.cpython-311-x86_64-linux-gnu.so", "/opt/py/_C.cpython-311-x86_64-linux-gnu.so", false},
      {"", "", false},
  };
  const FunctionName functions[] = {
      {"malloc", "malloc"},
      {"_ZN2at6native19upsample_bilinear2dEv", "at::native::upsample_bilinear2d"},
      {"_ZNK1apltERKS_", "a::operator->"},
      {"_ZdaPv", "operator delete[]"},
      {"", ""},
  };
  for (const ModuleName& caller : modules) {
    const bool may_call = set->may_select_calls_of(caller);
    const bool may_enter = set->may_select_entries_of(caller);
    for (const FunctionName& function : functions) {
      if (set->selects_entry(caller, function) && !may_enter) std::abort();
      if (set->selects_call(caller, function, nullptr) && !may_call) std::abort();
      for (const ModuleName& callee : modules)
        if (set->selects_call(caller, function, &callee) && !may_call) std::abort();
    }
  }
  for (const std::string& line : set->unmatched())
    if (line.empty()) std::abort();
  return 0;
}
