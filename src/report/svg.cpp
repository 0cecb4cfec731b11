#include "report/svg.hpp"
#include "sonictrace/base/utf8.hpp"

#include <fmt/format.h>

#include <array>

namespace sonictrace::report {

const char* const kSvgStyle =
    ".bg{fill:#fff}.t{fill:#222}.u{fill:#666}"
    "text{font:11px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}"
    ".b text{fill:#111}.h{font-size:15px;font-weight:bold}"
    ".b rect{stroke:#fff;stroke-width:.6}.b.n rect{stroke:none}.grid{stroke:#8886;stroke-width:1}"
    ".c0{fill:#f0b049}.c1{fill:#f5c26b}.c2{fill:#e8a22e}"
    ".w0{fill:#7cc0ea}.w1{fill:#98cff0}.w2{fill:#62b2e2}"
    ".i0{fill:#4fbf9a}.i1{fill:#6fcdad}.i2{fill:#35b088}"
    ".m0{fill:#d9a0c1}.m1{fill:#e3b5cf}.m2{fill:#cf8bb3}"
    ".g0{fill:#d2d2d2}.g1{fill:#dedede}.g2{fill:#c6c6c6}"
    ".r0,.r1,.r2{fill:#a9b0b8}"
    "@media(prefers-color-scheme:dark){.bg{fill:#16181c}.t{fill:#ddd}.u{fill:#999}"
    ".b rect{stroke:#16181c}}";

std::string xml_text(std::string_view text) {
  std::string xml;
  while (!text.empty()) {
    const auto length = utf8_length(text);
    const auto c = static_cast<unsigned char>(text[0]);
    const auto character = text.substr(0, length == 0 ? 1 : length);
    text.remove_prefix(character.size());
    // XML 1.0, 2.2: no control characters but these, no surrogates, not U+FFFE and U+FFFF.
    if (length == 0 || (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f ||
        character == "\xef\xbf\xbe" || character == "\xef\xbf\xbf")
      xml += "\xef\xbf\xbd";
    else if (c == '&')
      xml += "&amp;";
    else if (c == '<')
      xml += "&lt;";
    else if (c == '>')
      xml += "&gt;";
    else if (c == '"')
      xml += "&quot;";
    else if (c == '\'')
      xml += "&#39;";
    else
      xml += character;
  }
  return xml;
}

std::string fitting(std::string_view text, double width) {
  const auto room = static_cast<std::size_t>(width < 0 ? 0 : width / kGlyphWidth);
  if (room < 3) return {};
  std::size_t characters = 0;
  std::size_t cut = 0; // bytes that leave room for the dots
  for (std::size_t at = 0; at < text.size();) {
    const auto length = utf8_length(text.substr(at));
    at += length == 0 ? 1 : length;
    if (++characters == room - 1) cut = at;
    if (characters > room) return std::string(text.substr(0, cut)) + "\xe2\x80\xa6";
  }
  return std::string(text);
}

std::string pixels(std::uint64_t hundredths) {
  if (hundredths % 100 == 0) return fmt::format("{}", hundredths / 100);
  return fmt::format("{}.{:02}", hundredths / 100, hundredths % 100);
}

std::string fill_class(char letter, std::string_view name) {
  std::uint32_t hash = 2'166'136'261; // FNV-1a: the same on every machine
  for (const char c : name)
    hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619;
  return fmt::format("{}{}", letter, (hash >> 8 & 0xffff) % 3);
}

std::string fill_class(CallClass one, std::string_view name) {
  switch (one) {
    case CallClass::Cpu: return fill_class('c', name);
    case CallClass::Wait: return fill_class('w', name);
    case CallClass::Io: return fill_class('i', name);
    case CallClass::Mem: return fill_class('m', name);
  }
  return "c0";
}

std::string svg_legend(double x, double y, bool with_callers) {
  struct Part {
    const char* fill;
    const char* words;
  };
  static constexpr std::array<Part, 5> kParts = {
      {{"c0", "cpu"}, {"w0", "wait"}, {"i0", "io"}, {"m0", "mem"}, {"g0", "callers (not traced)"}}};
  std::string svg;
  for (const auto& part : kParts) {
    if (part.fill[0] == 'g' && !with_callers) continue;
    svg += fmt::format("<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"11\" height=\"11\" class=\"{}\"/>"
                       "<text x=\"{:.0f}\" y=\"{:.0f}\" class=\"t\">{}</text>",
                       x, y - 10, part.fill, x + 15, y, part.words);
    x += 30 + kGlyphWidth * static_cast<double>(std::string_view(part.words).size());
  }
  return svg + "\n";
}

} // namespace sonictrace::report
