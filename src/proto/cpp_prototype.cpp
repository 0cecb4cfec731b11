#include "proto/cpp_prototype.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "proto/cpp_pack.hpp"
#include "sonictrace/names/signature.hpp"
#include "sonictrace/proto/cpp_types.hpp"
#include "sonictrace/proto/placement.hpp"

namespace sonictrace::proto {
namespace {

using names::CppType;
using names::FunctionSignature;
using Passed = CppValue::Passed;

constexpr std::size_t kMostTried = 9;   ///< readings: each costs a little at each call
constexpr std::uint32_t kRegisters = 6; ///< for integers

/// What stands in front of the parameters.
struct Hidden {
  std::uint32_t words = 0; ///< a `this` or where the result goes
  bool is_result = false;  ///< the first one is where the result goes, for certain
  bool object = false;     ///< a `this` that is shown
  bool table = false;      ///< of virtual bases
};

/// A parameter, as it is passed.
struct Passing {
  const Type* type = nullptr;
  bool is_unknown = false; ///< a class, of whatever size, or an enumeration
};

/// Those of well-known libraries. Of any other name nobody knows whether it is that of a class.
bool is_namespace(std::string_view scope) {
  constexpr std::array<std::string_view, 16> kNamespaces = {
      "at",    "at::native",      "at::cpu",    "at::indexing",
      "c10",   "c10::impl",       "c10::cuda",  "caffe2",
      "cv",    "cv::dnn",         "cv::ocl",    "cv::utils",
      "torch", "torch::autograd", "torch::jit", "torch::nn::functional"};
  return std::find(kNamespaces.begin(), kNamespaces.end(), scope) != kNamespaces.end();
}

class PrototypeMaker {
public:
  PrototypeMaker(const FunctionSignature& signature, TypeArena& arena, const CppPack* pack,
                 const names::ScopeFacts* scopes)
      : signature_(signature), arena_(arena), scopes_(scopes), types_(arena, pack) {}

  /// The number at a parameter, 1-based, is one of an enumeration.
  void name_values(std::uint32_t parameter, std::string_view enumeration) {
    named_.emplace_back(parameter, enumeration);
  }

  Prototype make() {
    Prototype prototype;
    for (const CppType& parameter : signature_.parameters)
      passings_.push_back(passing(parameter));
    for (const auto& [number, enumeration] : named_) {
      if (number == 0 || number > passings_.size() || passings_[number - 1].is_unknown) continue;
      const Type*& type = passings_[number - 1].type;
      if (const Type* const named = types_.named_values(*type, enumeration)) type = named;
    }
    for (const Passing& passing : passings_)
      has_unknown_ = has_unknown_ || passing.is_unknown;
    prototype.result = result();
    std::vector<Reading> readings = all_readings();
    if (readings.size() == 1) {
      prototype.parameters = std::move(readings.front().parameters);
    } else {
      prototype.parameters = words_of(readings);
      prototype.readings = std::move(readings);
    }
    return prototype;
  }

private:
  Passing passing(const CppType& parameter) {
    const CppValue value = types_.value(parameter);
    switch (value.passed) {
      case Passed::ByReference: return {types_.reference_to(value.type), false};
      case Passed::Plainly:
        if (value.type != nullptr) return {value.type, false};
        break;
      case Passed::Unknown:
        if (is_copied_by_constructor(parameter)) return {types_.reference_to(nullptr), false};
        break;
    }
    return {nullptr, true};
  }

  /// In a scope that is no class for certain.
  bool is_in_namespace() const {
    const std::string_view scope = signature_.scope;
    return is_namespace(scope) || scope.ends_with("(anonymous namespace)") ||
           (scopes_ != nullptr && scopes_->is_namespace(scope));
  }

  /// A class of which only that much is known: that it is not trivially copied.
  bool is_copied_by_constructor(const CppType& type) const {
    return scopes_ != nullptr && type.kind == CppType::Kind::Named && type.inner.empty() &&
           scopes_->is_passed_by_reference(type.name);
  }

  // The result.

  /// Whether it is in memory; nothing where that is not known.
  std::optional<bool> is_result_in_memory() {
    if (signature_.structor != FunctionSignature::Structor::No) return false;
    if (!signature_.result) return std::nullopt;
    const CppValue value = types_.value(*signature_.result);
    if (value.passed == Passed::ByReference || is_copied_by_constructor(*signature_.result))
      return true;
    if (value.passed == Passed::Unknown || value.type == nullptr) return std::nullopt;
    if (value.type->kind == TypeKind::Void) return false;
    return !place_of_result(*value.type, CallingConvention::SystemV64);
  }

  const Type* result() {
    if (signature_.structor != FunctionSignature::Structor::No) return arena_.void_type();
    if (signature_.result) {
      const CppValue value = types_.value(*signature_.result);
      if (value.passed == Passed::ByReference) return types_.reference_to(value.type);
      if (value.passed == Passed::Plainly && value.type != nullptr) {
        // Of what is in memory, rax has the address: only that is looked at where the prototype
        // says what is hidden.
        const bool is_plain =
            place_of_result(*value.type, CallingConvention::SystemV64).has_value() ||
            value.type->kind == TypeKind::Void;
        return is_plain ? value.type : types_.reference_to(value.type);
      }
    }
    Type guess;
    guess.kind = TypeKind::Signed;
    guess.size = 8;
    guess.lens = Lens::Guess;
    return arena_.make(std::move(guess));
  }

  // The readings.

  /// What may stand in front of the parameters. A `this` that may as well be the place of a result
  /// is not shown: then only their number matters.
  std::vector<Hidden> all_hidden() {
    using Object = FunctionSignature::Object;
    const auto in_memory = is_result_in_memory();
    const bool may_be_in_memory = in_memory.value_or(true);
    const bool is_in_memory = in_memory.value_or(false);
    std::vector<Hidden> all;
    if (signature_.object == Object::Yes) {
      if (!is_in_memory) all.push_back({.object = true});
      if (may_be_in_memory) all.push_back({.words = 1, .is_result = true, .object = true});
      if (signature_.structor == FunctionSignature::Structor::Base && !passings_.empty())
        all.push_back({.object = true, .table = true});
      return all;
    }
    const std::uint32_t fewest = is_in_memory ? 1 : 0;
    const bool may_have_object = signature_.object == Object::Unknown && !is_in_namespace();
    const std::uint32_t most = (may_be_in_memory ? 1U : 0U) + (may_have_object ? 1U : 0U);
    for (std::uint32_t words = fewest; words <= most; ++words) {
      const bool is_result = is_in_memory || (words == 2 || (words == 1 && !may_have_object));
      all.push_back({.words = words, .is_result = is_result});
    }
    return all;
  }

  std::vector<Reading> all_readings() {
    std::vector<Hidden> all = all_hidden();
    const bool is_known = all.size() == 1 || signature_.object == FunctionSignature::Object::Yes;
    if (!is_known && is_without_integers()) all = {{}};
    std::vector<Reading> readings;
    for (const Hidden& hidden : all)
      append(readings, hidden);
    if (readings.size() <= kMostTried) return readings;
    Reading words;
    words.parameters = words_of(readings);
    return {std::move(words)};
  }

  /// Whatever is hidden, all parameters are in vector registers, or behind them on the stack.
  bool is_without_integers() const {
    return std::all_of(passings_.begin(), passings_.end(), [](const Passing& passing) {
      return !passing.is_unknown && passing.type->kind == TypeKind::Float &&
             passing.type->size <= 8;
    });
  }

  void append(std::vector<Reading>& readings, const Hidden& hidden) {
    Reading reading;
    reading.parameters.reserve(passings_.size() + 3);
    reading.result_in_memory = hidden.is_result;
    for (std::uint32_t at = 0; at < hidden.words; ++at)
      reading.parameters.push_back({hidden_word()});
    if (hidden.object) reading.parameters.push_back({types_.reference_to(nullptr)});
    if (hidden.table) reading.parameters.push_back({hidden_word()});
    append_from(readings, std::move(reading), 0, false);
  }

  const Type* hidden_word() {
    Type type = *types_.reference_to(nullptr);
    type.lens = Lens::Hide;
    return arena_.make(std::move(type));
  }

  /// Goes on with the parameter at `index`. `is_vague`: a class was passed that may have taken
  /// vector registers.
  void append_from(std::vector<Reading>& readings, Reading reading, std::size_t index,
                   bool is_vague) {
    for (; index < passings_.size(); ++index) {
      const Passing& passing = passings_[index];
      if (passing.is_unknown) {
        const bool is_last = index + 1 == passings_.size();
        const bool is_told_apart = has_checks_from(index + 1);
        if (is_last || !is_told_apart) {
          reading.parameters.push_back({word()});
          if (!is_last) reading.parameters.push_back({types_.opaque(0)}); // who knows where
          break;
        }
        // An enumeration, a small class, a pointer to one; two words; in memory or vector
        // registers.
        for (const std::uint8_t words : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{0}}) {
          Reading one = reading;
          one.parameters.push_back({words == 1 ? word() : types_.opaque(words)});
          append_from(readings, std::move(one), index + 1, true);
        }
        return;
      }
      const bool is_lost = is_vague && !is_in_integers(*passing.type);
      reading.parameters.push_back({is_lost ? types_.opaque(0) : passing.type});
    }
    if (is_vague || has_unknown_) hide_stack(reading, is_vague);
    if (signature_.is_variadic) reading.parameters.push_back({types_.opaque(0)});
    readings.push_back(std::move(reading));
  }

  /// What is on the stack behind something of an unknown size lies nobody knows where.
  void hide_stack(Reading& reading, bool is_vague) {
    ArgumentPlaces places(CallingConvention::SystemV64);
    for (Parameter& parameter : reading.parameters) {
      const Placement placement = places.next(*parameter.type);
      const bool is_on_stack =
          !placement.eightbytes.empty() && placement.eightbytes.front() >= wire::kStackWordsAt;
      if (is_on_stack && (is_vague || parameter.type->lens == Lens::Guess))
        parameter.type = types_.opaque(0);
    }
  }

  const Type* word() {
    Type type;
    type.kind = TypeKind::Signed;
    type.size = 8;
    type.lens = Lens::Guess;
    return arena_.make(std::move(type));
  }

  static bool is_in_integers(const Type& type) {
    return type.kind != TypeKind::Float && type.kind != TypeKind::Struct &&
           type.kind != TypeKind::Array && type.kind != TypeKind::Sequence;
  }

  /// Can a wrong place of one of these be noticed?
  bool has_checks_from(std::size_t index) const {
    for (; index < passings_.size(); ++index) {
      const Type* const type = passings_[index].type;
      if (type != nullptr &&
          (type->is_reference || type->lens == Lens::Bool || type->kind == TypeKind::Sequence))
        return true;
    }
    return false;
  }

  /// What is shown of a call that can't be read: registers as numbers, and what is in vector
  /// registers whatever the reading.
  std::vector<Parameter> words_of(const std::vector<Reading>& readings) {
    std::uint32_t words = 0;
    for (const Reading& reading : readings)
      words = std::max(words, integers_of(reading));
    std::vector<Parameter> parameters;
    for (std::uint32_t at = 0; at < std::min(words, kRegisters); ++at)
      parameters.push_back({word()});
    for (const Passing& passing : passings_) {
      if (passing.is_unknown) break;
      if (passing.type->kind == TypeKind::Float && passing.type->size <= 8)
        parameters.push_back({passing.type});
    }
    return parameters;
  }

  static std::uint32_t integers_of(const Reading& reading) {
    ArgumentPlaces places(CallingConvention::SystemV64);
    for (const Parameter& parameter : reading.parameters)
      (void)places.next(*parameter.type);
    return places.variadic() & 0xff;
  }

  const FunctionSignature& signature_;
  TypeArena& arena_;
  const names::ScopeFacts* scopes_;
  CppTypes types_;
  std::vector<Passing> passings_;
  std::vector<std::pair<std::uint32_t, std::string_view>> named_;
  bool has_unknown_ = false;
};

} // namespace

std::optional<Prototype> prototype_of_name(std::string_view mangled, TypeArena& arena,
                                           const CppPack* pack, const names::ScopeFacts* scopes) {
  auto signature = names::read_signature(mangled);
  if (!signature) return std::nullopt;
  CppPack::Function said;
  if (pack != nullptr) said = pack->function(*signature, mangled);
  using Object = FunctionSignature::Object;
  using Structor = FunctionSignature::Structor;
  if (said.is_member && signature->object == Object::Unknown)
    signature->object = *said.is_member ? Object::Yes : Object::No;
  if (!said.has_table && signature->structor == Structor::Base)
    signature->structor = Structor::Complete;
  if (!signature->result) signature->result = std::move(said.result);
  PrototypeMaker maker(*signature, arena, pack, scopes);
  for (const auto& [parameter, enumeration] : said.enumerations)
    maker.name_values(parameter, enumeration);
  Prototype prototype = maker.make();
  prototype.name = mangled;
  return prototype;
}

} // namespace sonictrace::proto
