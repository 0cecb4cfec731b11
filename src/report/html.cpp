#include "sonictrace/report/html.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "report/svg.hpp"

namespace sonictrace::report {
namespace {

constexpr const char* kPageStyle =
    ":root{color-scheme:light dark}"
    "body{font:15px/1.45 system-ui,sans-serif;margin:24px auto;padding:0 16px;max-width:1240px;"
    "background:#fff;color:#222}"
    "h1{font-size:22px;overflow-wrap:anywhere}h2{font-size:17px;margin:32px 0 8px}"
    "nav a{margin-right:14px}a{color:#0b62b8}"
    "p.n{white-space:pre-wrap;overflow-wrap:anywhere;color:#555;font-size:13px;margin:6px 0}"
    ".w{overflow-x:auto}.w>svg{max-width:none!important}" // to be read, not to be small
    "table{border-collapse:collapse;font-size:13px;"
    "font-variant-numeric:tabular-nums}"
    "th,td{padding:3px 10px;text-align:right;border-bottom:1px solid #8884;white-space:nowrap}"
    "th{position:sticky;top:0;background:#f1f3f5}"
    ".l{text-align:left}td.l{white-space:normal;overflow-wrap:break-word;max-width:520px}"
    ".p{background:linear-gradient(90deg,#f5c26b88 var(--p),transparent 0)}"
    "@media(prefers-color-scheme:dark){body{background:#16181c;color:#ddd}"
    "th{background:#24272d}p.n{color:#aaa}a{color:#7cc0ea}}";

std::string html(const Table& table) {
  std::string text = "<div class=\"w\"><table>\n<tr>";
  for (const auto& column : table.columns)
    text +=
        fmt::format("<th{}>{}</th>", column.is_left ? " class=\"l\"" : "", xml_text(column.title));
  text += "</tr>\n";
  for (const auto& row : table.rows) {
    text += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string attributes = table.columns[i].is_left ? " class=\"l\"" : "";
      if (const auto* part = std::get_if<Percent>(&row[i]))
        attributes = fmt::format(" class=\"p\" style=\"--p:{:.1f}%\"", part->value);
      text += fmt::format("<td{}>{}</td>", attributes, xml_text(shown(row[i])));
    }
    text += "</tr>\n";
  }
  return text + "</table></div>\n";
}

} // namespace

std::string html_page(const std::string& title, const std::vector<HtmlSection>& sections) {
  std::string text =
      fmt::format("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                  "<title>{0}</title><style>{1}</style></head>\n<body><h1>{0}</h1>\n<nav>",
                  xml_text(title), kPageStyle);
  for (std::size_t i = 0; i < sections.size(); ++i)
    text += fmt::format("<a href=\"#s{}\">{}</a>", i, xml_text(sections[i].heading));
  text += "</nav>\n";
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const auto& section = sections[i];
    text += fmt::format("<section id=\"s{}\"><h2>{}</h2>\n", i, xml_text(section.heading));
    if (!section.text.empty())
      text += fmt::format("<p class=\"n\">{}</p>\n", xml_text(section.text));
    if (!section.table.columns.empty()) text += html(section.table);
    if (!section.svg.empty()) text += "<div class=\"w\">" + section.svg + "</div>\n";
    text += "</section>\n";
  }
  return text + "</body></html>\n";
}

} // namespace sonictrace::report
