#include "engine/python_at_stops.hpp"

#include <fmt/format.h>

#include <utility>

#include "engine/breakpoint/call_words.hpp"
#include "engine/python_layout.hpp"

namespace sonictrace {

void PythonAtStops::learn(const std::shared_ptr<AddressSpace>& space,
                          std::span<const ProbeModule* const> fresh) {
  for (const ProbeModule* const module : fresh) {
    auto layout = python_layout(module->parsed->image(), module->bias);
    if (layout && !*layout) continue;
    std::erase_if(processes_, [](const auto& entry) { return entry.first.expired(); });
    Process& process = processes_[space];
    if (layout) {
      process.layout = **layout;
    } else if (!std::exchange(process.has_complained, true)) {
      complaints_.push_back(fmt::format("process {}: no Python functions are shown: {}: {}",
                                        space->pid(), module->path, layout.error().message()));
    }
  }
}

void PythonAtStops::copy(const std::shared_ptr<AddressSpace>& parent,
                         const std::shared_ptr<AddressSpace>& child) {
  const auto known = processes_.find(parent);
  if (known == processes_.end()) return;
  const auto layout = known->second.layout;
  processes_[child].layout = layout;
}

const wire::PythonLayout*
PythonAtStops::layout_of(const std::shared_ptr<AddressSpace>& space) const {
  const auto known = processes_.find(space);
  return known != processes_.end() && known->second.layout ? &*known->second.layout : nullptr;
}

std::optional<std::uint32_t> PythonAtStops::frame_of(const std::shared_ptr<AddressSpace>& space,
                                                     std::uint64_t thread, wire::PythonHint& hint) {
  const auto known = processes_.find(space);
  if (known == processes_.end() || !known->second.layout) return std::nullopt;
  Process& process = known->second;
  CaptureMemory memory(space->memory());
  wire::PythonReader<CaptureMemory> reader(memory, *process.layout);
  wire::PythonPlace place;
  wire::PythonCode code;
  hint.missed = 0; // stops are rare: it is looked for each time
  if (!reader.find(thread, hint, place) || !reader.read_code(place.code, code)) return std::nullopt;
  if (!process.codes.knows(code.key)) {
    const auto parts = reader.parts_of(code);
    std::vector<std::uint64_t> words(parts.size / sizeof(std::uint64_t));
    const auto bytes = std::as_writable_bytes(std::span(words));
    reader.put_code(code, parts, bytes.data());
    process.codes.learn(bytes);
  }
  return process.codes.frame_at({code.key, place.offset}, frames_);
}

std::vector<std::string> PythonAtStops::take_complaints() { return std::exchange(complaints_, {}); }

} // namespace sonictrace
