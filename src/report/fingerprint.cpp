#include "sonictrace/report/fingerprint.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

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

using Json = nlohmann::json;

/// Takes values out of what was read, and remembers whether all were there, and what they should
/// be.
class Values {
public:
  std::uint64_t number(const Json& from, const char* key) { return number(member(from, key)); }
  std::uint64_t number(const Json& value) {
    if (value.is_number_unsigned()) return value.get<std::uint64_t>();
    complete_ = false;
    return 0;
  }
  double real(const Json& value) {
    if (value.is_number() && value.get<double>() >= 0) return value.get<double>();
    complete_ = false;
    return 0;
  }
  std::string text(const Json& from, const char* key) { return text(member(from, key)); }
  std::string text(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    complete_ = false;
    return {};
  }
  /// To go through.
  const Json& array(const Json& from, const char* key) {
    return of_type(member(from, key), Json::value_t::array);
  }
  const Json& object(const Json& from, const char* key) {
    return of_type(member(from, key), Json::value_t::object);
  }

  bool complete() const { return complete_; }
  void fail() { complete_ = false; }

private:
  const Json& of_type(const Json& value, Json::value_t type) {
    if (value.type() == type) return value;
    complete_ = false;
    return nothing_;
  }
  const Json& member(const Json& from, const char* key) const {
    if (!from.is_object()) return null_;
    const auto found = from.find(key);
    return found == from.end() ? null_ : *found;
  }

  const Json null_;
  const Json nothing_ = Json::array();
  bool complete_ = true;
};

FunctionProfile function_from(const Json& from, std::size_t runs, Values& values) {
  FunctionProfile one;
  one.name = values.text(from, "name");
  one.module = values.text(from, "lib");
  const auto syscall = from.is_object() ? from.find("syscall") : from.end();
  one.is_syscall = syscall != from.end() && syscall->is_boolean() && syscall->get<bool>();
  log::Function known;
  known.name = one.name;
  known.is_syscall = one.is_syscall;
  // Anew, so that all that is compared was classed by the same list.
  one.call_class = class_of(known);
  auto& all = one.all;
  all.calls = values.number(from, "calls");
  all.sum_ns = values.number(from, "sum_ns");
  all.self_ns = values.number(from, "self_ns");
  all.outermost_ns = values.number(from, "outermost_ns");
  all.no_return = values.number(from, "no_return");
  all.unwound = values.number(from, "unwound");
  all.thinned = values.number(from, "thinned");
  for (const auto& run : values.array(from, "runs")) {
    if (!run.is_array() || run.size() != 4) {
      values.fail();
      continue;
    }
    one.runs.push_back(
        {values.number(run[0]), values.number(run[1]), values.number(run[2]), values.real(run[3])});
  }
  if (one.runs.size() != runs) values.fail();
  one.runs.resize(runs);
  for (const auto& bucket : values.array(from, "histogram")) {
    const auto at =
        bucket.is_array() && bucket.size() == 2 ? values.number(bucket[0]) : ~std::uint64_t{0};
    if (at >= DurationHistogram::kBuckets) {
      values.fail();
      continue;
    }
    all.durations.add_bucket(static_cast<std::size_t>(at), values.number(bucket[1]));
  }
  all.durations.set_bounds(values.number(from, "min_ns"), values.number(from, "max_ns"));
  all.timed = all.durations.total();
  return one;
}

/// What is wrong with it, where it is no JSON, as the library says it: `.. at line 1, column 2:
/// ..`.
Result<Json> parse_json(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    std::string_view what = error.what(); // `[json.exception.parse_error.101] parse error at ..`
    if (const auto end = what.find("] "); end != std::string_view::npos)
      what.remove_prefix(end + 2);
    return Error::saying(std::string(what));
  }
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
  const auto parsed = parse_json(text);
  if (!parsed) return fail("a damaged fingerprint, " + parsed.error().message());
  const Json& root = *parsed;
  Values values;
  const auto version = values.number(root, "sonicreport_fingerprint");
  if (version != kFingerprintVersion)
    return fail(fmt::format("a fingerprint of version {}, not {}", version, kFingerprintVersion));
  Fingerprint one;
  one.tool = values.text(root, "tool");
  one.machine = values.text(root, "machine");
  for (const auto& [key, value] : values.object(root, "parameters").items())
    one.parameters[key] = values.text(value);
  std::vector<ProfiledRun> runs;
  for (const auto& run : values.array(root, "runs"))
    runs.push_back({values.text(run, "sha256"), values.number(run, "lines"),
                    values.number(run, "calls"), values.number(run, "span_ns"),
                    values.number(run, "lost")});
  std::vector<FunctionProfile> functions;
  for (const auto& function : values.array(root, "functions"))
    functions.push_back(function_from(function, runs.size(), values));
  if (!values.complete() || runs.empty()) return fail("a fingerprint that lacks numbers");
  one.profile = Profile::of(std::move(runs), std::move(functions));
  return one;
}

} // namespace sonictrace::report
