# Writes OUT/huge.c and OUT/libhuge.c with N functions, each called once; with an argument, when a
# byte has come.
BEGIN {
  lib = OUT "/libhuge.c"; prog = OUT "/huge.c"
  print "#include <stdio.h>" > prog
  for (i = 0; i < N; i++) {
    printf "int hp_%05d(int x) { return x + %d; }\n", i, i > lib
    printf "int hp_%05d(int);\n", i > prog
  }
  print "int main(int argc, char** argv) { long s = 0;" > prog
  print "  if (argc > 1) { puts(argv[1]); fflush(stdout); getchar(); }" > prog
  for (i = 0; i < N; i++) printf "  s += hp_%05d(%d);\n", i, i % 7 > prog
  print "  printf(\"sum %ld\\n\", s); return 0; }" > prog
}
