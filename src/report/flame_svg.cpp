#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/flame_script.hpp"
#include "report/svg.hpp"
#include "sonictrace/report/flame.hpp"
#include "sonictrace/report/quantity.hpp"

namespace sonictrace::report {
namespace {

constexpr unsigned kMargin = 10;
constexpr unsigned kHead = 56; ///< title and legend

/// A frame where it is drawn: hundredths of a pixel from the left, rows from the root.
struct Box {
  std::uint32_t node;
  std::uint64_t left, right;
  unsigned level;
};

class FlamePicture {
public:
  FlamePicture(const Flame& flame, const FlameSvgOptions& options)
      : nodes_(flame.nodes()), options_(options),
        inner_(std::uint64_t{std::max(options.width, 200U) - 2 * kMargin} * 100) {
    place();
  }

  std::string svg() const {
    const unsigned width = static_cast<unsigned>(inner_ / 100) + 2 * kMargin;
    std::vector<std::string> notes = lines_of(options_.note);
    if (left_out_ > 0)
      notes.insert(
          notes.begin(),
          fmt::format(
              "{} frames narrower than {} px are left out, with all on them; they are in the width "
              "of what they stand on",
              format_count(left_out_), options_.least_width));
    const unsigned rows = levels_ * kRowHeight;
    const unsigned height = kHead + rows + 14 + 15 * static_cast<unsigned>(notes.size());
    std::string text = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
        "height=\"{1}\" data-width=\"{2}\" style=\"max-width:100%;height:auto\">\n"
        "<style>{3}.link{{cursor:pointer;text-decoration:underline}}</style>\n"
        "<rect width=\"{0}\" height=\"{1}\" class=\"bg\"/>\n",
        width, height, pixels(inner_), kSvgStyle);
    text += fmt::format("<text x=\"{}\" y=\"24\" class=\"t h\">{}</text>\n", kMargin,
                        xml_text(fitting(options_.title, (width - 2 * kMargin) * 0.7)));
    const bool with_callers = std::any_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
      return node.kind == FlameNode::Kind::Caller;
    });
    text += svg_legend(kMargin, 45, with_callers);
    if (options_.script)
      text +=
          fmt::format("<text x=\"{0}\" y=\"24\" text-anchor=\"end\" class=\"t link find\" "
                      "style=\"display:none\">search</text>"
                      "<text x=\"{1}\" y=\"24\" text-anchor=\"end\" class=\"t link reset\" "
                      "style=\"display:none\">reset zoom</text>"
                      "<text x=\"{0}\" y=\"45\" text-anchor=\"end\" class=\"t found\"></text>\n",
                      width - kMargin, width - kMargin - 60);
    text += fmt::format("<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">\n", kMargin, kHead,
                        pixels(inner_), rows);
    for (const auto& box : boxes_)
      text += svg(box);
    text += "</svg>\n";
    unsigned y = kHead + rows + 20;
    for (const auto& note : notes) {
      text += fmt::format("<text x=\"{}\" y=\"{}\" class=\"u\">{}</text>\n", kMargin, y,
                          xml_text(fitting(note, width - 2 * kMargin)));
      y += 15;
    }
    if (options_.script) text += fmt::format("<script><![CDATA[{}]]></script>\n", kFlameScript);
    return text + "</svg>\n";
  }

private:
  std::uint64_t weight(const FlameNode& node) const {
    return options_.weight == FlameWeight::Time ? node.total_ns : node.total_calls;
  }

  /// Both ends are rounded alike, so that what stands on a frame is never wider than it.
  std::uint64_t at(std::uint64_t value) const {
    const auto all = weight(nodes_[0]);
    return all == 0 ? 0
                    : static_cast<std::uint64_t>(
                          std::llround(static_cast<double>(value) / static_cast<double>(all) *
                                       static_cast<double>(inner_)));
  }

  void place() {
    const auto least = static_cast<std::uint64_t>(std::max(0.01, options_.least_width) * 100);
    struct Step {
      std::uint32_t node;
      std::uint64_t from;
      unsigned level;
    };
    std::vector<Step> left = {{0, 0, 0}};
    while (!left.empty()) {
      const auto step = left.back();
      left.pop_back();
      const auto& node = nodes_[step.node];
      const Box box = {step.node, at(step.from), at(step.from + weight(node)), step.level};
      if (step.node == 0 ? inner_ == 0 : box.right - box.left < least) {
        left_out_ += 1;
        continue;
      }
      boxes_.push_back(box);
      if (step.node == 0) boxes_.back().right = inner_;
      levels_ = std::max(levels_, step.level + 1);
      auto from = step.from;
      std::vector<Step> children;
      for (const auto child : node.children) {
        children.push_back({child, from, step.level + 1});
        from += weight(nodes_[child]);
      }
      left.insert(left.end(), children.rbegin(), children.rend());
    }
  }

  std::string svg(const Box& box) const {
    const auto& node = nodes_[box.node];
    const auto level = options_.icicle ? box.level : levels_ - 1 - box.level;
    const double width = static_cast<double>(box.right - box.left) / 100;
    return fmt::format(
        "<svg class=\"b{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" data-l=\"{}\">"
        "<title>{}</title><rect width=\"100%\" height=\"100%\" class=\"{}\"/>"
        "<text x=\"3\" y=\"13\">{}</text></svg>\n",
        width < 3 ? " n" : "", pixels(box.left), level * kRowHeight, pixels(box.right - box.left),
        kRowHeight, box.level, xml_text(tooltip(node)), fill(node),
        xml_text(fitting(node.name, width - 6)));
  }

  std::string tooltip(const FlameNode& node) const {
    std::string text = node.name;
    std::replace(text.begin(), text.end(), '\n', '?'); // the first line is the name
    if (!node.module.empty()) text += "\n" + node.module;
    if (node.kind == FlameNode::Kind::Call)
      text +=
          fmt::format("{}class {}", node.module.empty() ? "\n" : "  ", to_string(node.call_class));
    if (node.kind == FlameNode::Kind::Caller) text += "  caller, not traced";
    const auto all = weight(nodes_[0]);
    const double part =
        all == 0 ? 0 : 100 * static_cast<double>(weight(node)) / static_cast<double>(all);
    text += fmt::format("\ntotal {} ({:.2f} %), self {}", format_duration(node.total_ns), part,
                        format_duration(node.self_ns));
    text += fmt::format("\n{} calls, {} with those on it", format_count(node.calls),
                        format_count(node.total_calls));
    return text;
  }

  static std::string fill(const FlameNode& node) {
    switch (node.kind) {
      case FlameNode::Kind::Call: return fill_class(node.call_class, node.name);
      case FlameNode::Kind::Caller: return fill_class('g', node.name);
      default: return "r0";
    }
  }

  static std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
      const auto end = text.find('\n');
      lines.emplace_back(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return lines;
  }

  const std::vector<FlameNode>& nodes_;
  const FlameSvgOptions& options_;
  std::uint64_t inner_; ///< hundredths of a pixel
  std::vector<Box> boxes_;
  unsigned levels_ = 0;
  std::uint64_t left_out_ = 0;
};

} // namespace

std::string flame_svg(const Flame& flame, const FlameSvgOptions& options) {
  return FlamePicture(flame, options).svg();
}

} // namespace sonictrace::report
