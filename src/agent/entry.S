/* Where patched calls and return thunks come in. Everything else is in C++, which is compiled to use
   general registers only, so that the vector registers stay as they are. */

#include "layout.h"

  .section .agent_header, "ax"
  .globl agent_header
  .hidden agent_header
agent_header: /* wire::AgentHeader */
  .ascii "sonicagt"
  .long AGENT_VERSION
  .long agent_text_end - agent_header
  .long agent_enter_routine - agent_header
  .long agent_find_object_routine - agent_header
  .long agent_iterate_phdr_routine - agent_header
  .long agent_backtrace_routine - agent_header
  .long agent_linker_routine - agent_header
  .long agent_thunk_exit - agent_header
  .long agent_copy - agent_header
  .long agent_copy_end - agent_header
  .long agent_copy_fault - agent_header
  .long agent_eh_frame_hdr - agent_header
  .long agent_syscall - agent_header
  .long agent_program_headers - agent_header
  .long 2
  .long agent_enter_with_stack_routine - agent_header
  .long 0, 0

  .balign 8
  .globl agent_program_headers
  .hidden agent_program_headers
agent_program_headers: /* Elf64_Phdr: the text, and its unwind tables */
  .long 1, 5 /* PT_LOAD, read and execute */
  .quad 0, 0, 0
  .quad agent_text_end - agent_header, agent_text_end - agent_header, 4096
  .long 0x6474e550, 4 /* PT_GNU_EH_FRAME */
  .quad agent_eh_frame_hdr - agent_header, agent_eh_frame_hdr - agent_header
  .quad agent_eh_frame_hdr - agent_header
  .quad agent_text_end - agent_header, agent_text_end - agent_header, 4 /* at most */

  .text
  .globl agent_syscall
  .hidden agent_syscall
agent_syscall: /* kCallingCode of process/: a system call, and rt_sigreturn(2) should the tracer be gone */
  syscall
  mov $15, %eax
  syscall
  ud2

/* The thread's block to \block, by its %fs:0 in \key; jumps to \missing where it is not in its own
   place of the table of threads. Leaves \key; \index is clobbered. */
.macro FIND_BLOCK key, index, block, missing
  mov %fs:0, \key
  mov \key, \index
  shr $12, \index
  and $0xffff, \index /* kThreadSlots - 1 */
  shl $4, \index      /* sizeof(ThreadSlot) */
  lea agent_private + PRIVATE_THREADS(%rip), \block
  add \index, \block
  cmp \key, (\block)
  jne \missing
  mov 8(\block), \block
.endm

/* The registers as they were, from the entry frame at rsp. Leaves the flags. */
.macro RESTORE
  mov 0(%rsp), %rdi
  mov 8(%rsp), %rsi
  mov 16(%rsp), %rdx
  mov 24(%rsp), %rcx
  mov 32(%rsp), %r8
  mov 40(%rsp), %r9
  mov ENTRY_FRAME_R10(%rsp), %r10
  mov ENTRY_FRAME_RAX(%rsp), %rax
  mov ENTRY_FRAME_R11(%rsp), %r11
.endm

/* A call has come here through its stub, which has pushed r11; r11 = its site. Of the registers, r11
   is one that a caller need not keep, but some linkers' PLT entries (mold's) have the number of the
   function in it, for the resolver. The frame, wire's numbering of words first:

     136  the return address
     128  r11                                   <- rsp when we came
     120  rax (al: how many vector registers a variadic call uses)
     112  r10 (the static chain)
      48  low halves of xmm0-7, if the site asks for them; in the end, at 104, where we go on
       0  rdi rsi rdx rcx r8 r9                 <- rsp

   The last jump is through memory below rsp, which signal handlers leave alone (psABI 3.2.2).

   With stack: the registers that callees keep lie below that, where copy_stack looks for them. */
.macro ENTER_ROUTINE name, with_stack
  .globl \name
  .hidden \name
  .balign 64
\name:
  .cfi_startproc
  .cfi_def_cfa_offset 16
  endbr64
  push %rax
  .cfi_adjust_cfa_offset 8
  push %r10
  .cfi_adjust_cfa_offset 8
  sub $64, %rsp
  .cfi_adjust_cfa_offset 64
  push %r9
  .cfi_adjust_cfa_offset 8
  push %r8
  .cfi_adjust_cfa_offset 8
  push %rcx
  .cfi_adjust_cfa_offset 8
  push %rdx
  .cfi_adjust_cfa_offset 8
  push %rsi
  .cfi_adjust_cfa_offset 8
  push %rdi
  .cfi_adjust_cfa_offset 8
  FIND_BLOCK %rdi, %rcx, %rdx, 4f
1:
  testl $SITE_HAS_VECTORS, SITE_FLAGS(%r11)
  jnz 3f
2:
  mov %rsp, %rdi
  mov %r11, %rsi
.if \with_stack
  push %r15
  .cfi_adjust_cfa_offset 8
  push %r14
  .cfi_adjust_cfa_offset 8
  push %r13
  .cfi_adjust_cfa_offset 8
  push %r12
  .cfi_adjust_cfa_offset 8
  push %rbp
  .cfi_adjust_cfa_offset 8
  push %rbx
  .cfi_adjust_cfa_offset 8
.endif
  call agent_enter /* rax: where to go; rdx: 0: as the call is; 1: without its return address;
                      else a return address to put on top */
.if \with_stack
  add $48, %rsp
  .cfi_adjust_cfa_offset -48
.endif
  mov %rax, ENTRY_FRAME_TARGET(%rsp)
  cmp $1, %rdx
  ja 7f
  RESTORE
  jb 8f
  /* Through a return thunk, which pushes a return address of its own. Until then the real one lies
     below rsp. */
  lea ENTRY_FRAME_RETURN+8(%rsp), %rsp
  .cfi_def_cfa_offset 0
  jmp *ENTRY_FRAME_TARGET-ENTRY_FRAME_RETURN-8(%rsp)
  .cfi_def_cfa_offset ENTRY_FRAME_RETURN+8
8:
  lea ENTRY_FRAME_RETURN(%rsp), %rsp
  .cfi_def_cfa_offset 8
  jmp *ENTRY_FRAME_TARGET-ENTRY_FRAME_RETURN(%rsp)
  .cfi_def_cfa_offset ENTRY_FRAME_RETURN+8

3: /* Stores only: these leave the upper parts, and AVX state, as they are. */
  movq %xmm0, ENTRY_FRAME_VECTORS(%rsp)
  movq %xmm1, ENTRY_FRAME_VECTORS+8(%rsp)
  movq %xmm2, ENTRY_FRAME_VECTORS+16(%rsp)
  movq %xmm3, ENTRY_FRAME_VECTORS+24(%rsp)
  movq %xmm4, ENTRY_FRAME_VECTORS+32(%rsp)
  movq %xmm5, ENTRY_FRAME_VECTORS+40(%rsp)
  movq %xmm6, ENTRY_FRAME_VECTORS+48(%rsp)
  movq %xmm7, ENTRY_FRAME_VECTORS+56(%rsp)
  jmp 2b

4: /* The thread is not in its place. rdi = its key */
  push %r11
  .cfi_adjust_cfa_offset 8
  push %r11
  .cfi_adjust_cfa_offset 8
  call agent_find_thread
  pop %r11
  .cfi_adjust_cfa_offset -8
  pop %r11
  .cfi_adjust_cfa_offset -8
  mov %rax, %rdx
  test %rax, %rax
  jnz 1b
  mov SITE_SLOT(%r11), %r11
  mov (%r11), %r11
  mov %r11, ENTRY_FRAME_TARGET(%rsp)
  RESTORE
  jmp 8b

7: /* A function that looks at its return address: it returns to a `ret` in the calling module, and that
      to the thunk whose address now lies where the real one was. By way of that `ret` twice, as the
      stack must be aligned as it was (psABI 3.2.2). */
  mov %rdx, ENTRY_FRAME_R10(%rsp)
  RESTORE
  lea ENTRY_FRAME_RETURN(%rsp), %rsp
  .cfi_def_cfa_offset 8
  push %r10
  .cfi_adjust_cfa_offset 8
  push %r10
  .cfi_adjust_cfa_offset 8
  jmp *ENTRY_FRAME_TARGET-ENTRY_FRAME_RETURN+16(%rsp)
  .cfi_endproc
.endm

  ENTER_ROUTINE agent_enter_routine, 0
  ENTER_ROUTINE agent_enter_with_stack_routine, 1

/* A traced call has returned to its thunk; r11 = its entry, rsp = behind the place of the return
   address. The frame:

     104  the return address, which makes this an ordinary frame
      96  (nothing)
      80  st0, if the site asks for it
      64  low halves of xmm0, xmm1, likewise
      48  rax rdx
       0  r10 r9 r8 rdi rsi rcx                    <- rsp

   The last ones are the caller's to save, and it may know better: what was compiled together with the
   called function keeps in them what that one leaves alone (gcc's -fipa-ra). */
  .set EXIT_SAVED, 48
  .globl agent_thunk_exit
  .hidden agent_thunk_exit
  .balign 64
agent_thunk_exit:
  .cfi_startproc
  .cfi_def_cfa rsp, 0
  .cfi_escape 0x16, 16, 3, 0x7b, 0x00, 0x06 /* return address = *(r11 + ENTRY_RETURN_ADDRESS) */
  push ENTRY_RETURN_ADDRESS(%r11)
  .cfi_def_cfa rsp, 8
  .cfi_offset rip, -8
  sub $40, %rsp
  .cfi_adjust_cfa_offset 40
  push %rdx
  .cfi_adjust_cfa_offset 8
  push %rax
  .cfi_adjust_cfa_offset 8
  push %rcx
  .cfi_adjust_cfa_offset 8
  push %rsi
  .cfi_adjust_cfa_offset 8
  push %rdi
  .cfi_adjust_cfa_offset 8
  push %r8
  .cfi_adjust_cfa_offset 8
  push %r9
  .cfi_adjust_cfa_offset 8
  push %r10
  .cfi_adjust_cfa_offset 8
  mov ENTRY_SITE(%r11), %rcx
  testl $SITE_HAS_RESULT_VECTORS | SITE_HAS_X87, SITE_FLAGS(%rcx)
  jnz 3f
1:
  FIND_BLOCK %rdi, %rcx, %rdx, 4f
2:
  lea EXIT_SAVED(%rsp), %rdi
  mov %r11, %rsi
  call agent_leave
  pop %r10
  .cfi_adjust_cfa_offset -8
  pop %r9
  .cfi_adjust_cfa_offset -8
  pop %r8
  .cfi_adjust_cfa_offset -8
  pop %rdi
  .cfi_adjust_cfa_offset -8
  pop %rsi
  .cfi_adjust_cfa_offset -8
  pop %rcx
  .cfi_adjust_cfa_offset -8
  pop %rax
  .cfi_adjust_cfa_offset -8
  pop %rdx
  .cfi_adjust_cfa_offset -8
  add $40, %rsp
  .cfi_adjust_cfa_offset -40
  ret
  .cfi_adjust_cfa_offset 56 + EXIT_SAVED

3:
  testl $SITE_HAS_RESULT_VECTORS, SITE_FLAGS(%rcx)
  jz 5f
  movq %xmm0, EXIT_SAVED+EXIT_FRAME_VECTORS(%rsp)
  movq %xmm1, EXIT_SAVED+EXIT_FRAME_VECTORS+8(%rsp)
5:
  testl $SITE_HAS_X87, SITE_FLAGS(%rcx)
  jz 1b
  fstpt EXIT_SAVED+EXIT_FRAME_X87(%rsp)
  fldt EXIT_SAVED+EXIT_FRAME_X87(%rsp)
  jmp 1b

4: /* rdi = the thread's key */
  push %r11
  .cfi_adjust_cfa_offset 8
  push %r11
  .cfi_adjust_cfa_offset 8
  call agent_find_thread
  pop %r11
  .cfi_adjust_cfa_offset -8
  pop %r11
  .cfi_adjust_cfa_offset -8
  mov %rax, %rdx
  jmp 2b
  .cfi_endproc

/* _dl_find_object(address, result), r11 = its site. */
  .globl agent_find_object_routine
  .hidden agent_find_object_routine
agent_find_object_routine:
  .cfi_startproc
  .cfi_def_cfa_offset 16
  endbr64
  add $8, %rsp /* r11 */
  .cfi_def_cfa_offset 8
  mov SITE_SLOT(%r11), %rdx
  mov (%rdx), %rdx
  jmp agent_find_object
  .cfi_endproc

/* dl_iterate_phdr(callback, data) */
  .globl agent_iterate_phdr_routine
  .hidden agent_iterate_phdr_routine
agent_iterate_phdr_routine:
  .cfi_startproc
  .cfi_def_cfa_offset 16
  endbr64
  add $8, %rsp /* r11 */
  .cfi_def_cfa_offset 8
  mov %r11, %rcx
  mov SITE_SLOT(%r11), %rdx
  mov (%rdx), %rdx
  jmp agent_iterate_phdr
  .cfi_endproc

/* backtrace(buffer, size) */
  .globl agent_backtrace_routine
  .hidden agent_backtrace_routine
agent_backtrace_routine:
  .cfi_startproc
  .cfi_def_cfa_offset 16
  endbr64
  add $8, %rsp /* r11 */
  .cfi_def_cfa_offset 8
  mov SITE_SLOT(%r11), %rdx
  mov (%rdx), %rdx
  jmp agent_backtrace
  .cfi_endproc

/* `_dl_debug_state` jumps here, as it begins. The lock of the linker's list is held: no other thread is
   here. Tells where it was called from. In a fork child that is not followed the arena is another
   process's. */
  .globl agent_linker_routine
  .hidden agent_linker_routine
agent_linker_routine:
  .cfi_startproc
  endbr64
  cmpl $0, agent_private + PRIVATE_SWITCH(%rip)
  je 1f
  mov agent_private + CONTROL_ARENA(%rip), %rax
  mov (%rsp), %rcx
  mov %rcx, SHARED_LINKER_REGISTERS(%rax)
  lea 8(%rsp), %rcx
  mov %rcx, SHARED_LINKER_REGISTERS+8(%rax)
  mov %rbx, SHARED_LINKER_REGISTERS+16(%rax)
  mov %rbp, SHARED_LINKER_REGISTERS+24(%rax)
  mov %r12, SHARED_LINKER_REGISTERS+32(%rax)
  mov %r13, SHARED_LINKER_REGISTERS+40(%rax)
  mov %r14, SHARED_LINKER_REGISTERS+48(%rax)
  mov %r15, SHARED_LINKER_REGISTERS+56(%rax)
  jmp agent_linker_changed
1:
  ret
  .cfi_endproc

/* size_t agent_copy(void* to, const void* from, size_t size): `size`, or 0 where reading faulted: the
   tracer then lets the thread go on at agent_copy_fault. */
  .globl agent_copy, agent_copy_end, agent_copy_fault
  .hidden agent_copy, agent_copy_end, agent_copy_fault
agent_copy:
  .cfi_startproc
  mov %rdx, %rax
  mov %rdx, %rcx
  shr $3, %rcx
  jz 2f
1:
  mov (%rsi), %r8
  mov %r8, (%rdi)
  add $8, %rsi
  add $8, %rdi
  dec %rcx
  jnz 1b
2:
  and $7, %edx
  jz 4f
3:
  movzbl (%rsi), %r8d
  mov %r8b, (%rdi)
  inc %rsi
  inc %rdi
  dec %edx
  jnz 3b
4:
  ret
agent_copy_end:
agent_copy_fault:
  xor %eax, %eax
  ret
  .cfi_endproc

  .section .note.GNU-stack, "", @progbits
