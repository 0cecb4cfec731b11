#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "decode/value_walker.hpp"
#include "sonictrace/decode/render.hpp"

namespace sonictrace {

/// The visitor that writes values as JSON: docs/LOG-FORMAT.md says how.
class JsonValues {
public:
  JsonValues(std::string& out, const ValueStyle& style) : out_(out), style_(style) {}

  void missing() { out_ += R"({"missing":true})"; }
  void whole_text(std::string_view bytes); ///< not cut at the limit of strings
  void elided() { out_ += R"({"elided":true})"; }
  void recursion(unsigned levels);
  void pointer(std::uint64_t address, bool null_is_zero);
  void scalar(const proto::RenderStep& look, std::span<const std::byte> bytes);
  void text(const CapturedText& captured);
  void begin_struct() { out_ += '['; }
  void end_struct() { out_ += ']'; }
  void begin_array();
  void end_array(bool more);
  void begin_list() { begin_array(); }
  void end_list(bool more) { end_array(more); }
  void nothing() { out_ += "null"; }
  void separator() { out_ += ','; }

private:
  void sound_text(std::string_view bytes, bool more);
  void number(const proto::RenderStep& look, std::uint64_t value, std::size_t size);
  template <class Append>
  void quoted(Append append);

  std::string& out_;
  const ValueStyle& style_;
};

} // namespace sonictrace
