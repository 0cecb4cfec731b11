#include "sonictrace/proto/cpp_types.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "proto/cpp_pack.hpp"
#include "sonictrace/proto/placement.hpp"

namespace sonictrace::proto {
namespace {

using names::CppType;
using wire::SequenceLayout;
using Passed = CppValue::Passed;

constexpr int kDeepest = 8;
constexpr std::uint32_t kMostElements = 1'000'000;

struct Builtin {
  std::string_view name;
  TypeKind kind;
  std::uint8_t size;
  Lens lens = Lens::Plain;
};
constexpr std::array kBuiltins = {
    Builtin{"void", TypeKind::Void, 0},
    Builtin{"bool", TypeKind::Unsigned, 1, Lens::Bool},
    Builtin{"char", TypeKind::Character, 1},
    Builtin{"signed char", TypeKind::Signed, 1},
    Builtin{"unsigned char", TypeKind::Unsigned, 1},
    Builtin{"char8_t", TypeKind::Unsigned, 1},
    Builtin{"short", TypeKind::Signed, 2},
    Builtin{"unsigned short", TypeKind::Unsigned, 2},
    Builtin{"char16_t", TypeKind::Unsigned, 2},
    Builtin{"int", TypeKind::Signed, 4},
    Builtin{"unsigned int", TypeKind::Unsigned, 4},
    Builtin{"unsigned", TypeKind::Unsigned, 4},
    Builtin{"wchar_t", TypeKind::WideCharacter, 4},
    Builtin{"char32_t", TypeKind::WideCharacter, 4},
    Builtin{"long", TypeKind::Signed, 8},
    Builtin{"unsigned long", TypeKind::Unsigned, 8},
    Builtin{"long long", TypeKind::Signed, 8},
    Builtin{"unsigned long long", TypeKind::Unsigned, 8},
    Builtin{"float", TypeKind::Float, 4},
    Builtin{"double", TypeKind::Float, 8},
    Builtin{"long double", TypeKind::Float, 16},
    Builtin{"__int128", TypeKind::Opaque, 2},
    Builtin{"unsigned __int128", TypeKind::Opaque, 2},
};

/// Enumerations, and classes that are nothing but a number.
constexpr std::array kNumbers = {
    Builtin{"std::align_val_t", TypeKind::Unsigned, 8},
    Builtin{"std::byte", TypeKind::Unsigned, 1, Lens::Hex},
    Builtin{"std::_Ios_Openmode", TypeKind::Signed, 4},
    Builtin{"std::_Ios_Fmtflags", TypeKind::Signed, 4},
    Builtin{"std::_Ios_Iostate", TypeKind::Signed, 4},
    Builtin{"std::_Ios_Seekdir", TypeKind::Signed, 4},
    Builtin{"std::memory_order", TypeKind::Signed, 4},
    Builtin{"std::errc", TypeKind::Signed, 4},
    Builtin{"std::future_errc", TypeKind::Signed, 4},
    Builtin{"std::launch", TypeKind::Signed, 4},
    Builtin{"std::thread::id", TypeKind::Unsigned, 8, Lens::Hex},
    Builtin{"std::_Rb_tree_color", TypeKind::Unsigned, 4},
    Builtin{"c10::DeviceType", TypeKind::Signed, 1},
    Builtin{"c10::ScalarType", TypeKind::Signed, 1},
    Builtin{"c10::MemoryFormat", TypeKind::Signed, 1},
    Builtin{"c10::Layout", TypeKind::Signed, 1},
    Builtin{"c10::DispatchKey", TypeKind::Unsigned, 2},
    Builtin{"c10::DispatchKeySet", TypeKind::Unsigned, 8, Lens::Hex},
    Builtin{"c10::Symbol", TypeKind::Unsigned, 4},
    Builtin{"c10::TensorOptions", TypeKind::Opaque, 1},
    Builtin{"at::Dimname", TypeKind::Opaque, 1},
    Builtin{"caffe2::TypeMeta", TypeKind::Unsigned, 2},
    Builtin{"c10::BackendComponent", TypeKind::Unsigned, 1},
    Builtin{"c10::TypeKind", TypeKind::Signed, 4},
};

/// Classes with a copy constructor or a destructor of their own; nobody needs to know what is in
/// them.
constexpr std::array<std::string_view, 43> kByReference = {
    "at::Generator",
    "at::DataPtr",
    "c10::DataPtr",
    "c10::IValue",
    "c10::Scalar",
    "c10::Storage",
    "c10::List",
    "c10::Dict",
    "c10::intrusive_ptr",
    "c10::OperatorName",
    "c10::FunctionSchema",
    "c10::QualifiedName",
    "c10::Type::SingletonOrSharedTypePtr",
    "torch::jit::Module",
    "torch::jit::Object",
    "torch::jit::Method",
    "torch::Library",
    "cv::UMat",
    "cv::String",
    "std::allocator",
    "std::any",
    "std::bad_alloc",
    "std::deque",
    "std::exception",
    "std::exception_ptr",
    "std::__exception_ptr::exception_ptr",
    "std::forward_list",
    "std::function",
    "std::future",
    "std::list",
    "std::__cxx11::list",
    "std::locale",
    "std::logic_error",
    "std::map",
    "std::multimap",
    "std::multiset",
    "std::runtime_error",
    "std::set",
    "std::thread",
    "std::unordered_map",
    "std::unordered_set",
    "std::weak_ptr",
    "std::filesystem::__cxx11::path",
};

/// Tags, without a member: such an argument is not passed at all.
constexpr std::array<std::string_view, 9> kEmpty = {
    "std::input_iterator_tag",
    "std::forward_iterator_tag",
    "std::bidirectional_iterator_tag",
    "std::random_access_iterator_tag",
    "std::integral_constant",
    "std::in_place_t",
    "std::nothrow_t",
    "std::piecewise_construct_t",
    "std::nullopt_t",
};

/// The name without the namespace that libc++ puts its versions into; false where there is none.
bool strip_llvm(std::string& name) {
  constexpr std::string_view kSpace = "std::__1::";
  if (!name.starts_with(kSpace)) return false;
  name = "std::" + name.substr(kSpace.size());
  return true;
}

/// Is argument `index` the template `name` of the first argument, as it is by default?
bool is_default(const CppType& type, std::size_t index, std::string_view name) {
  if (index >= type.inner.size()) return false;
  CppType argument = type.inner[index];
  strip_llvm(argument.name);
  return argument.kind == CppType::Kind::Named && argument.name == name &&
         argument.inner.size() == 1 && argument.inner[0] == type.inner[0];
}

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <class Table>
const Builtin* find(const Table& table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const Builtin& row) { return row.name == name; });
  return found == table.end() ? nullptr : &*found;
}

} // namespace

const Type* CppTypes::scalar(TypeKind kind, std::uint8_t size, Lens lens) {
  Type type;
  type.kind = kind;
  type.size = size;
  type.lens = lens;
  return arena_.make(std::move(type));
}

const Type* CppTypes::opaque(std::uint8_t words, Lens lens) {
  return scalar(TypeKind::Opaque, words, lens);
}

const Type* CppTypes::text(TypeKind kind, std::uint8_t size) {
  Type type;
  type.kind = TypeKind::Pointer;
  type.lens = Lens::Text;
  type.target = scalar(kind, size);
  return arena_.make(std::move(type));
}

const Type* CppTypes::reference_to(const Type* type) {
  Type made;
  made.kind = TypeKind::Pointer;
  made.lens = type == nullptr ? Lens::Address : Lens::Plain;
  made.target = type == nullptr ? arena_.void_type() : type;
  made.is_reference = true;
  return arena_.make(std::move(made));
}

const Type* CppTypes::pointer(const CppType& target) {
  // What is behind a pointer that is not const may not be there yet.
  const bool is_text = target.kind == CppType::Kind::Builtin && target.is_const;
  if (is_text && target.name == "char") return text(TypeKind::Character, 1);
  if (is_text && (target.name == "wchar_t" || target.name == "char32_t"))
    return text(TypeKind::WideCharacter, 4);
  return arena_.address();
}

const Type* CppTypes::referred(const CppType& type, int depth) {
  const CppType& target = type.inner.front();
  using Kind = CppType::Kind;
  // A reference to a plain value that is not const is for what the function fills.
  const bool is_plain = target.kind == Kind::Builtin || target.kind == Kind::Pointer;
  if (is_plain && !target.is_const && type.kind == Kind::LvalueReference)
    return reference_to(nullptr);
  if (target.kind == Kind::Function || target.kind == Kind::Array) return reference_to(nullptr);
  const Type* const referred = value(target, depth + 1).type;
  const bool is_void = referred != nullptr && referred->kind == TypeKind::Void;
  return reference_to(is_void ? nullptr : referred);
}

CppValue CppTypes::value(const CppType& type, int depth) {
  if (depth > kDeepest) return {};
  switch (type.kind) {
    case CppType::Kind::Unknown:
    case CppType::Kind::Value: return {};
    case CppType::Kind::Builtin: return builtin(type);
    case CppType::Kind::Named: return named(type, depth);
    case CppType::Kind::Pointer: return {pointer(type.inner.front()), Passed::Plainly};
    case CppType::Kind::LvalueReference:
    case CppType::Kind::RvalueReference: return {referred(type, depth), Passed::Plainly};
    case CppType::Kind::Array:
    case CppType::Kind::Function: return {arena_.address(), Passed::Plainly};
    case CppType::Kind::DataMemberPointer: return {scalar(TypeKind::Signed, 8), Passed::Plainly};
    case CppType::Kind::MethodPointer: return {opaque(2), Passed::Plainly};
  }
  return {};
}

CppValue CppTypes::builtin(const CppType& type) {
  if (type.name == "decltype(nullptr)") return {arena_.address(), Passed::Plainly};
  const Builtin* const known = find(kBuiltins, type.name);
  if (known == nullptr) return {};
  return {scalar(known->kind, known->size, known->lens), Passed::Plainly};
}

CppValue CppTypes::string(const CppType& type, SequenceLayout layout) {
  if (!is_default(type, 1, "std::char_traits")) return {};
  const bool is_view = layout == SequenceLayout::LengthFirst || layout == SequenceLayout::DataFirst;
  // Others may have an allocator in front of the data.
  if (!is_view && !is_default(type, 2, "std::allocator")) return {nullptr, Passed::ByReference};
  const Passed passed = is_view ? Passed::Plainly : Passed::ByReference;
  const std::string& character = type.inner[0].name;
  Type made;
  made.kind = TypeKind::Sequence;
  made.layout = layout;
  made.lens = Lens::Bytes;
  if (character == "char" || character == "char8_t")
    made.target = scalar(TypeKind::Character, 1);
  else if (character == "wchar_t" || character == "char32_t")
    made.target = scalar(TypeKind::WideCharacter, 4);
  else
    return {is_view ? opaque(2) : nullptr, passed};
  return {arena_.make(std::move(made)), passed};
}

CppValue CppTypes::sequence(const CppType& type, SequenceLayout layout, Passed passed, int depth) {
  if (type.inner.empty()) return {};
  Type made;
  made.kind = TypeKind::Sequence;
  made.layout = layout;
  made.target = value(type.inner[0], depth + 1).type;
  const bool is_reference = made.target != nullptr && made.target->is_reference;
  if (made.target == nullptr || is_reference) made.target = arena_.void_type();
  return {arena_.make(std::move(made)), passed};
}

CppValue CppTypes::optional(const CppType& type, SequenceLayout layout, int depth,
                            bool is_in_union) {
  if (type.inner.empty()) return {};
  CppValue inner = value(type.inner[0], depth + 1);
  // It is assigned by a function of its own, for which c10::optional has one, too.
  if (type.inner[0].name == "c10::basic_string_view") inner.passed = Passed::ByReference;
  const bool is_known = inner.type != nullptr && layout_of(*inner.type, 8).size != 0;
  if (!is_known) return {nullptr, inner.passed};
  const bool is_view =
      inner.type->kind == TypeKind::Sequence && inner.type->layout == SequenceLayout::DataFirst;
  Type made;
  made.kind = TypeKind::Sequence;
  made.layout =
      is_view && layout == SequenceLayout::FlagInFront && type.inner[0].name == "c10::ArrayRef"
          ? SequenceLayout::DataOrFlag
          : layout;
  made.target = inner.type;
  made.is_in_union = is_in_union;
  return {arena_.make(std::move(made)), inner.passed};
}

CppValue CppTypes::array(const CppType& type, int depth) {
  if (type.inner.size() != 2) return {};
  const CppValue element = value(type.inner[0], depth + 1);
  const std::string& digits = type.inner[1].name;
  std::uint32_t count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (error != std::errc() || element.type == nullptr || count == 0 || count > kMostElements ||
      layout_of(*element.type, 8).size > kMostElements)
    return {nullptr, element.passed};
  Type made;
  made.kind = TypeKind::Array;
  made.target = element.type;
  made.length = {Length::Source::Constant, count};
  return {arena_.make(std::move(made)), element.passed};
}

CppValue CppTypes::structure(const CppType& type, std::size_t fields, int depth) {
  if (type.inner.empty() || type.inner.size() > fields) return {};
  Type made;
  made.kind = TypeKind::Struct;
  CppValue whole{nullptr, Passed::Plainly};
  bool is_known = true;
  for (std::size_t at = 0; at < fields; ++at) {
    const CppValue field = value(type.inner[std::min(at, type.inner.size() - 1)], depth + 1);
    is_known = is_known && field.type != nullptr && layout_of(*field.type, 8).size != 0;
    made.fields.push_back(field.type);
    if (whole.passed == Passed::ByReference) continue;
    if (field.passed != Passed::Plainly) whole.passed = field.passed;
  }
  if (is_known) whole.type = arena_.make(std::move(made));
  return whole;
}

CppValue CppTypes::tensor() {
  Type made;
  made.kind = TypeKind::Sequence;
  made.layout = SequenceLayout::Tensor;
  made.target = scalar(TypeKind::Signed, 8);
  return {arena_.make(std::move(made)), Passed::ByReference};
}

/// opencv2/core/mat.hpp: cv::Mat begins with its flags, dimensions, rows and columns.
const Type* CppTypes::matrix() {
  constexpr std::uint8_t kHead = 16;
  Type made;
  made.kind = TypeKind::Struct;
  made.sign_mask = 0xffff0000; // Mat::MAGIC_MASK, Mat::MAGIC_VAL
  made.sign = 0x42ff0000;
  made.fields = {scalar(TypeKind::Unsigned, kHead, Lens::Matrix)};
  return arena_.make(std::move(made));
}

/// What a cv::InputArray refers to, if it is a cv::Mat: { int flags; void* obj; Size sz; }.
const Type* CppTypes::input_array() {
  Type made;
  made.kind = TypeKind::Struct;
  made.sign_mask = 0x1f << 16; // _InputArray::KIND_MASK, _InputArray::MAT
  made.sign = 1 << 16;
  made.is_one_of_several = true;
  Type pointer;
  pointer.kind = TypeKind::Pointer;
  pointer.target = matrix();
  made.fields = {scalar(TypeKind::Signed, 4, Lens::Hide), arena_.make(std::move(pointer))};
  return arena_.make(std::move(made));
}

const Type* CppTypes::named_values(const Type& number, std::string_view enumeration) {
  const bool is_number = number.kind == TypeKind::Signed || number.kind == TypeKind::Unsigned;
  if (pack_ == nullptr || !is_number) return nullptr;
  const auto known = pack_->enumeration(enumeration);
  if (!known) return nullptr;
  Type made = number;
  made.lens = known->is_flags ? Lens::Flags : Lens::Enumeration;
  made.names = known->names;
  return arena_.make(std::move(made));
}

/// What the pack says of a class.
CppValue CppTypes::packed(std::string_view name, int depth) {
  std::string_view passing = pack_ == nullptr ? std::string_view() : pack_->passing(name);
  if (passing.empty()) return {};
  if (passing == "R") return {nullptr, Passed::ByReference};
  if (passing == "0") return {opaque(0, Lens::Hide), Passed::Plainly};
  if (passing[0] == '*') {
    std::uint8_t words = 0;
    const auto [end, error] =
        std::from_chars(passing.data() + 1, passing.data() + passing.size(), words);
    if (error != std::errc() || words == 0) return {};
    return {opaque(words), Passed::Plainly};
  }
  const auto fields = names::read_signature("_Z1f" + std::string(passing));
  if (!fields || fields->parameters.empty()) return {};
  Type made;
  made.kind = TypeKind::Struct;
  for (const CppType& field : fields->parameters) {
    const Type* const type = value(field, depth + 1).type;
    if (type == nullptr || layout_of(*type, 8).size == 0) return {};
    made.fields.push_back(type);
  }
  return {arena_.make(std::move(made)), Passed::Plainly};
}

CppValue CppTypes::named(const CppType& type, int depth) {
  std::string name = type.name;
  const bool is_llvm = strip_llvm(name);
  if (const auto known = pack_ == nullptr ? std::nullopt : pack_->enumeration(name)) {
    Type made;
    made.kind = known->kind;
    made.size = known->size;
    made.lens = known->is_flags ? Lens::Flags : Lens::Enumeration;
    made.names = known->names;
    return {arena_.make(std::move(made)), Passed::Plainly};
  }
  if (const Builtin* const known = find(kNumbers, name))
    return {scalar(known->kind, known->size, known->lens), Passed::Plainly};

  const auto gnu_or_llvm = [&](SequenceLayout gnu, SequenceLayout llvm) {
    return is_llvm ? llvm : gnu;
  };
  if (name == "std::string") { // a substitution of the ABI's: with the default arguments
    Type made;
    made.kind = TypeKind::Sequence;
    made.layout = SequenceLayout::OldGnuString;
    made.lens = Lens::Bytes;
    made.target = scalar(TypeKind::Character, 1);
    return {arena_.make(std::move(made)), Passed::ByReference};
  }
  if (name == "std::__cxx11::basic_string") return string(type, SequenceLayout::GnuString);
  if (name == "std::basic_string")
    return string(type, gnu_or_llvm(SequenceLayout::OldGnuString, SequenceLayout::LlvmString));
  if (name == "std::basic_string_view")
    return string(type, gnu_or_llvm(SequenceLayout::LengthFirst, SequenceLayout::DataFirst));
  if (name == "c10::basic_string_view") {
    CppType view = type;
    if (view.inner.size() != 1) return {};
    view.inner.push_back(
        {.kind = CppType::Kind::Named, .name = "std::char_traits", .inner = {type.inner[0]}});
    return string(view, SequenceLayout::DataFirst);
  }
  if (name == "std::vector") {
    const bool is_bits = !type.inner.empty() && type.inner[0].name == "bool";
    if (is_bits || !is_default(type, 1, "std::allocator")) return {nullptr, Passed::ByReference};
    return sequence(type, SequenceLayout::Range, Passed::ByReference, depth);
  }
  if (name == "std::initializer_list" || name == "c10::ArrayRef")
    return sequence(type, SequenceLayout::DataFirst, Passed::Plainly, depth);
  if (name == "std::span" && type.inner.size() == 2 &&
      type.inner[1].name == "18446744073709551615") // std::dynamic_extent
    return sequence(type, SequenceLayout::DataFirst, Passed::Plainly, depth);
  if (name == "std::optional") return optional(type, SequenceLayout::FlagBehind, depth, is_llvm);
  // A time is its number, a point in time the time since its clock's beginning.
  if (name == "std::chrono::duration" && type.inner.size() == 2)
    return value(type.inner[0], depth + 1);
  if (name == "std::chrono::time_point" && type.inner.size() == 2)
    return value(type.inner[1], depth + 1);
  if (name == "c10::OptionalArrayRef" && type.inner.size() == 1) {
    const CppType view{
        .kind = CppType::Kind::Named, .name = "c10::ArrayRef", .inner = {type.inner[0]}};
    return optional({.kind = CppType::Kind::Named, .name = {}, .inner = {view}},
                    SequenceLayout::FlagInFront, depth);
  }
  if (name == "c10::optional") return optional(type, SequenceLayout::FlagInFront, depth, true);
  if (name == "std::shared_ptr") return {opaque(2, Lens::Address), Passed::ByReference};
  if (name == "std::unique_ptr") {
    const bool is_plain = is_default(type, 1, "std::default_delete");
    return {is_plain ? opaque(1, Lens::Address) : nullptr, Passed::ByReference};
  }
  if (name == "std::array") return array(type, depth);
  if (name == "std::pair") return structure(type, 2, depth);
  const bool is_of_one = type.inner.size() == 1;
  if (is_of_one && (name == "std::complex" || name == "cv::Size_" || name == "cv::Point_"))
    return structure(type, 2, depth);
  if (is_of_one && name == "cv::Point3_") return structure(type, 3, depth);
  if (is_of_one && name == "cv::Scalar_") // trivially copied in some versions, in others not
    return {structure(type, 4, depth).type, packed(name, depth).passed};
  if (is_of_one && name == "cv::Rect_") return structure(type, 4, depth);
  if (name == "__gnu_cxx::__normal_iterator") return {arena_.address(), Passed::Plainly};
  if (name == "c10::SymInt") return {scalar(TypeKind::Signed, 8), Passed::ByReference};
  if (name == "c10::Device") {
    Type made;
    made.kind = TypeKind::Struct;
    made.fields = {scalar(TypeKind::Signed, 1), scalar(TypeKind::Signed, 1)};
    return {arena_.make(std::move(made)), Passed::Plainly};
  }
  if (name == "at::Tensor" || name == "at::TensorBase") return tensor();
  if (name == "cv::Mat") return {matrix(), Passed::ByReference};
  if (name == "cv::_InputArray") return {input_array(), Passed::ByReference};
  if (contains(kEmpty, name)) return {opaque(0, Lens::Hide), Passed::Plainly};
  if (contains(kByReference, name)) return {nullptr, Passed::ByReference};
  const CppValue in_pack = packed(name, depth);
  const bool is_in_pack = in_pack.type != nullptr || in_pack.passed != Passed::Unknown;
  return is_in_pack || !resolver_ || depth == 0 ? in_pack : resolver_(type);
}

} // namespace sonictrace::proto
