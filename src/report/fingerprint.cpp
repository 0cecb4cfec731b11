#include "sonictrace/report/fingerprint.hpp"

#include <fmt/format.h>

#include <utility>

#include "report/json_value.hpp"
#include "report/profile_noise.hpp"
#include "sonictrace/wire/histogram.hpp"

namespace sonictrace::report {
namespace {

constexpr std::string_view kFirst = "{\n\"sonicreport_fingerprint\": ";

std::string to_json(const FunctionProfile& one, double noise) {
  const auto& all = one.all;
  std::string text = fmt::format(
      "{{\"name\": {}, \"lib\": {}, \"syscall\": {}, \"class\": \"{}\", \"calls\": {}, "
      "\"sum_ns\": {}, \"self_ns\": {}, \"min_ns\": {}, \"p50_ns\": {}, \"p90_ns\": {}, "
      "\"p99_ns\": {}, \"max_ns\": {}, \"outermost_ns\": {}, \"no_return\": {}, \"unwound\": {}, "
      "\"thinned\": {}, \"noise\": {:.4f}, \"runs\": [",
      json_string(one.name), json_string(one.module), one.is_syscall, to_string(one.call_class),
      all.calls, all.sum_ns, all.self_ns, all.durations.least(), all.durations.quantile(500),
      all.durations.quantile(900), all.durations.quantile(990), all.durations.largest(),
      all.outermost_ns, all.no_return, all.unwound, all.thinned, noise);
  const char* comma = "";
  for (const auto& run : one.runs) {
    // A double in as many digits as give it back.
    text += fmt::format("{}[{}, {}, {}, {}]", comma, run.calls, run.sum_ns, run.self_ns,
                        run.typical_ns);
    comma = ", ";
  }
  text += "], \"histogram\": [";
  comma = "";
  all.durations.for_each([&](std::size_t bucket, std::uint64_t count) {
    text += fmt::format("{}[{}, {}]", comma, bucket, count);
    comma = ", ";
  });
  return text + "]}";
}

/// Takes whole numbers out of values, and remembers whether all were there.
class Numbers {
public:
  std::uint64_t operator()(const JsonValue& value) {
    const auto number = value.whole();
    if (!number) complete_ = false;
    return number.value_or(0);
  }
  std::string text(const JsonValue& value) {
    auto text = value.string();
    if (!text) complete_ = false;
    return text.value_or("");
  }
  bool complete() const { return complete_; }
  void fail() { complete_ = false; }

private:
  bool complete_ = true;
};

FunctionProfile function_from(const JsonValue& value, std::size_t runs, Numbers& number) {
  FunctionProfile one;
  one.name = number.text(value["name"]);
  one.module = number.text(value["lib"]);
  one.is_syscall = value["syscall"].boolean().value_or(false);
  log::Function known;
  known.name = one.name;
  known.is_syscall = one.is_syscall;
  // Anew, so that all that is compared was classed by the same list.
  one.call_class = class_of(known);
  auto& all = one.all;
  all.calls = number(value["calls"]);
  all.sum_ns = number(value["sum_ns"]);
  all.self_ns = number(value["self_ns"]);
  all.outermost_ns = number(value["outermost_ns"]);
  all.no_return = number(value["no_return"]);
  all.unwound = number(value["unwound"]);
  all.thinned = number(value["thinned"]);
  for (const auto& run : value["runs"].items()) {
    if (run.items().size() != 4) {
      number.fail();
      continue;
    }
    const auto typical = run.items()[3].number();
    if (!typical || *typical < 0) number.fail();
    one.runs.push_back({number(run.items()[0]), number(run.items()[1]), number(run.items()[2]),
                        typical.value_or(0)});
  }
  if (one.runs.size() != runs) number.fail();
  one.runs.resize(runs);
  for (const auto& bucket : value["histogram"].items()) {
    const auto at = bucket.items().size() == 2 ? number(bucket.items()[0]) : ~std::uint64_t{0};
    if (at >= DurationHistogram::kBuckets) {
      number.fail();
      continue;
    }
    all.durations.add_bucket(static_cast<std::size_t>(at), number(bucket.items()[1]));
  }
  all.durations.set_bounds(number(value["min_ns"]), number(value["max_ns"]));
  all.timed = all.durations.total();
  return one;
}

} // namespace

std::string to_json(const Fingerprint& one) {
  std::string text =
      fmt::format("{}{},\n\"tool\": {},\n\"machine\": {},\n\"parameters\": {{", kFirst,
                  kFingerprintVersion, json_string(one.tool), json_string(one.machine));
  const char* comma = "";
  for (const auto& [name, value] : one.parameters) {
    text += fmt::format("{}{}: {}", comma, json_string(name), json_string(value));
    comma = ", ";
  }
  text += "},\n\"runs\": [";
  comma = "\n";
  for (const auto& run : one.profile.runs()) {
    text +=
        fmt::format("{}{{\"sha256\": {}, \"lines\": {}, \"calls\": {}, \"span_ns\": {}, "
                    "\"lost\": {}}}",
                    comma, json_string(run.sha256), run.lines, run.calls, run.span_ns, run.lost);
    comma = ",\n";
  }
  text += "\n],\n\"functions\": [";
  comma = "\n";
  const auto noise = noise_of(one.profile);
  for (std::size_t i = 0; i < one.profile.functions().size(); ++i) {
    text += comma + to_json(one.profile.functions()[i], noise[i]);
    comma = ",\n";
  }
  return text + "\n]\n}\n";
}

bool is_fingerprint(std::string_view beginning) { return beginning.starts_with(kFirst); }

Result<Fingerprint> parse_fingerprint(std::string_view text, const std::string& name) {
  const auto fail = [&name](std::string_view why) {
    return Error::saying(
        fmt::format("{}: {}; make it again with sonicreport fingerprint", name, why));
  };
  auto parsed = JsonValue::parse(text);
  if (!parsed) return fail("a damaged fingerprint, " + parsed.error().message());
  const JsonValue& root = *parsed;
  const auto version = root["sonicreport_fingerprint"].whole();
  if (version != kFingerprintVersion)
    return fail(fmt::format("a fingerprint of version {}, not {}", version.value_or(0),
                            kFingerprintVersion));
  Fingerprint one;
  Numbers number;
  one.tool = number.text(root["tool"]);
  one.machine = number.text(root["machine"]);
  for (const auto& [key, value] : root["parameters"].members())
    one.parameters[key] = number.text(*value);
  std::vector<ProfiledRun> runs;
  for (const auto& run : root["runs"].items())
    runs.push_back({number.text(run["sha256"]), number(run["lines"]), number(run["calls"]),
                    number(run["span_ns"]), number(run["lost"])});
  std::vector<FunctionProfile> functions;
  for (const auto& function : root["functions"].items())
    functions.push_back(function_from(function, runs.size(), number));
  if (!number.complete() || runs.empty()) return fail("a fingerprint that lacks numbers");
  one.profile = Profile::of(std::move(runs), std::move(functions));
  return one;
}

} // namespace sonictrace::report
