/* A function that leaves all registers as it finds them, and tells what it found in those of the
 * arguments; and some whose arguments and results are vectors. */
#include <immintrin.h>

long tp_seen[8]; /* rax, rdi, rsi, rdx, rcx, r8, r9, r10 at its entry */
long kept_calls;

__asm__(".text\n"
        ".globl tp_keep\n"
        ".type tp_keep, @function\n"
        "tp_keep:\n"
        "  pushq %rbx\n"
        "  movq tp_seen@GOTPCREL(%rip), %rbx\n"
        "  movq %rax, (%rbx)\n"
        "  movq %rdi, 8(%rbx)\n"
        "  movq %rsi, 16(%rbx)\n"
        "  movq %rdx, 24(%rbx)\n"
        "  movq %rcx, 32(%rbx)\n"
        "  movq %r8, 40(%rbx)\n"
        "  movq %r9, 48(%rbx)\n"
        "  movq %r10, 56(%rbx)\n"
        "  movq kept_calls@GOTPCREL(%rip), %rbx\n"
        "  lock incq (%rbx)\n"
        "  popq %rbx\n"
        "  ret\n"
        ".size tp_keep, . - tp_keep\n"
        ".previous\n");

__attribute__((target("avx"))) __m256d tp_avx(__m256d a, __m256d b);
__attribute__((target("avx"))) __m256d tp_avx(__m256d a, __m256d b) { return _mm256_add_pd(a, b); }

__attribute__((target("avx512f"))) __m512d tp_avx512(__m512d a, __m512d b);
__attribute__((target("avx512f"))) __m512d tp_avx512(__m512d a, __m512d b) {
  return _mm512_add_pd(a, b);
}
