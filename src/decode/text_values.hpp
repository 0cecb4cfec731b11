#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "decode/value_walker.hpp"
#include "sonictrace/decode/render.hpp"

namespace sonictrace {

/// Leaves of a text what the style shows.
void cut_to_style(CapturedText& text, const ValueStyle& style);

/// The visitor that writes values as the text log has them.
class TextValues {
public:
  TextValues(std::string& out, const ValueStyle& style) : out_(out), style_(style) {}

  void missing() { out_ += '?'; }
  void elided() { out_ += "..."; }
  void recursion(unsigned levels) {
    out_ += "recurse";
    out_.append(levels, '^');
  }
  void pointer(std::uint64_t address, bool null_is_zero);
  void scalar(const proto::RenderStep& look, std::span<const std::byte> bytes);
  void text(const CapturedText& captured);
  void begin_struct() { out_ += "{ "; }
  void end_struct() { out_ += " }"; }
  void begin_array() { out_ += "[ "; }
  void end_array(bool more) { out_ += more ? "... ]" : " ]"; }
  void begin_list() { out_ += '['; }
  void end_list(bool more) { out_ += !more ? "]" : out_.back() == '[' ? "...]" : ", ...]"; }
  void nothing() { out_ += "nullopt"; }
  void separator() { out_ += ", "; }

private:
  Quoting quoting() const { return style_.ltrace ? Quoting::Ltrace : Quoting::Readable; }
  void number(const proto::RenderStep& look, std::uint64_t value, std::size_t size);

  std::string& out_;
  const ValueStyle& style_;
};

} // namespace sonictrace
