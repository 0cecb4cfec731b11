int versioned_1(int x) { return x + 1; }
int versioned_2(int x) { return x + 2; }
__asm__(".symver versioned_1, tr_versioned@TR_1");
__asm__(".symver versioned_2, tr_versioned@@TR_2");
