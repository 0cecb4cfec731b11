#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sonictrace/report/call_class.hpp"

namespace sonictrace::report {

/// Text or an attribute's value in XML, HTML: any bytes go in, what comes out is well-formed. Bytes
/// that are no UTF-8, and characters that XML 1.0 does not have, become U+FFFD.
std::string xml_text(std::string_view text);

/// As much of a text as `width` pixels of our monospaced font have room for, with `…` where it was
/// cut; empty where there is no room for three characters. Not escaped yet.
std::string fitting(std::string_view text, double width);

constexpr double kGlyphWidth = 6.7; ///< pixels, of the font that kSvgStyle sets
constexpr unsigned kRowHeight = 18; ///< of a box with text

/// A coordinate in hundredths of a pixel, as it is written: `12.5`. What adds up in hundredths adds
/// up in the picture.
std::string pixels(std::uint64_t hundredths);

/// Style sheet of the pictures. Fills are told apart by people who see no red or green, too (after
/// the palette of Okabe and Ito), dark text on light boxes in both colour schemes.
extern const char* const kSvgStyle;

/// The class of the style sheet, with a shade that depends on the name: neighbours differ.
std::string fill_class(CallClass one, std::string_view name);
std::string fill_class(char letter, std::string_view name);

/// What the colours mean, from `x` on: one line of boxes and words.
std::string svg_legend(double x, double y, bool with_callers);

} // namespace sonictrace::report
