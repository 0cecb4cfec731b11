/* The lowest of three libraries. */
int one_a(int x) { return x + 1; }
int one_b(int x) { return x + 2; }
int common(int x) { return x + 3; }
