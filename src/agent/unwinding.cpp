// Answers for unwinders: which tables describe our code and the return thunks.

#include "agent/machine.hpp"

namespace sonictrace::agent {

extern "C" AGENT_HIDDEN const AgentHeader agent_header;
extern "C" AGENT_HIDDEN const char agent_text_end[], agent_eh_frame_hdr[], agent_program_headers[];

namespace {

std::uint64_t text_begin() { return reinterpret_cast<std::uint64_t>(&agent_header); }
bool is_our_text(std::uint64_t address) {
  return address - text_begin() < reinterpret_cast<std::uint64_t>(agent_text_end) - text_begin();
}

/// struct dl_find_object (glibc, <dlfcn.h>; _dl_find_object is there since 2.35).
struct FoundObject {
  std::uint64_t flags;
  std::uint64_t begin, end;
  const void* link_map;
  const void* eh_frame;
  std::uint64_t reserved[7];
};

/// struct dl_phdr_info (<link.h>).
struct PhdrInfo {
  std::uint64_t address;
  const char* name;
  const void* headers;
  std::uint16_t header_count;
  std::uint64_t added, removed;
  std::uint64_t tls_module;
  void* tls_data;
};
using PhdrCallback = int (*)(PhdrInfo*, std::size_t, void*);

struct Iteration {
  PhdrCallback callback;
  void* data;
  std::uint64_t added = 0, removed = 0;
  std::size_t size = 0;
};

int pass_on(PhdrInfo* info, std::size_t size, void* data) {
  auto& iteration = *static_cast<Iteration*>(data);
  iteration.added = info->added;
  iteration.removed = info->removed;
  iteration.size = size;
  return iteration.callback(info, size, iteration.data);
}

} // namespace

extern "C" AGENT_HIDDEN int agent_find_object(std::uint64_t address, FoundObject* found,
                                              int (*real)(std::uint64_t, FoundObject*)) {
  const bool in_text = is_our_text(address);
  if (!in_text && !is_thunk(address)) return real(address, found);
  found->flags = 0;
  found->begin = in_text ? text_begin() : control().region;
  found->end = in_text ? reinterpret_cast<std::uint64_t>(agent_text_end) : control().region_end;
  found->link_map = nullptr;
  found->eh_frame =
      in_text ? agent_eh_frame_hdr : reinterpret_cast<const void*>(control().thunk_unwind);
  return 0;
}

extern "C" AGENT_HIDDEN int agent_iterate_phdr(PhdrCallback callback, void* data,
                                               int (*real)(PhdrCallback, void*), const Site& site) {
  Iteration iteration = {callback, data};
  if (const int stopped = real(&pass_on, &iteration)) return stopped;
  PhdrInfo text = {};
  text.address = text_begin();
  text.name = "[sonictrace]";
  text.headers = agent_program_headers;
  text.header_count = 2;
  text.added = iteration.added;
  text.removed = iteration.removed;
  if (const int stopped = callback(&text, iteration.size, data)) return stopped;
  PhdrInfo thunks = text;
  thunks.address = control().thunk_unwind + site.unwind_table;
  constexpr std::uint64_t kHeadersAt = 512; // AgentControl::thunk_unwind
  thunks.headers = reinterpret_cast<const void*>(thunks.address + kHeadersAt);
  return callback(&thunks, iteration.size, data);
}

/// backtrace(3), without our own frames. The address behind a thunk's frame is one too small: the
/// unwinder takes it as that of an interrupted instruction, and it is to find the call (see the
/// thunks' unwind table).
extern "C" AGENT_HIDDEN int agent_backtrace(std::uint64_t* buffer, int size,
                                            int (*real)(std::uint64_t*, int)) {
  constexpr int kRoom = 256;
  std::uint64_t room[kRoom];
  const bool has_room = size <= kRoom / 2;
  std::uint64_t* const found = has_room ? room : buffer;
  const int count = real(found, has_room ? kRoom : size);
  int kept = 0;
  bool behind_thunk = false;
  for (int i = 0; i < count && kept < size; ++i) {
    const bool ours = is_our_text(found[i]);
    const bool thunk = is_thunk(found[i]);
    if (!ours && !thunk) buffer[kept++] = found[i] + (behind_thunk ? 1 : 0);
    behind_thunk = thunk;
  }
  return kept;
}

} // namespace sonictrace::agent
