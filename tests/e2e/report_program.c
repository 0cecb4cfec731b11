// Threads that call one function out of another, and a child: what ltrace -f splits into halves.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int compare(const void* left, const void* right) {
  return strcmp(*(char* const*)left, *(char* const*)right);
}

static void* sort(void* nothing) {
  char* words[] = {"c", "a", "b"};
  qsort(words, 3, sizeof *words, compare);
  usleep(1000);
  return nothing;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], NULL, sort, NULL);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
  if (fork() == 0) {
    puts("child");
    _exit(3);
  }
  wait(NULL);
  for (size_t size = 1; size < 20; ++size)
    free(malloc(size));
  puts("a <0.5> b");
  return 0;
}
