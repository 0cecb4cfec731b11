/* A plug-in whose calls go through a PLT of its own. */
#include "tracee.h"

int plug_run(int x) { return tr_add(x, 7); }
