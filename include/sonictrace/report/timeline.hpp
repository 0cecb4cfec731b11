#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sonictrace/base/result.hpp"
#include "sonictrace/log/log_reader.hpp"
#include "sonictrace/names/demangle.hpp"
#include "sonictrace/report/call_class.hpp"
#include "sonictrace/report/call_filter.hpp"
#include "sonictrace/report/log_part.hpp"

namespace sonictrace::report {

struct TimelineOptions {
  DemangleStyle demangle = DemangleStyle::None;
  std::size_t max_events = 1'000'000; ///< calls that are kept: the longest
};

/// A call in the picture.
struct Slice {
  std::uint64_t begin_ns = 0; ///< since midnight (-t, -tt), 1970 (-ttt) or the first line (-r)
  std::uint64_t end_ns = 0;
  std::uint32_t name = 0;   ///< place in Timeline::names()
  std::uint32_t depth = 0;  ///< slices around it
  std::uint32_t inside = 0; ///< slices inside of it, at any depth: those that follow it

  bool operator==(const Slice&) const = default;
};

/// Something at one moment: a signal, an end, a call that does not return.
struct Mark {
  std::uint64_t time_ns = 0;
  std::string text;

  bool operator==(const Mark&) const = default;
};

/// A thread of a log.
struct Track {
  std::uint32_t log = 0; ///< place in Timeline::logs()
  std::uint32_t tid = log::kNoTid;
  std::vector<Slice> slices; ///< in the order of their beginnings, outer ones first
  std::vector<Mark> marks;

  std::string label() const;
};

/// What a slice is called.
struct SliceName {
  std::string name;
  std::string module;
  CallClass call_class = CallClass::Cpu;
};

/// When which call ran in which thread. Slices of a thread are properly nested: where the times of
/// two calls, which were taken at different points, overlap, they are clipped. May be filled from
/// several logs, whose times are then as they are.
class Timeline {
public:
  explicit Timeline(TimelineOptions options) : options_(options) {}

  /// Adds the calls of one log that the filter accepts, and that have a time.
  Result<void> add(log::LogReader& reader, CallFilter& filter);
  /// The same of a log that is read for others too. The part borrows both, and this.
  std::unique_ptr<LogPart> begin(const log::FunctionTable& functions, CallFilter& filter);
  /// To be called when all logs were added.
  void finish();

  const std::vector<std::string>& logs() const { return logs_; }
  const std::vector<Track>& tracks() const { return tracks_; } ///< by log and tid
  const std::vector<SliceName>& names() const { return names_; }
  std::size_t slices() const;
  std::uint64_t first_ns() const { return first_ns_; }
  std::uint64_t last_ns() const { return last_ns_; }

  std::uint64_t cut_slices() const { return cut_; }
  std::uint64_t longest_cut_ns() const { return longest_cut_ns_; }
  std::uint64_t cut_marks() const { return cut_marks_; }
  /// Calls without a time or without a duration, which are in no picture.
  std::uint64_t timeless() const { return timeless_; }
  const TimelineOptions& options() const { return options_; }

private:
  class Collector;

  void take(Collector& collector, CallFilter& filter, const log::LogReader& reader);

  TimelineOptions options_;
  std::vector<std::string> logs_;
  std::vector<Track> tracks_;
  std::vector<SliceName> names_;
  std::uint64_t first_ns_ = ~std::uint64_t{0};
  std::uint64_t last_ns_ = 0;
  std::uint64_t cut_ = 0;
  std::uint64_t longest_cut_ns_ = 0;
  std::uint64_t cut_marks_ = 0;
  std::uint64_t timeless_ = 0;
  bool is_time_of_day_ = true; ///< the times of all logs are
};

/// What is not in the picture, and why; for people. Empty where all is in it.
std::string timeline_note(const Timeline& timeline);

/// A trace of Perfetto (TrackEvent protobuf).
std::string timeline_perfetto(const Timeline& timeline);
/// The trace event format of Chrome: JSON with complete events.
std::string timeline_chrome(const Timeline& timeline);

struct TimelineSvgOptions {
  std::string title = "Timeline";
  std::string note; ///< lines below the picture
  unsigned width = 1200;
  unsigned most_tracks = 32; ///< the busiest
  unsigned most_rows = 10;   ///< of one track: what is deeper is left out
};
/// One picture that needs nothing else.
std::string timeline_svg(const Timeline& timeline, const TimelineSvgOptions& options);

} // namespace sonictrace::report
