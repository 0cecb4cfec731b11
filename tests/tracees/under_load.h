/* What under_load and a test say to each other, in a file that both map. */
#ifndef UNDER_LOAD_H
#define UNDER_LOAD_H

struct load_state {
  long started;   /* all threads are at work */
  long rounds;    /* done by all threads */
  long completed; /* calls of tp_one that have returned, of threads of kind c */
  long arrived;   /* calls of tp_one, counted where they arrive, those of children too */
  long wrong;
  long stop; /* set by the test */
};

#endif
