#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "sonictrace/sink/writer.hpp"

namespace sonictrace {

/// Makes a compressed stream of text that comes piece by piece.
class Compressor {
public:
  /// What must be in the stream after a piece.
  enum class Ending {
    Open,    ///< whatever is ready: the best compression
    Flushed, ///< all text so far: a reader of the stream up to here sees it
    Ended,   ///< the same, and the end of the stream: nothing may follow
  };

  virtual ~Compressor() = default;
  /// Appends to `out` the next bytes of the stream.
  virtual void compress(std::string_view text, Ending ending, std::string& out) = 0;
};

/// Null for Compression::None.
std::unique_ptr<Compressor> make_compressor(Compression compression);

} // namespace sonictrace
