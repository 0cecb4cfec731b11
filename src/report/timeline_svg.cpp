#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/svg.hpp"
#include "sonictrace/report/quantity.hpp"
#include "sonictrace/report/timeline.hpp"

namespace sonictrace::report {
namespace {

constexpr unsigned kMargin = 10;
constexpr unsigned kLabels = 130; ///< left of the calls
constexpr unsigned kHead = 56;
constexpr unsigned kAxis = 22;
constexpr unsigned kBetween = 8; ///< tracks

class TimelinePicture {
public:
  TimelinePicture(const Timeline& timeline, const TimelineSvgOptions& options)
      : timeline_(timeline), options_(options),
        width_(std::max(options.width, 400U) - 2 * kMargin - kLabels),
        span_ns_(std::max<std::uint64_t>(timeline.last_ns() - timeline.first_ns(), 1)) {}

  std::string svg() {
    std::string tracks;
    unsigned y = kHead + kAxis;
    for (const auto index : chosen()) {
      const auto rows = draw(timeline_.tracks()[index], y, tracks);
      y += rows * kRowHeight + kBetween;
    }
    std::string notes;
    unsigned note_y = y + 14;
    for (const auto& note : notes_of()) {
      notes += fmt::format("<text x=\"{}\" y=\"{}\" class=\"u\">{}</text>\n", kMargin, note_y,
                           xml_text(fitting(note, width_ + kLabels)));
      note_y += 15;
    }
    const unsigned width = width_ + kLabels + 2 * kMargin;
    std::string text = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
        "height=\"{1}\" style=\"max-width:100%;height:auto\">\n<style>{2}</style>\n"
        "<rect width=\"{0}\" height=\"{1}\" class=\"bg\"/>\n"
        "<text x=\"{3}\" y=\"24\" class=\"t h\">{4}</text>\n",
        width, note_y, kSvgStyle, kMargin, xml_text(fitting(options_.title, (width - 20) * 0.7)));
    text += svg_legend(kMargin, 45, false) + axis(y);
    return text + tracks + notes + "</svg>\n";
  }

private:
  /// The busiest, in their order.
  std::vector<std::size_t> chosen() {
    const auto& tracks = timeline_.tracks();
    std::vector<std::size_t> order(tracks.size());
    std::iota(order.begin(), order.end(), 0U);
    if (order.size() <= options_.most_tracks) return order;
    std::vector<std::uint64_t> busy(tracks.size());
    for (std::size_t i = 0; i < tracks.size(); ++i)
      for (const auto& slice : tracks[i].slices)
        if (slice.depth == 0) busy[i] += slice.end_ns - slice.begin_ns;
    std::stable_sort(order.begin(), order.end(),
                     [&busy](std::size_t a, std::size_t b) { return busy[a] > busy[b]; });
    left_out_ = order.size() - options_.most_tracks;
    order.resize(options_.most_tracks);
    std::sort(order.begin(), order.end());
    return order;
  }

  double x_of(std::uint64_t time_ns) const {
    const auto since = static_cast<double>(time_ns - std::min(time_ns, timeline_.first_ns()));
    return std::min(1.0, since / static_cast<double>(span_ns_)) * width_;
  }

  std::string axis(unsigned bottom) const {
    const double least = static_cast<double>(span_ns_) / (width_ / 90.0);
    double step = std::pow(10, std::floor(std::log10(std::max(least, 1.0))));
    for (const double factor : {2.0, 5.0, 10.0})
      if (step < least) step = step * factor >= least ? step * factor : step;
    if (step < least) step *= 10;
    std::string text;
    for (double at = 0; at <= static_cast<double>(span_ns_); at += step) {
      const double x = kMargin + kLabels + at / static_cast<double>(span_ns_) * width_;
      text += fmt::format("<path d=\"M{0:.2f} {1}V{2}\" class=\"grid\"/><text x=\"{3:.2f}\" "
                          "y=\"{4}\" class=\"u\">{5}</text>\n",
                          x, kHead, bottom - kBetween, x + 3, kHead + 10,
                          x + 60 > kMargin + kLabels + width_ ? "" // no room
                          : at == 0                           ? "0"
                                    : format_duration(static_cast<std::uint64_t>(at)));
    }
    return text;
  }

  /// Calls too short to be seen, next to each other.
  struct Run {
    double left = 0, right = 0;
    std::uint64_t calls = 0, total_ns = 0, longest_ns = 0;
    std::uint32_t name = 0; ///< of the longest
  };

  unsigned draw(const Track& track, unsigned y, std::string& out) {
    unsigned rows = 1;
    std::vector<Run> runs(options_.most_rows);
    const auto inner =
        fmt::format("<svg x=\"{}\" y=\"{}\" width=\"{}\"", kMargin + kLabels, y, width_);
    std::string boxes;
    for (const auto& slice : track.slices) {
      if (slice.depth >= options_.most_rows) {
        ++too_deep_;
        continue;
      }
      rows = std::max(rows, slice.depth + 1);
      const double left = x_of(slice.begin_ns);
      const double right = x_of(slice.end_ns);
      Run& run = runs[slice.depth];
      if (run.calls > 0 && (right - left >= 1 || left > run.right + 0.5))
        flush(run, slice.depth, boxes);
      if (right - left >= 1) {
        box(left, right, slice, boxes);
        continue;
      }
      if (run.calls == 0) run = {left, right, 0, 0, 0, slice.name};
      const auto length = slice.end_ns - slice.begin_ns;
      run.right = std::max(run.right, right);
      ++run.calls;
      run.total_ns += length;
      if (length > run.longest_ns) {
        run.longest_ns = length;
        run.name = slice.name;
      }
    }
    for (unsigned depth = 0; depth < options_.most_rows; ++depth)
      if (runs[depth].calls > 0) flush(runs[depth], depth, boxes);
    for (const auto& mark : track.marks)
      if (marks_++ < 500)
        boxes += fmt::format(
            "<path d=\"M{0:.2f} 0l3.5 6h-7z\" class=\"t\"><title>{1}\nat {2} s</title></path>\n",
            std::clamp(x_of(mark.time_ns), 4.0, width_ - 4.0), xml_text(mark.text),
            since(mark.time_ns));
    const auto label = timeline_.logs().size() > 1
                           ? fmt::format("{}:{}", track.log + 1, track.label())
                           : track.label();
    out += fmt::format("<text x=\"{}\" y=\"{}\" class=\"t\">{}</text>\n", kMargin, y + 13,
                       xml_text(fitting(label, kLabels - 8)));
    out += fmt::format("{} height=\"{}\">\n{}</svg>\n", inner, rows * kRowHeight, boxes);
    return rows;
  }

  std::string since(std::uint64_t time_ns) const {
    return format_seconds(time_ns - std::min(time_ns, timeline_.first_ns()), 6);
  }

  void box(double left, double right, const Slice& slice, std::string& out) const {
    const auto& name = timeline_.names()[slice.name];
    out += fmt::format(
        "<svg class=\"b{}\" x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\"><title>{}{}{}\n{} "
        "from "
        "{} s on\nclass {}</title><rect width=\"100%\" height=\"100%\" class=\"{}\"/>"
        "<text x=\"3\" y=\"13\">{}</text></svg>\n",
        right - left < 3 ? " n" : "", left, slice.depth * kRowHeight, right - left, kRowHeight,
        xml_text(name.name), name.module.empty() ? "" : "\n", xml_text(name.module),
        format_duration(slice.end_ns - slice.begin_ns), since(slice.begin_ns),
        to_string(name.call_class), fill_class(name.call_class, name.name),
        xml_text(fitting(name.name, right - left - 6)));
  }

  void flush(Run& run, unsigned depth, std::string& out) const {
    const auto& name = timeline_.names()[run.name];
    const double width = std::max(run.right - run.left, 0.5);
    // As high as the run is busy, so that many calls that are short do not look like a long one.
    const double busy = std::min(1.0, static_cast<double>(run.total_ns) /
                                          static_cast<double>(span_ns_) * width_ / width);
    const double height = (kRowHeight - 2) * std::max(0.2, busy);
    out += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" class=\"{}\">"
        "<title>{} short calls, {} in all\nthe longest: {} {}</title></rect>\n",
        run.left, depth * kRowHeight + kRowHeight - 1 - height, width, height,
        fill_class(name.call_class, name.name), format_count(run.calls),
        format_duration(run.total_ns), xml_text(name.name), format_duration(run.longest_ns));
    run = {};
  }

  std::vector<std::string> notes_of() const {
    std::vector<std::string> notes;
    std::string_view text = options_.note;
    while (!text.empty()) {
      const auto end = text.find('\n');
      notes.emplace_back(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    if (marks_ > 0)
      notes.emplace_back(
          "\xe2\x96\xb2 a signal, the end of a thread, or a call that does not return");
    if (left_out_ > 0)
      notes.push_back(
          fmt::format("{} threads that were less busy are left out", format_count(left_out_)));
    if (too_deep_ > 0)
      notes.push_back(fmt::format("{} calls inside of more than {} others are left out",
                                  format_count(too_deep_), options_.most_rows - 1));
    return notes;
  }

  const Timeline& timeline_;
  const TimelineSvgOptions& options_;
  unsigned width_;
  std::uint64_t span_ns_;
  std::size_t left_out_ = 0;
  std::uint64_t too_deep_ = 0;
  std::size_t marks_ = 0;
};

} // namespace

std::string timeline_svg(const Timeline& timeline, const TimelineSvgOptions& options) {
  return TimelinePicture(timeline, options).svg();
}

} // namespace sonictrace::report
