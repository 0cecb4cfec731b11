#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/inline/site_writer.hpp"
#include "sonictrace/elf/calls.hpp"
#include "sonictrace/probe/module_list.hpp"

namespace sonictrace {

/// Flags of a Site (wire/agent_abi.hpp) that a function's name asks for: those that return twice,
/// look at who has called them, or leave other calls. `linker_is_musl`: whose jump buffers there
/// are.
std::uint32_t flags_by_name(std::string_view function, bool linker_is_musl);

/// Functions that are called in ways of their own, or before a process is ready for the agent:
/// their calls are never patched.
bool is_never_patched(std::string_view function);
/// The same of a slot: of an IFUNC that the image binds itself, whose calls in a static program
/// come before there is thread-local storage.
bool is_never_patched(const elf::ImportSlot& import, bool program_is_static);

/// Whether calls of the function are answered for unwinders (see hidden_hooks).
bool is_asked_by_unwinders(std::string_view function);

/// What the agent's presence asks for in every module, also where nothing is traced: unwinders
/// must find the thunks, and calls that exceptions and jumps leave be told. Of a dl_iterate_phdr,
/// `site.unwind_table` says how far behind AgentControl::thunk_unwind the tables are that the
/// caller is to be given.
///
/// Of functions with a routine of their own (FindObject, IteratePhdr, Backtrace) nothing is
/// recorded: where the user asks for them as well, the routine is what counts, and they are not in
/// the log.
std::vector<CallSitePatch> hidden_hooks(const ProbeModule& module, bool linker_is_musl);

/// Adds hooks to the sites that are to be recorded. A site that is among them already takes over
/// the hook's routine or flags, and stays recorded where the routine is the ordinary one.
void add_hooks(std::vector<CallSitePatch>& sites, const std::vector<CallSitePatch>& hooks);

} // namespace sonictrace
