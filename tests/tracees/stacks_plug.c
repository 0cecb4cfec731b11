int sk_note(int n);

static __attribute__((constructor)) void begin(void) {
  sk_note(940);
}

int plug_call(int n) {
  const int result = sk_note(n);
  return result;
}
