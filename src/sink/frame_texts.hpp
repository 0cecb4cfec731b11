#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sonictrace/names/demangle.hpp"
#include "sonictrace/stream/definition.hpp"
#include "sonictrace/stream/record_reader.hpp"

namespace sonictrace {

/// The ids of frames in a record of kind Frames, innermost first. Frames that the record is too
/// short for are left out.
void read_frames(const RecordView& record, std::vector<std::uint32_t>& into);

/// The places that backtraces go through, ready to be printed.
class FrameTexts {
public:
  struct Frame {
    std::uint64_t address = 0;
    std::string soname;   ///< empty: in no module
    std::string function; ///< demangled; empty: not known
    std::uint64_t offset = 0;
    bool is_python = false; ///< then only `function`, and these
    std::string file;
    std::uint32_t line = 0; ///< 0: not known
    std::string text;       ///< a line of the log, without the newline
  };

  /// `ltrace`: addresses without 0x, as ltrace 0.8 has them.
  FrameTexts(DemangleStyle demangle, bool ltrace) : demangle_(demangle), ltrace_(ltrace) {}

  void define(const FrameDefinition& definition);
  /// Null for one that was never defined.
  const Frame* find(std::uint32_t id) const {
    return id < frames_.size() && !frames_[id].text.empty() ? &frames_[id] : nullptr;
  }
  /// A line for each frame, and an empty one that ends the block. Nothing if there are none.
  void append_block(std::string& out, std::span<const std::uint32_t> ids) const;

private:
  DemangleStyle demangle_;
  bool ltrace_;
  std::vector<Frame> frames_; ///< by id
};

} // namespace sonictrace
