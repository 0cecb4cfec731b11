#include "sonictrace/names/signature.hpp"

// The tree of libiberty's demangler, the one that is in every C++ runtime of GCC's too: why not our
// own, docs/adr/0011 says.
#include <libiberty/demangle.h>

#include <cstdlib>
#include <memory>
#include <utility>

#include "names/itanium_reader.hpp"

namespace sonictrace::names {
namespace {

constexpr std::size_t kLongestName = 4096; ///< bytes; the parser's recursion goes with it
constexpr int kMostNodes = 600; ///< a substitution may stand for a large tree, again and again
constexpr int kDeepest = 40;
constexpr std::size_t kMostParameters = 32;

using Node = demangle_component;

const Node* left(const Node* node) { return node->u.s_binary.left; }
const Node* right(const Node* node) { return node->u.s_binary.right; }

std::string_view text_of(const Node* node) {
  return {node->u.s_name.s, static_cast<std::size_t>(node->u.s_name.len)};
}

/// Of what has no parts: a builtin type, an operator. Their tables are libiberty's own.
std::string printed(const Node* leaf) {
  constexpr int kAbout = 32; // bytes
  std::size_t room = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      cplus_demangle_print(0, const_cast<Node*>(leaf), kAbout, &room), &std::free);
  return text ? std::string(text.get()) : std::string();
}

/// Does a qualifier of `this` lead here?
bool is_this_qualifier(const Node* node) {
  switch (node->type) {
    case DEMANGLE_COMPONENT_RESTRICT_THIS:
    case DEMANGLE_COMPONENT_VOLATILE_THIS:
    case DEMANGLE_COMPONENT_CONST_THIS:
    case DEMANGLE_COMPONENT_REFERENCE_THIS:
    case DEMANGLE_COMPONENT_RVALUE_REFERENCE_THIS: return true;
    default: return false;
  }
}

class SignatureReader {
public:
  std::optional<FunctionSignature> read(const Node* root) {
    if (root->type != DEMANGLE_COMPONENT_TYPED_NAME) return std::nullopt; // a variable, a table
    const Node* const function = right(root);
    if (function == nullptr || function->type != DEMANGLE_COMPONENT_FUNCTION_TYPE)
      return std::nullopt;
    read_name(left(root));
    if (left(function) != nullptr && !signature_.result)
      signature_.result = type(left(function), 0);
    read_parameters(right(function));
    if (failed_) return std::nullopt;
    if (!operator_.empty() && signature_.object == Object::Unknown) settle_operator();
    return std::move(signature_);
  }

private:
  using Kind = CppType::Kind;
  using Object = FunctionSignature::Object;
  using Structor = FunctionSignature::Structor;

  CppType fail() {
    failed_ = true;
    return {};
  }

  // The name.

  void read_name(const Node* name) {
    for (; name != nullptr && is_this_qualifier(name); name = left(name))
      signature_.object = Object::Yes;
    // What T_ stands for: the arguments of the function itself. Those of classes around it are
    // spelt out.
    if (name != nullptr && name->type == DEMANGLE_COMPONENT_TEMPLATE) {
      arguments_ = right(name);
      name = left(name);
    }
    if (name == nullptr) return void(fail());
    if (name->type == DEMANGLE_COMPONENT_LOCAL_NAME) { // in a function there are only classes
      const bool is_known = signature_.object == Object::Yes;
      read_name(right(name));
      if (is_known) signature_.object = Object::Yes;
      return;
    }
    const Node* last = name;
    bool is_nested = false;
    while (last != nullptr && (last->type == DEMANGLE_COMPONENT_QUAL_NAME ||
                               last->type == DEMANGLE_COMPONENT_TAGGED_NAME)) {
      const bool is_scope = last->type == DEMANGLE_COMPONENT_QUAL_NAME;
      is_nested = is_nested || (is_scope && !is_std(left(last)));
      last = is_scope ? right(last) : left(last);
    }
    if (last == nullptr) return void(fail());
    if (last->type == DEMANGLE_COMPONENT_TEMPLATE) { // of a conversion
      arguments_ = right(last);
      last = left(last);
    }
    if (!is_nested) signature_.object = Object::No;
    if (is_nested && name->type == DEMANGLE_COMPONENT_QUAL_NAME)
      append_name(signature_.scope, left(name), 0);
    read_last(last, is_nested);
  }

  static bool is_std(const Node* scope) {
    return scope != nullptr && scope->type == DEMANGLE_COMPONENT_NAME && text_of(scope) == "std";
  }

  /// The last part of the name.
  void read_last(const Node* last, bool is_nested) {
    switch (last->type) {
      case DEMANGLE_COMPONENT_NAME: signature_.name = text_of(last); return;
      case DEMANGLE_COMPONENT_CTOR:
        signature_.object = Object::Yes;
        signature_.structor = last->u.s_ctor.kind == gnu_v3_complete_object_ctor
                                  ? Structor::Complete
                                  : Structor::Base;
        return;
      case DEMANGLE_COMPONENT_DTOR:
        signature_.object = Object::Yes;
        signature_.structor = last->u.s_dtor.kind == gnu_v3_complete_object_dtor ||
                                      last->u.s_dtor.kind == gnu_v3_deleting_dtor
                                  ? Structor::Complete
                                  : Structor::Base;
        return;
      case DEMANGLE_COMPONENT_CONVERSION:
        signature_.object = Object::Yes;
        signature_.result = type(left(last), 0);
        return;
      case DEMANGLE_COMPONENT_OPERATOR:
        operator_ = printed(last);
        return read_operator(operator_, is_nested);
      // operator"" _x, which is always in a namespace ([over.literal]).
      case DEMANGLE_COMPONENT_UNARY: signature_.object = Object::No; return;
      default: return;
    }
  }

  void read_operator(std::string_view text, bool is_nested) {
    signature_.name = text;
    // [over.oper]: these are members, and not static before C++23, which few declare so.
    if (text == "operator=" || text == "operator()" || text == "operator[]" ||
        text == "operator->") {
      if (is_nested) signature_.object = Object::Yes;
    }
    const bool is_new = text.starts_with("operator new");
    if (is_new || text.starts_with("operator delete")) {
      signature_.object = Object::No; // static, whether declared so or not
      CppType nothing{.kind = Kind::Builtin, .name = "void"};
      if (is_new)
        signature_.result = CppType{.kind = Kind::Pointer, .inner = {std::move(nothing)}};
      else
        signature_.result = std::move(nothing);
    }
  }

  /// [over.oper]: an operator takes one or two operands, the first of which is `this` where it is a
  /// member. So the number of its parameters tells.
  void settle_operator() {
    const auto is_one_of = [&](std::string_view all) {
      const std::string between = " " + operator_.substr(std::string_view("operator").size()) + " ";
      return all.find(between) != std::string_view::npos;
    };
    const std::size_t count = signature_.parameters.size();
    const bool is_unary = is_one_of(" ! ~ ");
    const bool is_binary = is_one_of(
        " / % ^ | == != < > <= >= <=> && || << >> , ->* += -= *= /= %= ^= &= |= <<= >>= ");
    if (is_one_of(" ++ -- ")) {
      // Behind the operand an `int` stands for the operator that comes behind it; an operand is a
      // class or an enumeration.
      const bool is_behind = count == 1 && signature_.parameters[0].kind == Kind::Builtin;
      signature_.object = count == 0 || is_behind ? Object::Yes : Object::No;
    } else if (count == 2 && (is_binary || is_one_of(" + - * & "))) {
      signature_.object = Object::No;
    } else if (is_unary || is_binary) {
      const std::size_t operands = is_unary ? 1 : 2;
      if (count == operands) signature_.object = Object::No;
      if (count + 1 == operands) signature_.object = Object::Yes;
    } else if (count == 0 && is_one_of(" + - * & ")) {
      signature_.object = Object::Yes;
    }
  }

  // The types.

  void read_parameters(const Node* list) {
    for (; list != nullptr && list->type == DEMANGLE_COMPONENT_ARGLIST && !failed_;
         list = right(list)) {
      const Node* const parameter = left(list);
      if (parameter == nullptr) return; // (void)
      if (parameter->type == DEMANGLE_COMPONENT_BUILTIN_TYPE && printed(parameter) == "...") {
        signature_.is_variadic = true;
        return;
      }
      append_expanded(signature_.parameters, parameter, 0);
      if (signature_.parameters.size() > kMostParameters) failed_ = true;
    }
  }

  /// One type, or those that a pack stands for.
  void append_expanded(std::vector<CppType>& types, const Node* node, int depth) {
    if (node->type != DEMANGLE_COMPONENT_PACK_EXPANSION) {
      types.push_back(type(node, depth));
      return;
    }
    const auto size = pack_size(left(node), depth);
    if (!size) return void(fail());
    const int outer = pack_index_;
    for (pack_index_ = 0; pack_index_ < *size && !failed_; ++pack_index_)
      types.push_back(type(left(node), depth + 1));
    pack_index_ = outer;
  }

  /// How many elements the first pack has that is found in `node`.
  std::optional<int> pack_size(const Node* node, int depth) {
    if (node == nullptr || depth > kDeepest || ++nodes_ > kMostNodes) return std::nullopt;
    switch (node->type) {
      case DEMANGLE_COMPONENT_TEMPLATE_PARAM: {
        const Node* const argument = argument_at(node->u.s_number.number);
        if (argument == nullptr || argument->type != DEMANGLE_COMPONENT_TEMPLATE_ARGLIST)
          return std::nullopt;
        int size = 0;
        for (; argument_of(argument, size) != nullptr; ++size)
          if (size > static_cast<int>(kMostParameters)) return std::nullopt;
        return size;
      }
      case DEMANGLE_COMPONENT_POINTER:
      case DEMANGLE_COMPONENT_REFERENCE:
      case DEMANGLE_COMPONENT_RVALUE_REFERENCE:
      case DEMANGLE_COMPONENT_CONST: return pack_size(left(node), depth + 1);
      case DEMANGLE_COMPONENT_TEMPLATE:
      case DEMANGLE_COMPONENT_TEMPLATE_ARGLIST:
      case DEMANGLE_COMPONENT_QUAL_NAME:
        if (const auto size = pack_size(left(node), depth + 1)) return size;
        return pack_size(right(node), depth + 1);
      default: return std::nullopt;
    }
  }

  /// Element `index` of a list of template arguments.
  static const Node* argument_of(const Node* list, long index) {
    for (; list != nullptr && list->type == DEMANGLE_COMPONENT_TEMPLATE_ARGLIST; list = right(list))
      if (index-- == 0) return left(list);
    return nullptr;
  }
  const Node* argument_at(long index) const {
    return index < 0 ? nullptr : argument_of(arguments_, index);
  }

  CppType around(Kind kind, const Node* inner, int depth) {
    CppType made{.kind = kind};
    if (inner == nullptr) return fail();
    CppType target = type(inner, depth + 1);
    // A reference to a reference, by a template argument, is the lesser one ([dcl.ref]).
    if (target.is_reference() && (kind == Kind::LvalueReference || kind == Kind::RvalueReference)) {
      if (kind == Kind::LvalueReference) target.kind = kind;
      return target;
    }
    made.inner.push_back(std::move(target));
    return made;
  }

  CppType type(const Node* node, int depth) {
    if (node == nullptr || depth > kDeepest || ++nodes_ > kMostNodes || failed_) return fail();
    switch (node->type) {
      case DEMANGLE_COMPONENT_BUILTIN_TYPE: return {.kind = Kind::Builtin, .name = printed(node)};
      case DEMANGLE_COMPONENT_POINTER: return around(Kind::Pointer, left(node), depth);
      case DEMANGLE_COMPONENT_REFERENCE: return around(Kind::LvalueReference, left(node), depth);
      case DEMANGLE_COMPONENT_RVALUE_REFERENCE:
        return around(Kind::RvalueReference, left(node), depth);
      case DEMANGLE_COMPONENT_CONST: {
        CppType made = type(left(node), depth + 1);
        made.is_const = made.is_const || !made.is_reference();
        return made;
      }
      case DEMANGLE_COMPONENT_VOLATILE:
      case DEMANGLE_COMPONENT_RESTRICT:
      case DEMANGLE_COMPONENT_NOEXCEPT: return type(left(node), depth + 1);
      case DEMANGLE_COMPONENT_NAME:
      case DEMANGLE_COMPONENT_QUAL_NAME:
      case DEMANGLE_COMPONENT_TEMPLATE:
      case DEMANGLE_COMPONENT_SUB_STD:
      case DEMANGLE_COMPONENT_TAGGED_NAME:
      case DEMANGLE_COMPONENT_LOCAL_NAME:
      case DEMANGLE_COMPONENT_UNNAMED_TYPE:
      case DEMANGLE_COMPONENT_LAMBDA: return named(node, depth);
      case DEMANGLE_COMPONENT_ARRAY_TYPE: return around(Kind::Array, right(node), depth);
      case DEMANGLE_COMPONENT_FUNCTION_TYPE: return {.kind = Kind::Function};
      case DEMANGLE_COMPONENT_PTRMEM_TYPE: return member_pointer(right(node));
      case DEMANGLE_COMPONENT_LITERAL:
        if (right(node) == nullptr || right(node)->type != DEMANGLE_COMPONENT_NAME)
          return {.kind = Kind::Value};
        return {.kind = Kind::Value, .name = std::string(text_of(right(node)))};
      case DEMANGLE_COMPONENT_TEMPLATE_PARAM: return template_parameter(node, depth);
      default: return {};
    }
  }

  CppType member_pointer(const Node* member) {
    while (member != nullptr && is_this_qualifier(member))
      member = left(member);
    const bool is_method = member != nullptr && (member->type == DEMANGLE_COMPONENT_FUNCTION_TYPE ||
                                                 member->type == DEMANGLE_COMPONENT_NOEXCEPT);
    return {.kind = is_method ? Kind::MethodPointer : Kind::DataMemberPointer};
  }

  CppType template_parameter(const Node* node, int depth) {
    const Node* argument = argument_at(node->u.s_number.number);
    if (argument != nullptr && argument->type == DEMANGLE_COMPONENT_TEMPLATE_ARGLIST)
      argument = argument_of(argument, pack_index_);
    if (argument == nullptr) return {};
    // An argument that names another one can only be malformed.
    const Node* const outer = std::exchange(arguments_, nullptr);
    CppType made = type(argument, depth + 1);
    arguments_ = outer;
    return made;
  }

  CppType named(const Node* node, int depth) {
    CppType made{.kind = Kind::Named};
    if (node->type == DEMANGLE_COMPONENT_TEMPLATE) {
      append_name(made.name, left(node), depth + 1);
      append_arguments(made.inner, right(node), depth + 1);
    } else {
      append_name(made.name, node, depth + 1);
    }
    return made;
  }

  void append_arguments(std::vector<CppType>& to, const Node* list, int depth) {
    if (depth > kDeepest) return void(fail());
    for (; list != nullptr && list->type == DEMANGLE_COMPONENT_TEMPLATE_ARGLIST && !failed_;
         list = right(list)) {
      const Node* const argument = left(list);
      if (argument == nullptr) continue; // an empty pack
      if (argument->type == DEMANGLE_COMPONENT_TEMPLATE_ARGLIST)
        append_arguments(to, argument, depth + 1);
      else
        append_expanded(to, argument, depth + 1);
    }
  }

  void append_name(std::string& name, const Node* node, int depth) {
    if (node == nullptr || depth > kDeepest || ++nodes_ > kMostNodes) return void(fail());
    switch (node->type) {
      case DEMANGLE_COMPONENT_NAME: name += text_of(node); return;
      case DEMANGLE_COMPONENT_SUB_STD:
        name.append(node->u.s_string.string, static_cast<std::size_t>(node->u.s_string.len));
        return;
      case DEMANGLE_COMPONENT_QUAL_NAME:
        append_name(name, left(node), depth + 1);
        name += "::";
        return append_name(name, right(node), depth + 1);
      case DEMANGLE_COMPONENT_TEMPLATE:
        append_name(name, left(node), depth + 1);
        name += "<>";
        return;
      case DEMANGLE_COMPONENT_TAGGED_NAME: return append_name(name, left(node), depth + 1);
      default: name += "{}"; // local, unnamed: nothing that is known by its name
    }
  }

  FunctionSignature signature_;
  std::string operator_; ///< `operator+=`, where it is one
  const Node* arguments_ = nullptr;
  int pack_index_ = 0;
  int nodes_ = 0;
  bool failed_ = false;
};

} // namespace

std::optional<FunctionSignature> read_signature(std::string_view mangled) {
  if (mangled.size() > kLongestName || !mangled.starts_with("_Z")) return std::nullopt;
  // It knows how deep a name goes, and refuses what is no name.
  if (!ItaniumReader::read(mangled)) return std::nullopt;
  // A clone that the compiler made (.isra.0) may have other parameters.
  if (mangled.find('.') != std::string_view::npos) return std::nullopt;

  void* memory = nullptr;
  const std::string text(mangled);
  const Node* const root = cplus_demangle_v3_components(text.c_str(), DMGL_PARAMS, &memory);
  const std::unique_ptr<void, decltype(&std::free)> owner(memory, &std::free);
  if (root == nullptr) return std::nullopt;
  return SignatureReader().read(root);
}

} // namespace sonictrace::names
