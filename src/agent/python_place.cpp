#include "agent/python_place.hpp"

#include "agent/ring_writer.hpp"

namespace sonictrace::agent {
namespace {

using Reader = PythonReader<SafeMemory>;

[[gnu::noinline]] bool tell_code(AgentBlock& block, Reader& reader, const PythonCode& code) {
  const Reader::Parts parts = reader.parts_of(code);
  Place place = take_place(block, sizeof(RingRecord) + parts.size);
  if (place.record == nullptr) return false;
  reader.put_code(code, parts, place.payload());
  RingRecord& record = *place.record;
  record.begin = record.ticks = record.where = 0;
  record.function = record.call = 0;
  record.depth = 0;
  record.flags = record.readable_words = 0;
  record.entry_size = record.result_size = record.stack_size = 0;
  record.time = now();
  commit(place, RingKind::PythonCode);
  return true;
}

[[gnu::noinline]] bool find(AgentBlock& block, const PythonLayout& layout, RingPython& found) {
  // The thread may have become Python's meanwhile.
  if (block.python_looked != block.page_time) {
    block.python_looked = block.page_time;
    block.python.missed = 0;
  }
  SafeMemory memory(block);
  Reader reader(memory, layout);
  PythonPlace place;
  PythonCode code;
  if (!reader.find(block.owner, block.python, place) || !reader.read_code(place.code, code))
    return false;
  // A signal handler may do the same in between: a mixture is nobody's, and is told of again.
  PythonSeen& seen = python_seen(block.index)[code.key % kPythonSeen];
  if (seen.key != code.key || seen.known != block.python_known) {
    if (!tell_code(block, reader, code)) return false;
    seen.known = 0;
    seen.key = code.key;
    store(seen.known, block.python_known);
  }
  found.key = code.key;
  found.offset = place.offset;
  return true;
}

} // namespace

bool find_python_place(AgentBlock& block, RingPython& place) {
  const PythonLayout& layout = control().python;
  if (load(layout.runtime) == 0) [[likely]]
    return false;
  return find(block, layout, place);
}

} // namespace sonictrace::agent
