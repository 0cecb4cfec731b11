#include <fmt/format.h>

#include <unordered_map>

#include "sonictrace/report/flame.hpp"
#include "sonictrace/report/table.hpp"

namespace sonictrace::report {
namespace {

/// `;` separates frames, a line break stacks.
std::string folded_name(std::string_view name) {
  std::string text(name);
  for (char& c : text) {
    if (c == ';') c = ':';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text;
}

/// Tells of each node but the root, with the nodes from the outermost frame to it.
template <class Visit>
void for_each_stack(const std::vector<FlameNode>& nodes, std::uint32_t from, Visit visit) {
  std::vector<std::uint32_t> stack;
  const auto walk = [&](auto& self, std::uint32_t at) -> void { // at most Flame::kDeepest deep
    stack.push_back(at);
    visit(stack);
    for (const auto child : nodes[at].children)
      self(self, child);
    stack.pop_back();
  };
  walk(walk, from);
}

} // namespace

std::string flame_folded(const Flame& flame, FlameWeight weight) {
  const auto& nodes = flame.nodes();
  std::string text;
  std::uint64_t sum_ns = 0;
  std::uint64_t told_us = 0;
  for (const auto thread : nodes[0].children)
    for_each_stack(nodes, thread, [&](const std::vector<std::uint32_t>& stack) {
      const auto& node = nodes[stack.back()];
      std::uint64_t value = node.calls;
      if (weight == FlameWeight::Time) {
        // What is rounded off one stack goes to the next: the sum is right.
        sum_ns += node.self_ns;
        value = (sum_ns + 500) / 1000 - told_us;
        told_us += value;
      }
      if (value == 0) return;
      for (std::size_t i = 0; i < stack.size(); ++i)
        text += (i > 0 ? ";" : "") + folded_name(nodes[stack[i]].name);
      text += fmt::format(" {}\n", value);
    });
  return text;
}

std::string flame_speedscope(const Flame& flame, FlameWeight weight, std::string_view title) {
  const auto& nodes = flame.nodes();
  std::string frames;
  std::unordered_map<std::string, std::size_t> numbers;
  const auto number_of = [&](const FlameNode& node) {
    std::string frame = "{\"name\":" + json_string(node.name);
    if (!node.module.empty()) frame += ",\"file\":" + json_string(node.module);
    frame += "}";
    const auto [known, is_new] = numbers.try_emplace(frame, numbers.size());
    if (is_new) frames += (numbers.size() > 1 ? ",\n" : "") + frame;
    return known->second;
  };
  // Thousandths of a microsecond, written without a detour over double.
  const auto number = [weight](std::uint64_t value) {
    return weight == FlameWeight::Calls ? fmt::format("{}", value)
           : value % 1000 == 0          ? fmt::format("{}", value / 1000)
                                        : fmt::format("{}.{:03}", value / 1000, value % 1000);
  };
  std::string profiles;
  for (const auto thread : nodes[0].children) {
    std::string samples;
    std::string weights;
    std::uint64_t sum = 0;
    for_each_stack(nodes, thread, [&](const std::vector<std::uint32_t>& stack) {
      const auto& node = nodes[stack.back()];
      const auto value = weight == FlameWeight::Time ? node.self_ns : node.calls;
      if (value == 0) return;
      sum += value;
      std::string sample;
      for (std::size_t i = 1; i < stack.size(); ++i)
        sample += (i > 1 ? "," : "") + fmt::format("{}", number_of(nodes[stack[i]]));
      samples += (samples.empty() ? "[" : ",[") + sample + "]";
      weights += (weights.empty() ? "" : ",") + number(value);
    });
    profiles += fmt::format("{}{{\"type\":\"sampled\",\"name\":{},\"unit\":\"{}\",\"startValue\":0,"
                            "\"endValue\":{},\n\"samples\":[{}],\n\"weights\":[{}]}}",
                            profiles.empty() ? "" : ",\n", json_string(nodes[thread].name),
                            weight == FlameWeight::Time ? "microseconds" : "none", number(sum),
                            samples, weights);
  }
  return fmt::format("{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
                     "\"exporter\":\"sonicreport\",\"name\":{},\"activeProfileIndex\":0,\n"
                     "\"shared\":{{\"frames\":[{}]}},\n\"profiles\":[{}]}}\n",
                     json_string(title), frames, profiles);
}

} // namespace sonictrace::report
