#include "sink/frame_texts.hpp"

#include <algorithm>
#include <cstring>

#include "sonictrace/decode/digits.hpp"
#include "sonictrace/decode/quote.hpp"

namespace sonictrace {
namespace {

/// Ids are small numbers, handed out one by one and again. A frame with a larger one has no text.
constexpr std::uint32_t kMaxFrames = std::uint32_t{1} << 26;

std::string sanitized(std::string_view text) {
  std::string clean;
  append_sanitized(clean, text);
  return clean;
}

} // namespace

void read_frames(const RecordView& record, std::vector<std::uint32_t>& into) {
  const std::size_t held = record.payload.size() / sizeof(std::uint32_t);
  const std::size_t count = std::min<std::uint64_t>(held, record.header.detail);
  into.resize(count);
  if (count != 0) std::memcpy(into.data(), record.payload.data(), count * sizeof(std::uint32_t));
}

void FrameTexts::define(const FrameDefinition& definition) {
  if (definition.id >= kMaxFrames) return;
  if (definition.id >= frames_.size()) frames_.resize(definition.id + std::size_t{1});
  Frame& frame = frames_[definition.id]; // of a process that has ended, perhaps
  frame.address = definition.address;
  frame.soname = sanitized(definition.soname);
  frame.function = sanitized(definition.is_python ? definition.function
                                                  : demangle(definition.function, demangle_));
  frame.offset = definition.offset;
  frame.is_python = definition.is_python;
  frame.file = sanitized(definition.file);
  frame.line = definition.line;

  std::string& text = frame.text;
  text = " > ";
  if (frame.is_python) {
    text += "python " + frame.function + ' ' + frame.file + ':';
    text += frame.line != 0 ? std::to_string(frame.line) : "?";
    return;
  }
  if (!frame.soname.empty()) {
    text += frame.soname;
    text += frame.function.empty() ? "+" : "(" + frame.function + "+";
    append_hex(text, frame.offset);
    text += frame.function.empty() ? " " : ") ";
  }
  text += '[';
  std::string address;
  append_hex(address, frame.address);
  text += ltrace_ ? address.substr(2) : address;
  text += ']';
}

void FrameTexts::append_block(std::string& out, std::span<const std::uint32_t> ids) const {
  if (ids.empty()) return;
  for (const std::uint32_t id : ids) {
    const Frame* const frame = find(id);
    out += frame != nullptr ? std::string_view(frame->text) : std::string_view(" > ?");
    out += '\n';
  }
  out += '\n';
}

} // namespace sonictrace
