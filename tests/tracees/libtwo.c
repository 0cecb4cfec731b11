/* Calls the lowest, and itself through its own PLT. */
int one_a(int x);
int two_b(int x) { return x + 10; }
int two_a(int x) { return one_a(x) + two_b(x); }
