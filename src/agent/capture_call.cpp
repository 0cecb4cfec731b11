#include "agent/capture_call.hpp"

#include "sonictrace/wire/capture.hpp"

namespace sonictrace::agent {
namespace {

Captured run(AgentBlock& block, std::uint64_t ops, std::size_t count, const CallWords& words,
             std::byte* out, std::size_t room) {
  SafeMemory memory(block);
  CaptureInterpreter<SafeMemory> interpreter(words, memory, out, room);
  interpreter.run(reinterpret_cast<const CaptureOp*>(ops), count);
  return {interpreter.used(), interpreter.is_full()};
}

} // namespace

Captured capture_entry(AgentBlock& block, const EntryFrame& frame, const Site& site, std::byte* out,
                       std::size_t room) {
  const CallWords words = {frame.words, sizeof frame.words, kStackWordsAt,
                           reinterpret_cast<std::uint64_t>(&frame.return_address + 1)};
  return run(block, site.entry_ops, site.entry_count, words, out, room);
}

Captured capture_return(AgentBlock& block, const ExitFrame& frame, const Site& site,
                        const std::uint64_t* kept, std::size_t kept_words, std::uint64_t stack,
                        std::byte* out, std::size_t room) {
  constexpr std::size_t kMostKept = sizeof(OpenCall::data) / 8;
  std::uint64_t words[kKeptWordsAt / 8 + kMostKept];
  const bool has_vectors = (site.flags & kSiteResultVectors) != 0;
  const bool has_x87 = (site.flags & kSiteX87) != 0;
  for (std::size_t i = 0; i < 2; ++i) {
    words[i] = frame.results[i];
    words[kResultVectorAt / 8 + i] = has_vectors ? frame.vectors[i] : 0;
    words[kResultX87At / 8 + i] = has_x87 ? frame.x87[i] : 0;
  }
  if (kept_words > kMostKept) kept_words = kMostKept;
  for (std::size_t i = 0; i < kept_words; ++i)
    words[kKeptWordsAt / 8 + i] = kept[i];
  const CallWords view = {words, static_cast<std::uint32_t>(kKeptWordsAt + kept_words * 8),
                          kKeptWordsAt + kStackWordsAt, stack};
  return run(block, site.return_ops, site.return_count, view, out, room);
}

} // namespace sonictrace::agent
