long nameless_run(long rounds);

int main(void) { return nameless_run(3) == 0; }
