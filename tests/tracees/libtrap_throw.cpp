extern "C" [[noreturn]] void tp_throw(int x);
extern "C" long throw_calls();
static long calls;
void tp_throw(int x) {
  ++calls;
  throw x + 1;
}
long throw_calls() { return calls; }
