// The function whose calls are traced: as near to nothing as a call can be.
int bench_empty(int value);
int bench_empty(int value) { return value + 1; }
