/* What a call through the PLT leaves as it is: on the way there all registers but r11, on the way
 * back all but those that any function may change, and never the vectors, the masks and the x87 stack,
 * if the function itself leaves them. Vectors as arguments and results. */
#include <immintrin.h>
#include <stdint.h>

#include "support.h"

__attribute__((target("avx"))) __m256d tp_avx(__m256d a, __m256d b);
__attribute__((target("avx512f"))) __m512d tp_avx512(__m512d a, __m512d b);
void tp_keep(void);
extern long tp_seen[8], kept_calls;

struct registers {
  uint64_t general[14]; /* rax rdi rsi rdx rcx r8 r9 r10 rbx rbp r12 r13 r14 r15 */
  uint64_t masks[8];
  uint8_t vectors[32][64];
  uint64_t x87;
  uint32_t mxcsr;
  uint16_t control;
} __attribute__((aligned(64)));

struct registers before, after;
uint64_t saved_stack;
void call_keep_plain(void), call_keep_avx(void), call_keep_avx512(void);

/* NAME: loads `before`, calls, stores `after`. The numbers are offsets into struct registers. */
#define MOVE_GENERAL_IN                                                                            \
  "  movq 0+before(%rip), %rax\n  movq 8+before(%rip), %rdi\n  movq 16+before(%rip), %rsi\n"      \
  "  movq 24+before(%rip), %rdx\n  movq 32+before(%rip), %rcx\n  movq 40+before(%rip), %r8\n"     \
  "  movq 48+before(%rip), %r9\n  movq 56+before(%rip), %r10\n  movq 64+before(%rip), %rbx\n"     \
  "  movq 72+before(%rip), %rbp\n  movq 80+before(%rip), %r12\n  movq 88+before(%rip), %r13\n"    \
  "  movq 96+before(%rip), %r14\n  movq 104+before(%rip), %r15\n"
#define MOVE_GENERAL_OUT                                                                           \
  "  movq %rax, 0+after(%rip)\n  movq %rdi, 8+after(%rip)\n  movq %rsi, 16+after(%rip)\n"         \
  "  movq %rdx, 24+after(%rip)\n  movq %rcx, 32+after(%rip)\n  movq %r8, 40+after(%rip)\n"        \
  "  movq %r9, 48+after(%rip)\n  movq %r10, 56+after(%rip)\n  movq %rbx, 64+after(%rip)\n"        \
  "  movq %rbp, 72+after(%rip)\n  movq %r12, 80+after(%rip)\n  movq %r13, 88+after(%rip)\n"       \
  "  movq %r14, 96+after(%rip)\n  movq %r15, 104+after(%rip)\n"
#define PUSH_ALL                                                                                   \
  "  pushq %rbx\n  pushq %rbp\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"          \
  "  subq $8, %rsp\n"
#define POP_ALL                                                                                    \
  "  addq $8, %rsp\n"                                                                              \
  "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbp\n  popq %rbx\n  ret\n"
/* The x87 register that the caller keeps, over a call that needs none. */
#define X87_IN "  fildll 2224+before(%rip)\n"
#define X87_OUT                                                                                    \
  "  fistpll 2224+after(%rip)\n  stmxcsr 2232+after(%rip)\n  fnstcw 2236+after(%rip)\n"
#define FUNCTION(name, in, out)                                                                    \
  __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" PUSH_ALL in X87_IN         \
          MOVE_GENERAL_IN "  call tp_keep@plt\n" MOVE_GENERAL_OUT X87_OUT out POP_ALL ".size "     \
          #name ", . - " #name "\n.previous\n")

_Static_assert(__builtin_offsetof(struct registers, masks) == 112, "as the assembly has it");
_Static_assert(__builtin_offsetof(struct registers, vectors) == 176, "as the assembly has it");
_Static_assert(__builtin_offsetof(struct registers, x87) == 2224, "as the assembly has it");

/* .irp repeats its body for each number. */
#define ALL_16 "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
#define ALL_32 ALL_16 ",16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"
#define IN(numbers, instruction, kind)                                                             \
  "  .irp n, " numbers "\n  " instruction " 176+64*\\n+before(%rip), %" kind "\\n\n  .endr\n"
#define OUT(numbers, instruction, kind)                                                            \
  "  .irp n, " numbers "\n  " instruction " %" kind "\\n, 176+64*\\n+after(%rip)\n  .endr\n"
#define MASKS_IN "  .irp n, 0,1,2,3,4,5,6,7\n  kmovw 112+8*\\n+before(%rip), %k\\n\n  .endr\n"
#define MASKS_OUT "  .irp n, 0,1,2,3,4,5,6,7\n  kmovw %k\\n, 112+8*\\n+after(%rip)\n  .endr\n"

FUNCTION(call_keep_plain, IN(ALL_16, "movups", "xmm"), OUT(ALL_16, "movups", "xmm"));
FUNCTION(call_keep_avx, IN(ALL_16, "vmovups", "ymm"), OUT(ALL_16, "vmovups", "ymm") "  vzeroupper\n");
FUNCTION(call_keep_avx512, IN(ALL_32, "vmovups", "zmm") MASKS_IN,
         OUT(ALL_32, "vmovups", "zmm") MASKS_OUT "  vzeroupper\n");

static void fill(int round, int masks) {
  uint64_t state = (uint64_t)round * 0x9e3779b97f4a7c15u + 1;
  unsigned char *const bytes = (unsigned char *)&before;
  for (size_t i = 0; i < sizeof before; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    bytes[i] = (unsigned char)(state >> 56);
  }
  for (int i = 0; i < 8; ++i) before.masks[i] = masks ? before.masks[i] & 0xffff : 0;
  before.x87 = (uint64_t)round + 7;
}

static int compare(const char *what, size_t vector, int vectors, int masks) {
  int wrong = 0;
  for (int i = 0; i < 14; ++i) { /* at the return: what may hold a result, and what a callee saves */
    const int is_kept = i == 0 || i == 3 || i >= 8;
    if (is_kept && before.general[i] != after.general[i]) wrong = 1, say("%s: general %d", what, i);
  }
  for (int i = 0; i < 8; ++i)
    if ((uint64_t)tp_seen[i] != before.general[i]) wrong = 1, say("%s: seen %d", what, i);
  for (int i = 0; i < vectors; ++i)
    if (memcmp(before.vectors[i], after.vectors[i], vector)) wrong = 1, say("%s: vector %d", what, i);
  for (int i = 0; masks && i < 8; ++i)
    if ((before.masks[i] & 0xffff) != (after.masks[i] & 0xffff)) wrong = 1, say("%s: k%d", what, i);
  if (before.x87 != after.x87) wrong = 1, say("%s: x87", what);
  if (after.mxcsr != 0x1f80 || after.control != 0x37f)
    wrong = 1, say("%s: mxcsr %x control %x", what, after.mxcsr, after.control);
  return wrong;
}

__attribute__((target("avx"))) static int add_avx(int round) {
  union { __m256d vector; double each[4]; } sum;
  const __m256d one = _mm256_set_pd(1, 2, 3, round);
  sum.vector = tp_avx(one, tp_avx(one, one));
  return sum.each[0] != 3 * round || sum.each[1] != 9 || sum.each[2] != 6 || sum.each[3] != 3;
}

__attribute__((target("avx512f"))) static int add_avx512(int round) {
  union { __m512d vector; double each[8]; } sum;
  const __m512d one = _mm512_set_pd(1, 2, 3, 4, 5, 6, 7, round);
  sum.vector = tp_avx512(one, tp_avx512(one, one));
  int wrong = sum.each[0] != 3 * round;
  for (int i = 1; i < 8; ++i) wrong |= sum.each[i] != 3 * (8 - i);
  return wrong;
}

int main(int argc, char **argv) {
  const int rounds = number(argc, argv, 1, 300);
  const int avx = !!__builtin_cpu_supports("avx"), avx512 = !!__builtin_cpu_supports("avx512f");
  int wrong = 0;
  tp_keep(); /* binding it costs r10 (glibc 2.36), with nobody looking */
  for (int round = 0; round < rounds && wrong < 10; ++round) {
    fill(round, 0);
    call_keep_plain();
    wrong += compare("sse", 16, 16, 0);
    if (avx) {
      call_keep_avx();
      wrong += compare("avx", 32, 16, 0) + add_avx(round);
    }
    if (avx512) {
      fill(round, 1);
      call_keep_avx512();
      wrong += compare("avx512", 64, 32, 1) + add_avx512(round);
    }
  }
  say("avx %d avx512 %d wrong %d", avx, avx512, wrong);
  say("calls tp_keep %ld", kept_calls);
  if (avx) say("calls tp_avx %d", 2 * rounds);
  if (avx512) say("calls tp_avx512 %d", 2 * rounds);
  return wrong != 0;
}
