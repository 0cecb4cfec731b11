// Any bytes as what was captured of a call: they must come out as a piece of a log line, and as
// JSON. First byte: which plan and which style; second: where the entry's bytes end.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "sonictrace/decode/json.hpp"
#include "sonictrace/decode/render.hpp"
#include "sonictrace/proto/prototype_library.hpp"

using namespace sonictrace;

namespace {

constexpr const char* kPrototypes[] = {
    "string f(int, string, path, bytes[arg1], string[arg1], char, wchar, wstring);",
    "struct(int, double, string(array(char, 6)), array(int, elt1)) f(+array(string, zero)*, "
    "+int*);",
    "ldouble f(double, float, hex(double), ldouble, bool(int), bitvec(array(char, 16)*), octal);",
    "void f(enum(A, B=7), flags(O=0,P=1,Q=2,M=3,R=64), hex(long), guess(long), addr, format);",
    "int f(string, scanformat);",
    "typedef t = struct;\ntypedef t = struct(int, t*, t*, array(t*, 3));\nt* f(t*, hide(int), "
    "+t*);",
    "int f(+string[retval], ulong, vaformat, addr);",
};

std::vector<proto::CallPlan> make_plans() {
  std::vector<proto::CallPlan> plans;
  for (const char* const conf : kPrototypes) {
    proto::PrototypeLibrary library;
    if (!library.add(conf, "fuzz").empty()) std::abort();
    plans.push_back(proto::compile(*library.find("f", {}), {}));
  }
  return plans;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<proto::CallPlan> plans = make_plans();
  if (size < 2) return 0;
  const proto::CallPlan& plan = plans[data[0] % plans.size()];
  const ValueStyle style{32, data[0] >= 128, data[0] % 3 == 0};
  const auto bytes = std::as_bytes(std::span(data + 2, size - 2));
  const std::size_t middle = std::min<std::size_t>(data[1], bytes.size());
  const auto entry = bytes.first(middle), leave = bytes.subspan(middle);

  std::string out;
  for (const auto part : {ArgumentPart::All, ArgumentPart::Entry, ArgumentPart::Rest}) {
    append_arguments(out, plan, entry, leave, part, style);
    append_arguments(out, plan, entry, std::nullopt, part, style);
  }
  append_result(out, plan, leave, style);
  for (const char c : out)
    if (c < ' ' || c > '~') std::abort();

  out.clear();
  json_arguments(out, plan, entry, leave, style);
  if (!nlohmann::json::accept(out)) std::abort();
  out.clear();
  json_result(out, plan, leave, style);
  if (!nlohmann::json::accept(out)) std::abort();
  return 0;
}
