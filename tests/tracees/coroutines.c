/* Traced calls that are open on several stacks at once and return in another order than they began.
 * The stacks lie side by side in one block, or are mapped one by one. */
#include <sys/mman.h>
#include <ucontext.h>

#include "support.h"
#include "tracee.h"

enum { kCoroutines = 5, kRounds = 40, kStack = 64 * 1024 };

static ucontext_t main_context, contexts[kCoroutines];
static int current;
static char lines[kCoroutines * kRounds * 2 + 16][48];
static int used;

static int pause_here(int x) {
  swapcontext(&contexts[current], &main_context);
  return x + 1;
}

static void body(int id) {
  for (int round = 0; round < kRounds; ++round) {
    const int line = used++;
    const int result = tr_callback(100 * id + round, pause_here);
    snprintf(lines[line], sizeof lines[0], "tr_callback(%d) = %d", 100 * id + round, result);
    const int second = used++;
    snprintf(lines[second], sizeof lines[0], "tr_add(%d, %d) = %d", id, round, tr_add(id, round));
  }
}

int main(int argc, char **argv) {
  const int mapped = argc > 1 && strcmp(argv[1], "mapped") == 0;
  char *const block = malloc((size_t)kCoroutines * kStack);
  for (int i = 0; i < kCoroutines; ++i) {
    must(getcontext(&contexts[i]) == 0, "getcontext");
    contexts[i].uc_stack.ss_sp =
        mapped ? mmap(NULL, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
               : block + (size_t)i * kStack;
    contexts[i].uc_stack.ss_size = kStack;
    contexts[i].uc_link = &main_context;
    makecontext(&contexts[i], (void (*)(void))body, 1, i);
  }
  /* Each resumes once to begin a call, then for each round to end it. */
  int left[kCoroutines];
  for (int i = 0; i < kCoroutines; ++i) left[i] = kRounds + 1;
  unsigned random = 12345;
  for (int total = kCoroutines * (kRounds + 1); total > 0;) {
    random = random * 1103515245 + 12345;
    current = (int)(random >> 16) % kCoroutines;
    if (left[current] == 0) continue;
    --left[current], --total;
    swapcontext(&main_context, &contexts[current]);
  }
  for (int i = 0; i < used; ++i) say("%s", lines[i]);
  return 0;
}
