#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/frame_ids.hpp"
#include "sonictrace/stream/definition.hpp"
#include "sonictrace/wire/python.hpp"
#include "sonictrace/wire/ring.hpp"

namespace sonictrace {

/// The lines of Python functions that calls are made in, as ids of FrameDefinitions.
class PythonFrames {
public:
  /// `sink`: told of each place once, before its id is used. `ids`: of this alone.
  PythonFrames(std::function<void(const FrameDefinition&)> sink, FrameIdPool ids)
      : sink_(std::move(sink)), pool_(std::move(ids)) {}

  /// `line`: 0 where it is not known. Nothing once there are too many of them.
  std::optional<std::uint32_t> id_of(const std::string& function, const std::string& file,
                                     std::uint32_t line);

private:
  static constexpr std::size_t kMost = std::size_t{1} << 20;

  std::function<void(const FrameDefinition&)> sink_;
  FrameIdPool pool_;
  std::unordered_map<std::string, std::uint32_t> ids_;
};

/// What was told of code objects (PythonCodeHead), by their keys: of one thread, or of one process.
/// Keeps as many as the agent remembers to have told, in the same places.
class PythonCodes {
public:
  /// A PythonCodeHead, and what it says behind it. Whatever is wrong with it, nothing more comes of
  /// it than wrong texts.
  void learn(std::span<const std::byte> code);
  bool knows(std::uint64_t key) const;
  /// Nothing for what was not told of.
  std::optional<std::uint32_t> frame_at(const wire::RingPython& place, PythonFrames& frames);

private:
  struct Code {
    std::uint64_t key = 0;
    std::string function, file;
    std::uint32_t first_line = 0;
    wire::PythonLines kind = wire::PythonLines::Locations;
    std::vector<std::byte> lines;
    /// By the instruction's offset. As many as there are instructions, at most.
    std::unordered_map<std::int64_t, std::optional<std::uint32_t>> frames;
  };

  std::vector<std::unique_ptr<Code>> codes_; ///< empty: none was told
};

} // namespace sonictrace
