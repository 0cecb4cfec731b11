#include "engine/python_frames.hpp"

#include <algorithm>
#include <cstring>

#include "engine/python_lines.hpp"
#include "sonictrace/base/utf8.hpp"
#include "sonictrace/wire/agent_abi.hpp"

namespace sonictrace {
namespace {

/// The characters of a str as UTF-8.
std::string utf8_of(std::span<const std::byte> bytes, std::uint8_t unit, bool is_cut) {
  std::string text;
  if (unit != 1 && unit != 2 && unit != 4) return text;
  for (std::size_t at = 0; at + unit <= bytes.size(); at += unit) {
    std::uint32_t character = 0;
    std::memcpy(&character, bytes.data() + at, unit); // little-endian
    encode_utf8(text, is_scalar_value(character) ? character : U'\ufffd');
  }
  if (is_cut) text += "...";
  return text;
}

} // namespace

std::optional<std::uint32_t> PythonFrames::id_of(const std::string& function,
                                                 const std::string& file, std::uint32_t line) {
  std::string key = function;
  key += '\0';
  key += file;
  key += '\0';
  key += std::to_string(line);
  if (const auto known = ids_.find(key); known != ids_.end()) return known->second;
  if (ids_.size() >= kMost) return std::nullopt;
  FrameDefinition definition;
  definition.id = pool_.take();
  definition.is_python = true;
  definition.function = function;
  definition.file = file;
  definition.line = line;
  sink_(definition);
  ids_.emplace(std::move(key), definition.id);
  return definition.id;
}

void PythonCodes::learn(std::span<const std::byte> bytes) {
  wire::PythonCodeHead head;
  if (bytes.size() < sizeof head) return;
  std::memcpy(&head, bytes.data(), sizeof head);
  bytes = bytes.subspan(sizeof head);
  const auto take = [&bytes](std::uint32_t size) {
    const auto taken = bytes.first(std::min<std::size_t>(size, bytes.size()));
    bytes = bytes.subspan(std::min(wire::python_padded(size), bytes.size()));
    return taken;
  };
  auto code = std::make_unique<Code>();
  code->key = head.key;
  code->first_line = head.first_line;
  code->kind = head.lines;
  code->function = utf8_of(take(head.name_size), head.name_unit, head.name_is_cut != 0);
  code->file = utf8_of(take(head.file_size), head.file_unit, head.file_is_cut != 0);
  const auto lines = take(head.lines_size);
  code->lines.assign(lines.begin(), lines.end());
  if (codes_.empty()) codes_.resize(wire::kPythonSeen);
  codes_[head.key % wire::kPythonSeen] = std::move(code);
}

bool PythonCodes::knows(std::uint64_t key) const {
  if (codes_.empty()) return false;
  const auto& code = codes_[key % wire::kPythonSeen];
  return code && code->key == key;
}

std::optional<std::uint32_t> PythonCodes::frame_at(const wire::RingPython& place,
                                                   PythonFrames& frames) {
  if (!knows(place.key)) return std::nullopt;
  Code& code = *codes_[place.key % wire::kPythonSeen];
  if (code.function.empty() || code.file.empty()) return std::nullopt; // they could not be read
  constexpr std::size_t kMostPlaces = std::size_t{1} << 16;
  if (code.frames.size() >= kMostPlaces) code.frames.clear();
  const auto [known, is_new] = code.frames.try_emplace(place.offset);
  if (is_new)
    known->second = frames.id_of(code.function, code.file,
                                 python_line(code.kind, code.lines, code.first_line, place.offset));
  return known->second;
}

} // namespace sonictrace
