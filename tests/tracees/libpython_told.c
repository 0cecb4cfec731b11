/* What a Python program says itself of where it makes a call: the call. */
int told(int line, const char* function, const char* file) {
  return line + (function != 0) + (file != 0);
}
