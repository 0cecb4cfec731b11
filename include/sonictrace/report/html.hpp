#pragma once

#include <string>
#include <vector>

#include "sonictrace/report/table.hpp"

namespace sonictrace::report {

/// A part of a page: a heading, and a table, a picture, or both.
struct HtmlSection {
  std::string heading;
  std::string text; ///< below the heading, plain
  Table table;      ///< none where it has no columns
  std::string svg;  ///< a whole SVG, put in as it is
};

/// One page that needs nothing from anywhere, for light and dark screens and for paper.
std::string html_page(const std::string& title, const std::vector<HtmlSection>& sections);

} // namespace sonictrace::report
