#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "report/protobuf.hpp"
#include "sonictrace/base/utf8.hpp"
#include "sonictrace/report/table.hpp"
#include "sonictrace/report/timeline.hpp"

namespace sonictrace::report {
namespace {

constexpr std::array kClasses = {CallClass::Cpu, CallClass::Wait, CallClass::Io, CallClass::Mem};

/// Logs do not tell processes from threads: each log is a process, with numbers from 1 on.
std::uint64_t pid_of(const Track& track) { return track.log + 1; }
std::uint64_t tid_of(const Track& track) {
  return track.tid == log::kNoTid ? pid_of(track) : track.tid;
}

/// Strings of Protocol Buffers are UTF-8.
std::string valid_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const auto size = utf8_length(text);
    if (size == 0)
      valid += "\xef\xbf\xbd"; // U+FFFD
    else
      valid += text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return valid;
}

/// Numbers of fields and values as in perfetto's protos/perfetto/trace.
class PerfettoWriter {
public:
  explicit PerfettoWriter(const Timeline& timeline) : timeline_(timeline) {}

  std::string write() {
    intern();
    for (std::uint32_t log = 0; log < timeline_.logs().size(); ++log)
      describe_log(log);
    for (std::size_t i = 0; i < timeline_.tracks().size(); ++i) {
      describe(timeline_.tracks()[i], uuid_of(i));
      write(timeline_.tracks()[i], uuid_of(i));
    }
    return trace_.text();
  }

private:
  enum Type : std::uint64_t { kBegin = 1, kEnd = 2, kInstant = 3 };
  static constexpr std::uint64_t kSequence = 1;
  static constexpr std::uint64_t kStateCleared = 1; ///< SEQ_INCREMENTAL_STATE_CLEARED
  static constexpr std::uint64_t kNeedsState = 2;   ///< SEQ_NEEDS_INCREMENTAL_STATE

  std::uint64_t uuid_of(std::size_t track) const { return timeline_.logs().size() + track + 1; }

  /// TracePacket.trusted_packet_sequence_id = 10, sequence_flags = 13; Trace.packet = 1
  void add(ProtobufWriter& packet, std::uint64_t flags) {
    packet.number(10, kSequence).number(13, flags);
    trace_.message(1, packet);
  }

  /// The names, once. InternedData = 12: event_categories = 1, event_names = 2.
  void intern() {
    ProtobufWriter data;
    for (std::size_t i = 0; i < kClasses.size(); ++i)
      data.message(1, ProtobufWriter().number(1, i + 1).bytes(2, to_string(kClasses[i])));
    for (std::size_t i = 0; i < timeline_.names().size(); ++i)
      data.message(
          2, ProtobufWriter().number(1, i + 1).bytes(2, valid_utf8(timeline_.names()[i].name)));
    ProtobufWriter packet;
    packet.message(12, data);
    add(packet, kStateCleared | kNeedsState);
  }

  /// TrackDescriptor = 60: uuid = 1, name = 2, process = 3 { pid = 1, process_name = 6 }
  void describe_log(std::uint32_t log) {
    const auto name = valid_utf8(timeline_.logs()[log]);
    ProtobufWriter track;
    track.number(1, log + 1).message(3, ProtobufWriter().number(1, log + 1).bytes(6, name));
    ProtobufWriter packet;
    packet.message(60, track);
    add(packet, kNeedsState);
  }

  /// TrackDescriptor: thread = 4 { pid = 1, tid = 2, thread_name = 5 }, parent_uuid = 5
  void describe(const Track& track, std::uint64_t uuid) {
    ProtobufWriter thread;
    thread.number(1, pid_of(track)).number(2, tid_of(track)).bytes(5, track.label());
    ProtobufWriter descriptor;
    descriptor.number(1, uuid).message(4, thread).number(5, track.log + 1);
    ProtobufWriter packet;
    packet.message(60, descriptor);
    add(packet, kNeedsState);
  }

  void write(const Track& track, std::uint64_t uuid) {
    std::vector<const Slice*> open;
    for (const auto& slice : track.slices) {
      while (open.size() > slice.depth) {
        event(open.back()->end_ns, kEnd, uuid, nullptr, {});
        open.pop_back();
      }
      event(slice.begin_ns, kBegin, uuid, &slice, {});
      open.push_back(&slice);
    }
    for (; !open.empty(); open.pop_back())
      event(open.back()->end_ns, kEnd, uuid, nullptr, {});
    for (const auto& mark : track.marks)
      event(mark.time_ns, kInstant, uuid, nullptr, mark.text);
  }

  /// TracePacket.timestamp = 8, track_event = 11 { category_iids = 3, type = 9, name_iid = 10,
  /// track_uuid = 11, name = 23 }
  void event(std::uint64_t time_ns, Type type, std::uint64_t uuid, const Slice* slice,
             std::string_view name) {
    event_.clear();
    if (slice != nullptr) {
      const auto& named = timeline_.names()[slice->name];
      event_.number(3, static_cast<std::uint64_t>(named.call_class) + 1);
    }
    event_.number(9, type);
    if (slice != nullptr) event_.number(10, slice->name + 1);
    event_.number(11, uuid);
    if (!name.empty()) event_.bytes(23, valid_utf8(name));
    packet_.clear();
    packet_.number(8, time_ns).message(11, event_);
    add(packet_, kNeedsState);
  }

  const Timeline& timeline_;
  ProtobufWriter trace_;
  ProtobufWriter event_, packet_; ///< kept for their memory
};

/// Microseconds, to the nanosecond.
std::string microseconds(std::uint64_t ns) {
  return ns % 1000 == 0 ? fmt::format("{}", ns / 1000)
                        : fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

/// When the slices of a track begin and end, moved by nanoseconds so that no two of these moments
/// are the same. Viewers of Chrome's events sort them by time: of a call that ends when it begins,
/// as most do by a clock of microseconds, they find the end first, and then leave it open.
std::vector<Slice> told_apart(const std::vector<Slice>& slices) {
  std::vector<Slice> apart = slices;
  std::vector<std::size_t> open;
  std::uint64_t next_ns = 0; // the first moment that is free
  const auto take = [&next_ns](std::uint64_t& time_ns) {
    time_ns = std::max(time_ns, next_ns);
    next_ns = time_ns + 1;
  };
  const auto close = [&] {
    take(apart[open.back()].end_ns);
    open.pop_back();
  };
  for (std::size_t i = 0; i < apart.size(); ++i) {
    while (open.size() > apart[i].depth)
      close();
    take(apart[i].begin_ns);
    open.push_back(i);
  }
  while (!open.empty())
    close();
  return apart;
}

/// What times of a JSON trace count from: a viewer's numbers have 53 bits, too few for nanoseconds
/// since 1970. Midnight of the first day there.
std::uint64_t origin_of(const Timeline& timeline) {
  constexpr std::uint64_t kDay = 86'400'000'000'000;
  return timeline.first_ns() < 1000 * kDay ? 0 : timeline.first_ns() / kDay * kDay;
}

} // namespace

std::string timeline_perfetto(const Timeline& timeline) { return PerfettoWriter(timeline).write(); }

std::string timeline_chrome(const Timeline& timeline) {
  const auto origin_ns = origin_of(timeline);
  std::string json = "{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"note\":" +
                     json_string(timeline_note(timeline));
  if (origin_ns > 0)
    json += fmt::format(",\"ts_from\":\"{} s since 1970\"", origin_ns / 1'000'000'000);
  json += "},\n\"traceEvents\":[";
  const char* comma = "\n";
  const auto add = [&](const std::string& event) {
    json += comma;
    json += event;
    comma = ",\n";
  };
  for (std::size_t log = 0; log < timeline.logs().size(); ++log)
    add(fmt::format(R"({{"ph":"M","name":"process_name","pid":{0},"tid":0,"args":{{"name":{1}}}}})",
                    log + 1, json_string(timeline.logs()[log])));
  std::vector<std::string> names;
  for (const auto& name : timeline.names())
    names.push_back(
        fmt::format(R"("name":{},"cat":"{}")", json_string(name.name), to_string(name.call_class)));
  for (const auto& track : timeline.tracks()) {
    const auto where = fmt::format(R"("pid":{},"tid":{})", pid_of(track), tid_of(track));
    add(fmt::format(R"({{"ph":"M","name":"thread_name",{},"args":{{"name":{}}}}})", where,
                    json_string(track.label())));
    for (const auto& slice : told_apart(track.slices))
      add(fmt::format(R"({{"ph":"X",{},{},"ts":{},"dur":{}}})", names[slice.name], where,
                      microseconds(slice.begin_ns - origin_ns),
                      microseconds(slice.end_ns - slice.begin_ns)));
    for (const auto& mark : track.marks)
      add(fmt::format(R"({{"ph":"i","s":"t","name":{},"cat":"event",{},"ts":{}}})",
                      json_string(mark.text), where,
                      microseconds(mark.time_ns < origin_ns ? 0 : mark.time_ns - origin_ns)));
  }
  return json + "\n]}\n";
}

} // namespace sonictrace::report
