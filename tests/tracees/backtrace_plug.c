int bt_here(int n);

int plug_call(int n) {
  const int result = bt_here(n);
  return result;
}
