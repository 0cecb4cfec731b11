#pragma once

#include <memory>
#include <string>

#include "cli/trace_options.hpp"
#include "sonictrace/base/result.hpp"
#include "sonictrace/sink/text_sink.hpp"
#include "sonictrace/stream/sink.hpp"

namespace sonictrace {

/// The sink that the options ask for: a log or a table, in a file or on stderr, with a status line
/// beside it where somebody watches.
struct MadeSink {
  std::unique_ptr<Sink> sink;
  TextSink* text = nullptr;                  ///< within `sink`; null where it is no text log
  const std::string* closing_line = nullptr; ///< in `sink`; to be looked at after finish()
};

/// Fails, in one line, when the log can't be opened.
Result<MadeSink> make_sink(const TraceOptions& options);

} // namespace sonictrace
