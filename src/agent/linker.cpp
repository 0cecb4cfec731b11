// The dynamic linker's rendezvous with debuggers.

#include "agent/machine.hpp"
#include "agent/threads.hpp"

namespace sonictrace::agent {
namespace {

/// <link.h>, struct r_debug: r_state is 0 (RT_CONSISTENT) when the list is complete.
bool list_is_consistent() {
  const std::uint64_t debug = control().linker_state;
  constexpr std::uint64_t kStateAt = 24;
  return debug == 0 || *reinterpret_cast<const std::uint32_t*>(debug + kStateAt) == 0;
}

void map_as_told(SharedControl& line) {
  line.linker_result =
      system_call(number::kMmap, line.linker_arguments[0], line.linker_arguments[1],
                  line.linker_arguments[2], line.linker_arguments[3], ~std::uint64_t{0});
  store(line.linker_done, line.linker_done + 1);
}

std::uint32_t giving_up_at(const Patience& patience) {
  return static_cast<std::uint32_t>(patience.heartbeat() + 1);
}

/// Until the tracer has dealt with the list.
void wait_for_answer() {
  SharedControl& line = shared();
  store(line.linker_command, static_cast<std::uint32_t>(LinkerCommand::None));
  const std::uint32_t asked = line.linker_asks + 1;
  store(line.linker_asks, asked);
  // A program whose tracer was killed would wait at each dlopen and dlclose. A tracer that was only
  // stopped finds what is new when it comes back.
  Patience patience;
  if (line.linker_gave_up == giving_up_at(patience)) return;
  for (;;) {
    const std::uint32_t command = load(line.linker_command);
    if (command == static_cast<std::uint32_t>(LinkerCommand::Map)) {
      store(line.linker_command, static_cast<std::uint32_t>(LinkerCommand::None));
      map_as_told(line);
      continue;
    }
    if (load(line.linker_answers) == asked) return;
    if (patience.is_over()) {
      line.linker_gave_up = giving_up_at(patience);
      return;
    }
    futex_wait(&line.linker_command, static_cast<std::uint32_t>(LinkerCommand::None));
  }
}

} // namespace

/// `_dl_debug_state` jumps here: the list of modules has changed. Waits until the tracer has dealt
/// with the new ones, before any of their code runs. What that takes is none of dlopen's time.
extern "C" AGENT_HIDDEN void agent_linker_changed() {
  if (the_switch().is_on == 0 || load(shared().is_over) != 0 || !list_is_consistent()) return;
  const std::uint64_t begin = now();
  wait_for_answer();
  if (AgentBlock* const block = known_thread(this_thread())) block->own += now() - begin;
}

} // namespace sonictrace::agent
