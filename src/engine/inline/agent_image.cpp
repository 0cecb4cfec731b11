#include "engine/inline/agent_image.hpp"

#include <cstring>
#include <string_view>

namespace sonictrace {

Result<AgentImage> AgentImage::of(std::span<const std::byte> bytes) {
  wire::AgentHeader header;
  if (bytes.size() < sizeof header || bytes.size() > wire::kAgentTextRoom)
    return Error::saying("the agent has no right size");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::string_view(header.magic, sizeof header.magic) != "sonicagt" ||
      header.version != wire::kAgentVersion)
    return Error::saying("the agent is not of this version");
  for (const std::uint32_t offset :
       {header.enter, header.find_object, header.iterate_phdr, header.backtrace,
        header.linker_changed, header.thunk_exit, header.copy_begin, header.copy_end,
        header.copy_fault, header.eh_frame_hdr, header.syscall, header.program_headers})
    if (offset >= bytes.size()) return Error::saying("the agent's header points out of it");
  return AgentImage(bytes, header);
}

std::uint32_t AgentImage::offset_of(AgentRoutine routine) const {
  switch (routine) {
    case AgentRoutine::Enter: return header_.enter;
    case AgentRoutine::FindObject: return header_.find_object;
    case AgentRoutine::IteratePhdr: return header_.iterate_phdr;
    case AgentRoutine::Backtrace: return header_.backtrace;
  }
  return header_.enter;
}

} // namespace sonictrace
