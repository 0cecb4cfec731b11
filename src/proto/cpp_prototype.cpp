#include "proto/cpp_prototype.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "proto/cpp_types.hpp"
#include "proto/placement.hpp"
#include "sonictrace/names/signature.hpp"

namespace sonictrace::proto {
namespace {

using names::CppType;
using names::FunctionSignature;
using Passed = CppValue::Passed;

constexpr std::size_t kMostTried = 9;     ///< readings: each costs a little at each call
constexpr std::uint32_t kRegisters = 6;   ///< for integers

/// What may stand in front of the parameters.
struct Hidden {
  bool result = false; ///< where the result goes
  bool object = false; ///< `this`
  bool table = false;  ///< of virtual bases
};

/// A parameter, as it is passed.
struct Passing {
  const Type* type = nullptr;
  bool is_unknown = false; ///< a class, of whatever size, or an enumeration
};

class PrototypeMaker {
public:
  PrototypeMaker(const FunctionSignature& signature, TypeArena& arena)
      : signature_(signature), arena_(arena), types_(arena) {}

  Prototype make() {
    Prototype prototype;
    for (const CppType& parameter : signature_.parameters)
      passings_.push_back(passing(parameter));
    prototype.result = result();
    std::vector<Reading> readings = all_readings();
    if (readings.size() == 1 || are_shown_alike(readings)) {
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
      case Passed::Unknown: break;
    }
    return {nullptr, true};
  }

  // The result.

  /// Whether it is in memory; nothing where that is not known.
  std::optional<bool> is_result_in_memory() {
    if (signature_.structor != FunctionSignature::Structor::No) return false;
    if (!signature_.result) return std::nullopt;
    const CppValue value = types_.value(*signature_.result);
    if (value.passed == Passed::ByReference) return true;
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

  std::vector<Reading> all_readings() {
    std::vector<Reading> readings;
    const auto in_memory = is_result_in_memory();
    for (const bool result : {false, true}) {
      if (in_memory && *in_memory != result) continue;
      for (const bool object : {false, true}) {
        if (signature_.object == FunctionSignature::Object::Yes && !object) continue;
        if (signature_.object == FunctionSignature::Object::No && object) continue;
        const bool may_have_table = signature_.structor == FunctionSignature::Structor::Base;
        for (const bool table : {false, true})
          if (!table || may_have_table) append(readings, {result, object, table});
      }
    }
    merge_alike(readings);
    if (readings.size() <= kMostTried) return readings;
    Reading words;
    words.parameters = words_of(readings);
    return {std::move(words)};
  }

  /// Those that show the same are one: a `this` that is not shown, or a result in memory.
  static void merge_alike(std::vector<Reading>& readings) {
    std::vector<Reading> merged;
    for (Reading& reading : readings) {
      const auto alike = std::find_if(merged.begin(), merged.end(), [&](const Reading& known) {
        return shown_places(known) == shown_places(reading) &&
               known.parameters.size() == reading.parameters.size();
      });
      if (alike == merged.end())
        merged.push_back(std::move(reading));
      else
        alike->result_in_memory = alike->result_in_memory && reading.result_in_memory;
    }
    readings = std::move(merged);
  }

  /// Whichever is right, the same is shown.
  static bool are_shown_alike(const std::vector<Reading>& readings) {
    const auto shown = shown_places(readings.front());
    return std::all_of(readings.begin(), readings.end(),
                       [&](const Reading& reading) { return shown_places(reading) == shown; });
  }

  static std::vector<std::pair<const Type*, std::vector<std::uint32_t>>>
  shown_places(const Reading& reading) {
    std::vector<std::pair<const Type*, std::vector<std::uint32_t>>> shown;
    ArgumentPlaces places(CallingConvention::SystemV64);
    for (const Parameter& parameter : reading.parameters) {
      Placement placement = places.next(*parameter.type);
      if (parameter.type->lens != Lens::Hide)
        shown.emplace_back(parameter.type, std::move(placement.eightbytes));
    }
    return shown;
  }

  void append(std::vector<Reading>& readings, const Hidden& hidden) {
    Reading reading;
    reading.result_in_memory = hidden.result;
    if (hidden.result) reading.parameters.push_back({hidden_word()});
    if (hidden.object) {
      // Not shown where it may as well be something else.
      const bool is_certain = signature_.object == FunctionSignature::Object::Yes;
      reading.parameters.push_back({is_certain ? types_.reference_to(nullptr) : hidden_word()});
    }
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
    hide_stack(reading, is_vague);
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
  CppTypes types_;
  std::vector<Passing> passings_;
};

} // namespace

std::optional<Prototype> prototype_of_name(std::string_view mangled, TypeArena& arena) {
  const auto signature = names::read_signature(mangled);
  if (!signature) return std::nullopt;
  Prototype prototype = PrototypeMaker(*signature, arena).make();
  prototype.name = mangled;
  return prototype;
}

} // namespace sonictrace::proto
