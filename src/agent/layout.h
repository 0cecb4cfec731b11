/* Offsets that the assembly needs, of the structures in wire/agent_abi.hpp; agent.cpp asserts that
   they are right. */
#define AGENT_VERSION 6
#define PRIVATE_SWITCH 4096  /* AgentPrivate::kSwitchAt: is_on */
#define PRIVATE_THREADS 8192 /* AgentPrivate::kThreadsAt */
#define SITE_SLOT 0
#define SITE_FLAGS 12
#define SITE_HAS_VECTORS 4          /* kSiteVectors */
#define SITE_HAS_RESULT_VECTORS 16  /* kSiteResultVectors */
#define SITE_HAS_X87 32             /* kSiteX87 */
#define ENTRY_RETURN_ADDRESS 0
#define ENTRY_SITE 24
#define CONTROL_ARENA 0            /* AgentControl::arena */
#define SHARED_LINKER_REGISTERS 88 /* SharedControl::linker_registers */
/* EntryFrame and ExitFrame, see entry.S */
#define ENTRY_FRAME_VECTORS 48
#define ENTRY_FRAME_TARGET 104
#define ENTRY_FRAME_R10 112
#define ENTRY_FRAME_RAX 120
#define ENTRY_FRAME_R11 128
#define ENTRY_FRAME_RETURN 136
#define EXIT_FRAME_VECTORS 16
#define EXIT_FRAME_X87 32
#define EXIT_FRAME_RETURN 56
