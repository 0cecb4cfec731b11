#include "sonictrace/proto/print.hpp"

#include <string_view>

namespace sonictrace::proto {
namespace {

constexpr int kDeepest = 6; ///< structs in structs
constexpr std::size_t kMostNames = 64;

class Printer {
public:
  std::string take() { return std::move(out_); }

  void prototype(const Prototype& prototype, std::string_view name) {
    type(*prototype.result, 0);
    out_ += ' ';
    out_ += name;
    out_ += '(';
    parameters(prototype.readings.empty() ? prototype.parameters
                                          : prototype.readings.front().parameters);
    out_ += ");";
    if (!prototype.readings.empty())
      out_ += " # of " + std::to_string(prototype.readings.size()) + " readings";
  }

private:
  void parameters(const std::vector<Parameter>& parameters) {
    bool first = true;
    for (const Parameter& parameter : parameters) {
      if (!first) out_ += ", ";
      first = false;
      if (parameter.depends_on != 0) condition(parameter);
      if (parameter.out) out_ += '+';
      if (parameter.when == Parameter::When::Always) out_ += '!';
      if (parameter.when == Parameter::When::IfPositive) out_ += '?';
      type(*parameter.type, 0);
    }
  }

  void condition(const Parameter& parameter) {
    out_ += "unless[arg" + std::to_string(parameter.depends_on) + "](";
    for (std::size_t at = 0; at < parameter.absent_for.size(); ++at)
      out_ += (at > 0 ? ", " : "") + std::to_string(parameter.absent_for[at]);
    out_ += ") ";
  }

  void type(const Type& type, int depth) {
    if (depth > kDeepest) {
      out_ += "struct";
      return;
    }
    switch (type.lens) {
      case Lens::Guess: return within("guess", type, depth);
      case Lens::Hex: return within("hex", type, depth);
      case Lens::Octal:
        if (type.kind != TypeKind::Unsigned || type.size != 4) return within("oct", type, depth);
        out_ += "octal";
        return;
      case Lens::Bool: return within("bool", type, depth);
      case Lens::BitVector: return within("bitvec", type, depth);
      case Lens::Hide: return within("hide", type, depth);
      case Lens::Enumeration: return names("enum", type);
      case Lens::Flags: return names("flags", type);
      case Lens::Matrix: out_ += "matrix"; return;
      case Lens::Address:
        if (type.kind != TypeKind::Pointer) break;
        out_ += type.is_reference ? "addr&" : "addr";
        return;
      case Lens::Text: return text("string", type, depth);
      case Lens::TextOrAddress: out_ += "string?"; return;
      case Lens::Path: return text("path", type, depth);
      case Lens::Bytes: return text("bytes", type, depth);
      case Lens::Format: return text("format", type, depth);
      case Lens::VaFormat: return text("vaformat", type, depth);
      case Lens::ScanFormat: return text("scanformat", type, depth);
      case Lens::Plain: break;
    }
    bare(type, depth);
  }

  void within(std::string_view lens, const Type& of, int depth) {
    out_ += lens;
    out_ += '(';
    bare(of, depth);
    out_ += ')';
  }

  static bool is_wide(const Type& of) {
    const Type* inner = of.target;
    if (inner != nullptr && inner->kind == TypeKind::Array) inner = inner->target;
    return inner != nullptr && inner->kind == TypeKind::WideCharacter;
  }

  void text(std::string_view lens, const Type& of, int depth) {
    if (of.kind == TypeKind::Sequence) return sequence(of, depth);
    if (is_wide(of)) out_ += 'w';
    out_ += lens;
    if (of.kind == TypeKind::Array) {
      out_ += '(';
      bare(of, depth);
      out_ += ')';
    } else if (of.target != nullptr && of.target->kind == TypeKind::Array) {
      out_ += '[';
      length(of.target->length, false);
      out_ += ']';
    }
  }

  void names(std::string_view word, const Type& of) {
    out_ += word;
    out_ += '[';
    bare(of, 0);
    out_ += "](";
    std::size_t at = 0;
    if (of.names != nullptr)
      for (const auto& [name, value] : *of.names) {
        if (at >= kMostNames) break;
        out_ += (at++ > 0 ? ", " : "") + name + '=' + std::to_string(value);
      }
    if (of.names != nullptr && at < of.names->size()) out_ += ", ...";
    out_ += ')';
  }

  void bare(const Type& of, int depth) {
    switch (of.kind) {
      case TypeKind::Void: out_ += "void"; return;
      case TypeKind::Signed: out_ += integer(of.size, "schar", "short", "int", "long"); return;
      case TypeKind::Unsigned: out_ += integer(of.size, "uchar", "ushort", "uint", "ulong"); return;
      case TypeKind::Character: out_ += "char"; return;
      case TypeKind::WideCharacter: out_ += "wchar"; return;
      case TypeKind::Float:
        out_ += of.size == 4 ? "float" : of.size == 8 ? "double" : "ldouble";
        return;
      case TypeKind::Pointer:
        type(*of.target, depth + 1);
        out_ += of.is_reference ? '&' : '*';
        return;
      case TypeKind::Array:
        out_ += "array(";
        type(*of.target, depth + 1);
        out_ += ", ";
        length(of.length, true);
        out_ += ')';
        return;
      case TypeKind::Struct: return structure(of, depth);
      case TypeKind::Sequence: return sequence(of, depth);
      case TypeKind::Opaque:
        out_ += of.size > 0 && of.lens == Lens::Address ? "addr" : "...";
        return;
    }
  }

  static std::string_view integer(std::uint8_t size, std::string_view one, std::string_view two,
                                  std::string_view four, std::string_view eight) {
    return size == 1 ? one : size == 2 ? two : size == 4 ? four : eight;
  }

  void structure(const Type& of, int depth) {
    out_ += "struct(";
    bool first = true;
    for (const Type* field : of.fields) {
      if (!first) out_ += ", ";
      first = false;
      type(*field, depth + 1);
    }
    out_ += ')';
  }

  void sequence(const Type& of, int depth) {
    using wire::SequenceLayout;
    if (of.lens == Lens::Bytes) {
      const bool is_view =
          of.layout == SequenceLayout::LengthFirst || of.layout == SequenceLayout::DataFirst;
      out_ += is_wide(of) || of.target->kind == TypeKind::WideCharacter ? "std::w" : "std::";
      out_ += is_view ? "string_view" : "string";
      return;
    }
    const bool is_optional = of.layout == SequenceLayout::FlagBehind ||
                             of.layout == SequenceLayout::FlagInFront ||
                             of.layout == SequenceLayout::DataOrFlag;
    out_ += is_optional ? "optional(" : "list(";
    type(*of.target, depth + 1);
    out_ += ')';
  }

  void length(const Length& of, bool is_in_array) {
    const auto term = [&](Length::Source source, std::uint32_t number) -> std::string {
      switch (source) {
        case Length::Source::Unlimited: return "zero";
        case Length::Source::Constant: return std::to_string(number);
        case Length::Source::Argument: return "arg" + std::to_string(number);
        case Length::Source::Result: return "retval";
        case Length::Source::Element: return "elt" + std::to_string(number);
      }
      return {};
    };
    std::string text = term(of.source, of.number);
    const std::string second = term(of.second_source, of.second_number);
    if (of.combine == Length::Combine::Least) text = "min(" + text + ", " + second + ')';
    if (of.combine == Length::Combine::Product) text += '*' + second;
    const bool is_zero = of.until_zero && of.source != Length::Source::Unlimited && is_in_array;
    out_ += is_zero ? "zero(" + text + ')' : text;
  }

  std::string out_;
};

} // namespace

std::string print(const Prototype& prototype) { return print(prototype, prototype.name); }

std::string print(const Prototype& prototype, std::string_view name) {
  Printer printer;
  printer.prototype(prototype, name);
  return printer.take();
}

} // namespace sonictrace::proto
