/* Calls of several hundred functions of libc, libm and libz, each with what its line in the log
 * should be. Where the text in the program is not the text in the log, it is given. */
#define _GNU_SOURCE
#define __NO_CTYPE /* functions, not macros */
#include <argz.h>
#include <arpa/inet.h>
#include <complex.h>
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <fnmatch.h>
#include <getopt.h>
#include <grp.h>
#include <inttypes.h>
#include <langinfo.h>
#include <libgen.h>
#include <libintl.h>
#include <locale.h>
#include <malloc.h>
#include <math.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <regex.h>
#include <sched.h>
#include <search.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <uchar.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>
#include <zlib.h>

#undef basename
#undef I
#define I_UNIT _Complex_I
#include "expect.h"

/* What was closed or freed is named once more. */
#if defined __GNUC__ && !defined __clang__ && __GNUC__ >= 12
#pragma GCC diagnostic ignored "-Wuse-after-free"
#endif

#define A(pointer) expect_address(pointer)
#define Q(text) expect_quoted(text)

static char buffer[256];
static wchar_t wide[64];

static int compare(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }
static void nothing(void) {}

static void strings(void) {
  char *end = NULL, *rest = NULL;
  U(strlen("abc"));
  U(strlen(""));
  U(strlen("a \"quoted\" one\n"));
  X(strnlen("abcdef", 3), "strnlen(\"abc\", 3) = %lu");
  I(strcmp("a", "a"));
  X(strncmp("abc", "abd", 2), "strncmp(\"ab\", \"ab\", 2) = %d");
  I(strcasecmp("ABC", "abc"));
  X(strncasecmp("ABx", "aby", 2), "strncasecmp(\"AB\", \"ab\", 2) = %d");
  I(strcoll("same", "same"));
  I(strverscmp("a9", "a9"));
  S(strchr("hello", 'l'));
  S(strchr("hello", 'z'));
  S(strrchr("hello", 'l'));
  S(strchrnul("hello", 'z'));
  S(index("hello", 'e'));
  S(rindex("hello", 'h'));
  S(strstr("needle in hay", "in"));
  S(strcasestr("Needle", "DLE"));
  S(strpbrk("hello", "xlo"));
  U(strspn("aabc", "a"));
  U(strcspn("aabc", "c"));
  S(strerror(ENOENT));
  S(strsignal(SIGKILL));
  S(strerrorname_np(EINVAL));
  S(strerrordesc_np(EINVAL));
  S(sigabbrev_np(SIGTERM));
  S(sigdescr_np(SIGHUP));
  X(memcmp("ab\0c", "ab\0c", 4), "memcmp(\"ab\\000c\", \"ab\\000c\", 4) = %d");
  I(bcmp("xy", "xy", 2));
  I(ffs(8));
  I(ffsl(64));
  I(ffsll(256));
  expect_line("memcpy(%s, \"a\\000b\", 3) = %s", A(buffer), A(memcpy(buffer, "a\0b", 3)));
  expect_line("memmove(%s, \"mno\", 3) = %s", A(buffer), A(memmove(buffer, "mno", 3)));
  expect_line("mempcpy(%s, \"pq\", 2) = %s", A(buffer), A(mempcpy(buffer, "pq", 2)));
  expect_line("memset(%s, 'x', 5) = %s", A(buffer), A(memset(buffer, 'x', 5)));
  XP(strcpy(buffer, "xyz"), "strcpy(%s, \"xyz\") = %s", A(buffer));
  expect_line("memchr(\"xyz\", 'y', 3) = %s", A(memchr(buffer, 'y', 3)));
  expect_line("memrchr(\"xyz\", 'q', 3) = %s", A(memrchr(buffer, 'q', 3)));
  expect_line("rawmemchr(%s, 'z') = %s", A(buffer), A(rawmemchr(buffer, 'z')));
  expect_line("memmem(\"xyz\", 3, \"yz\", 2) = %s", A(memmem(buffer, 3, "yz", 2)));
  expect_line("memccpy(%s, %s, 'y', 3) = %s", A(buffer + 8), A(buffer),
              A(memccpy(buffer + 8, buffer, 'y', 3)));
  expect_line("stpcpy(%s, \"one\") = %s", A(buffer), A(stpcpy(buffer, "one")));
  expect_line("strcat(\"one\", \" two\") = %s", A(strcat(buffer, " two")));
  expect_line("strncat(\"one two\", \"abc\", 3) = %s", A(strncat(buffer, "abcdef", 3)));
  expect_line("strncpy(%s, \"xy\", 4) = %s", A(buffer), A(strncpy(buffer, "xy", 4)));
  expect_line("stpncpy(%s, \"wxyz\", 4) = %s", A(buffer), A(stpncpy(buffer, "wxyzzz", 4)));
  expect_line("strxfrm(%s, \"abc\", 16) = %lu", A(buffer), strxfrm(buffer, "abc", 16));
  bzero(buffer, 16);
  expect_line("bzero(%s, 16) = <void>", A(buffer));
  explicit_bzero(buffer, 4);
  expect_line("explicit_bzero(%s, 4) = <void>", A(buffer));
  bcopy("abc", buffer, 4);
  expect_line("bcopy(\"abc\\000\", %s, 4) = <void>", A(buffer));
  expect_line("strtok(\"abc\", \"b\") = \"%s\"", strtok(buffer, "b"));
  expect_line("strtok(nil, \"b\") = \"%s\"", strtok(NULL, "b"));
  memcpy(buffer, "k=v;l", 6);
  expect_line("memcpy(%s, \"k=v;l\\000\", 6) = %s", A(buffer), A(buffer));
  expect_line("strtok_r(\"k=v;l\", \";\", %s) = \"%s\"", A(&rest), strtok_r(buffer, ";", &rest));
  rest = buffer;
  expect_line("strsep(\"k=v\", \"=\") = \"%s\"", strsep(&rest, "="));
  char* copy = strdup("copied");
  expect_line("strdup(\"copied\") = %s", A(copy));
  free(copy);
  expect_line("free(%s) = <void>", A(copy));
  copy = strndup("copied", 3);
  expect_line("strndup(\"cop\", 3) = %s", A(copy));
  free(copy);
  expect_line("free(%s) = <void>", A(copy));
  X(strtol("12abc", &end, 10), "strtol(\"12abc\", \"abc\", 10) = %ld");
  X(strtoul("ff", &end, 16), "strtoul(\"ff\", \"\", 16) = %lu");
  X(strtoll("-9x", &end, 0), "strtoll(\"-9x\", \"x\", 0) = %lld");
  X(strtoull("18446744073709551615", NULL, 10),
    "strtoull(\"18446744073709551615\", nil, 10) = %llu");
  X(strtoimax("7", NULL, 10), "strtoimax(\"7\", nil, 10) = %ld");
  X(strtoumax("8", NULL, 10), "strtoumax(\"8\", nil, 10) = %lu");
  X(strtod("1.5e3z", &end), "strtod(\"1.5e3z\", \"z\") = %.1f");
  X(strtof("0.25", NULL), "strtof(\"0.25\", nil) = %.2f");
  X(strtold("-2.5", NULL), "strtold(\"-2.5\", nil) = %.1Lf");
  I(atoi("42"));
  I(atol("-43"));
  I(atoll("123456789012"));
  D(atof("2.75"));
  I(a64l("./"));
  S(l64a(65));
  char* argz = NULL;
  size_t length = 0;
  X(argz_create_sep("a:b", ':', &argz, &length), "argz_create_sep(\"a:b\", ':', %s, %lu) = %d",
    A(argz), length);
  X(argz_count(argz, length), "argz_count(\"a\\000b\\000\", 4) = %lu");
  free(argz);
  expect_line("free(%s) = <void>", A(argz));
}

static void characters(void) {
  C(toupper('a'));
  C(tolower('A'));
  C(toupper('1'));
  I(isalpha('1'));
  I(isdigit('a'));
  I(isspace('x'));
  I(isupper('a'));
  I(islower('A'));
  I(isalnum('-'));
  I(ispunct('a'));
  I(isprint('\n'));
  I(isgraph(' '));
  I(iscntrl('a'));
  I(isxdigit('g'));
  I(isblank('a'));
  I(isascii(200));
  I(toascii(200));
  I(iswalpha(L'1'));
  I(iswdigit(L'x'));
  I(iswspace(L'x'));
  I(iswupper(L'a'));
  I(iswlower(L'A'));
  I(iswpunct(L'a'));
  X(towupper(L'a'), "towupper(L'a') = L'%lc'");
  X(towlower(L'B'), "towlower(L'B') = L'%lc'");
  U(wcslen(L"wide"));
  X(wcslen(L"a\u00e9"), "wcslen(L\"a\\u00e9\") = %lu");
  X(wcsnlen(L"wide", 2), "wcsnlen(L\"wi\", 2) = %lu");
  I(wcscmp(L"a", L"a"));
  X(wcsncmp(L"ab", L"ac", 1), "wcsncmp(L\"a\", L\"a\", 1) = %d");
  I(wcscasecmp(L"A", L"a"));
  U(wcsspn(L"aab", L"a"));
  U(wcscspn(L"aab", L"b"));
  I(wcwidth(L'a'));
  X(wcschr(L"xyz", L'y') != NULL ? "L\"yz\"" : "nil", "wcschr(L\"xyz\", L'y') = %s");
  X(wcsrchr(L"xyz", L'q') != NULL ? "L\"\"" : "nil", "wcsrchr(L\"xyz\", L'q') = %s");
  X(wcsstr(L"xyz", L"yz") != NULL ? "L\"yz\"" : "nil", "wcsstr(L\"xyz\", L\"yz\") = %s");
  expect_line("wcscpy(%s, L\"copy\") = %s", A(wide), A(wcscpy(wide, L"copy")));
  expect_line("wcscat(L\"copy\", L\"cat\") = %s", A(wcscat(wide, L"cat")));
  expect_line("wmemset(%s, L'z', 3) = %s", A(wide), A(wmemset(wide, L'z', 3)));
  expect_line("wmemcpy(%s, L\"ab\", 2) = %s", A(wide), A(wmemcpy(wide, L"ab", 2)));
  X(wcstol(L"77", NULL, 8), "wcstol(L\"77\", nil, 8) = %ld");
  X(wcstoul(L"9", NULL, 10), "wcstoul(L\"9\", nil, 10) = %lu");
  X(wcstod(L"0.5", NULL), "wcstod(L\"0.5\", nil) = %.1f");
  X(mbstowcs(wide, "abc", 8), "mbstowcs(%s, \"abc\", 8) = %lu", A(wide));
  X(wcstombs(buffer, L"abc", 8), "wcstombs(%s, L\"abc\", 8) = %lu", A(buffer));
  X(mblen("a", 1), "mblen(\"a\", 1) = %d");
  X(wctomb(buffer, L'q'), "wctomb(\"q\", L'q') = %d");
  X(btowc('a'), "btowc(97) = %u");
  X(wctob(L'a'), "wctob(L'a') = %d");
  X(mbtowc(wide, "m", 1), "mbtowc(%s, \"m\", 1) = %d", A(wide));
  X(mbrlen("a", 1, NULL), "mbrlen(\"a\", 1, nil) = %lu");
  X(mbrtowc(wide, "a", 1, NULL), "mbrtowc(%s, \"a\", 1, nil) = %lu", A(wide));
  X(swprintf(wide, 16, L"%d", 5), "swprintf(L\"5\", 16, L\"%%d\", 5) = %d");
}

static void numbers(void) {
  I(abs(-5));
  I(labs(-6));
  I(llabs(-7));
  I(imaxabs(-8));
  const div_t small = div(7, 2);
  expect_line("div(7, 2) = { %d, %d }", small.quot, small.rem);
  const ldiv_t medium = ldiv(-7, 2);
  expect_line("ldiv(-7, 2) = { %ld, %ld }", medium.quot, medium.rem);
  const lldiv_t large = lldiv(9, 4);
  expect_line("lldiv(9, 4) = { %lld, %lld }", large.quot, large.rem);
  V(srand(7));
  I(rand());
  V(srandom(7));
  I(random());
  V(srand48(7));
  D(drand48());
  I(lrand48());
  I(mrand48());
  unsigned seed = 3;
  expect_line("rand_r(3) = %d", rand_r(&seed));

  D(sin(0.5));
  D(cos(0.5));
  D(tan(0.5));
  D(asin(0.5));
  D(acos(0.5));
  D(atan(0.5));
  D(atan2(1.0, 2.0));
  D(sinh(0.5));
  D(cosh(0.5));
  D(tanh(0.5));
  D(asinh(0.5));
  D(acosh(1.5));
  D(atanh(0.5));
  D(exp(1.0));
  D(exp2(3.0));
  D(exp10(2.0));
  D(expm1(0.5));
  D(log(2.0));
  D(log2(8.0));
  D(log10(100.0));
  D(log1p(0.5));
  D(logb(8.0));
  D(pow(2.0, 0.5));
  D(sqrt(2.0));
  D(cbrt(27.0));
  D(hypot(3.0, 4.0));
  D(floor(-1.5));
  D(ceil(1.25));
  D(trunc(-1.5));
  D(round(2.5));
  D(roundeven(2.5));
  D(rint(1.5));
  D(nearbyint(1.5));
  D(fabs(-0.25));
  D(fmod(7.5, 2.0));
  D(remainder(7.5, 2.0));
  D(drem(7.5, 2.0));
  D(fdim(3.0, 1.0));
  D(fmax(1.0, 2.0));
  D(fmin(1.0, 2.0));
  D(fma(2.0, 3.0, 4.0));
  D(copysign(1.0, -2.0));
  D(nextafter(1.0, 2.0));
  D(scalbn(1.5, 3));
  D(scalbln(1.5, 3));
  D(ldexp(0.5, 4));
  D(erf(0.5));
  D(erfc(0.5));
  D(tgamma(5.0));
  D(lgamma(3.0));
  D(j0(1.0));
  D(j1(1.0));
  D(jn(2, 1.0));
  D(y0(1.0));
  D(y1(1.0));
  D(yn(2, 1.0));
  D(significand(8.0));
  I(ilogb(8.0));
  I(lrint(2.5));
  I(llrint(2.5));
  I(lround(2.5));
  I(llround(-2.5));
  F(sinf(0.5));
  F(cosf(0.5));
  F(sqrtf(2.0));
  F(powf(2.0, 0.5));
  F(expf(1.0));
  F(logf(2.0));
  F(fabsf(-1.5));
  F(floorf(1.75));
  F(fmaf(2.0, 3.0, 4.0));
  F(hypotf(3.0, 4.0));
  LD(sqrtl(4.0));
  LD(fabsl(-1.5));
  LD(floorl(1.75));
  LD(powl(2.0, 10.0));
  LD(ldexpl(0.5, 4));
  LD(fmal(2.0, 3.0, 4.0));
  LD(sinl(0.5));
  int exponent = 0, sign = 0;
  double whole = 0, sine = 0, cosine = 0;
  X(frexp(8.0, &exponent), "frexp(8.0, %d) = %.1f", 4);
  X(modf(2.25, &whole), "modf(2.25, 2.0) = %.2f");
  X(remquo(7.0, 2.0, &exponent), "remquo(7.0, 2.0, 4) = %.1f");
  X(lgamma_r(1.0, &sign), "lgamma_r(1.0, 1) = %.1f");
  sincos(0.0, &sine, &cosine);
  expect_line("sincos(0.0, 0.0, 1.0) = <void>");
  const double complex z = 3.0 + 4.0 * I_UNIT;
  X(cabs(z), "cabs({ 3.0, 4.0 }) = %.1f");
  X(creal(z), "creal({ 3.0, 4.0 }) = %.1f");
  X(cimag(z), "cimag({ 3.0, 4.0 }) = %.1f");
  const double complex conjugated = conj(1.5 + 2.5 * I_UNIT);
  expect_line("conj({ 1.5, 2.5 }) = { %.1f, %.1f }", __real__ conjugated, __imag__ conjugated);
  const float complex narrow = conjf(1.5f + 2.5f * I_UNIT);
  expect_line("conjf({ 1.5, 2.5 }) = { %.1f, %.1f }", (double)__real__ narrow,
              (double)__imag__ narrow);
  N(fegetround(), FE_TONEAREST);
  I(fesetround(FE_TONEAREST));
  I(feclearexcept(FE_ALL_EXCEPT));
  X(fetestexcept(FE_INVALID | FE_OVERFLOW), "fetestexcept(FE_INVALID|FE_OVERFLOW) = %d");
}

static void formats(void) {
  static char text[64];
  char* made = NULL;
  FILE* file = fopen("/dev/null", "r+");
  expect_line("fopen(\"/dev/null\", \"r+\") = %s", A(file));
  X(sprintf(text, "%d-%s", 12, "x"), "sprintf(\"12-x\", \"%%d-%%s\", 12, \"x\") = %d");
  X(snprintf(text, 4, "%s", "truncated"), "snprintf(\"tru\", 4, \"%%s\", \"truncated\") = %d");
  X(snprintf(text, 64, "%.2f %c %lx", 1.5, 'y', 255L),
    "snprintf(\"1.50 y ff\", 64, \"%%.2f %%c %%lx\", 1.5, 'y', 0xff) = %d");
  X(fprintf(file, "%5d|%u", -3, 7u), "fprintf(%s, \"%%5d|%%u\", -3, 7) = %d", A(file));
  X(asprintf(&made, "%o", 8u), "asprintf(\"10\", \"%%o\", 010) = %d");
  XV(free(made), "free(%s) = <void>", A(made));
  X(dprintf(2, "%s", ""), "dprintf(2, \"%%s\", \"\") = %d");
  int number = 0, other = 0;
  X(sscanf("12 x", "%d %s", &number, text),
    "__isoc99_sscanf(\"12 x\", \"%%d %%s\", 12, \"x\") = %d");
  X(sscanf("zz", "%d", &other), "__isoc99_sscanf(\"zz\", \"%%d\", %s) = %d", A(&other));
  X(fputs("text", file), "fputs(\"text\", %s) = %d", A(file));
  X(fputc('c', file), "fputc('c', %s) = %d", A(file));
  X(putc('d', file), "putc('d', %s) = %d", A(file));
  X(fwrite("abc", 1, 3, file), "fwrite(\"abc\", 1, 3, %s) = %lu", A(file));
  X(fwrite("wxyz", 2, 2, file), "fwrite(\"wxyz\", 2, 2, %s) = %lu", A(file));
  X(fflush(file), "fflush(%s) = %d", A(file));
  X(fgetc(file), "fgetc(%s) = %d", A(file));
  X(getc(file), "getc(%s) = %d", A(file));
  X(feof(file), "feof(%s) = %d", A(file));
  X(ferror(file), "ferror(%s) = %d", A(file));
  XV(clearerr(file), "clearerr(%s) = <void>", A(file));
  X(fileno(file), "fileno(%s) = %d", A(file));
  X(fseek(file, 0, SEEK_SET), "fseek(%s, 0, SEEK_SET) = %d", A(file));
  X(ftell(file), "ftell(%s) = %ld", A(file));
  XV(rewind(file), "rewind(%s) = <void>", A(file));
  X(setvbuf(file, NULL, _IONBF, 0), "setvbuf(%s, nil, _IONBF, 0) = %d", A(file));
  X(__fwritable(file), "__fwritable(%s) = %d", A(file));
  X(fgets(text, sizeof text, file) == NULL ? "nil" : "?", "fgets(%s, 64, %s) = %s", A(text),
    A(file));
  X(fclose(file), "fclose(%s) = %d", A(file));

  file = tmpfile();
  expect_line("tmpfile() = %s", A(file));
  X(fputs("first\nsecond\n", file), "fputs(\"first\\nsecond\\n\", %s) = %d", A(file));
  XV(rewind(file), "rewind(%s) = <void>", A(file));
  X(fgets(text, sizeof text, file) == text ? "\"first\\n\"" : "?", "fgets(%s, 64, %s) = %s",
    A(text), A(file));
  X(ungetc('x', file), "ungetc('x', %s) = %d", A(file));
  char* line = NULL;
  size_t room = 0;
  X(getline(&line, &room, file), "getline(\"xsecond\\n\", %lu, %s) = %ld", room, A(file));
  XV(free(line), "free(%s) = <void>", A(line));
  XV(rewind(file), "rewind(%s) = <void>", A(file));
  X(fread(text, 1, 5, file), "fread(\"first\", 1, 5, %s) = %lu", A(file));
  X(fread(text, 2, 2, file), "fread(\"\\nsec\", 2, 2, %s) = %lu", A(file));
  X(fclose(file), "fclose(%s) = %d", A(file));
  file = popen("exit 3", "r");
  expect_line("popen(\"exit 3\", \"r\") = %s", A(file));
  X(pclose(file), "pclose(%s) = %d", A(file));
  I(puts(""));
  I(putchar('\n'));
  X(printf("%d%%\n", 5), "printf(\"%%d%%%%\\n\", 5) = %d");
  X(fflush(stdout), "fflush(%s) = %d", A(stdout));
}

static void environment(void) {
  I(setenv("SONICTRACE_A", "b", true));
  S(getenv("SONICTRACE_A"));
  S(secure_getenv("SONICTRACE_A"));
  I(unsetenv("SONICTRACE_A"));
  S(getenv("SONICTRACE_A"));
  static char pair[] = "SONICTRACE_B=c";
  X(putenv(pair), "putenv(\"SONICTRACE_B=c\") = %d");
  S(setlocale(LC_ALL, "C"));
  S(setlocale(LC_NUMERIC, nil));
  S(nl_langinfo(CODESET));
  S(gettext("hello"));
  S(textdomain(nil));
  S(ngettext("one", "many", 2));
  I(fnmatch("*.c", "a.c", FNM_PATHNAME));
  N(fnmatch("*.c", "a.h", 0), FNM_NOMATCH);
  regex_t expression;
  X(regcomp(&expression, "a+", REG_EXTENDED | REG_NOSUB),
    "regcomp(%s, \"a+\", REG_EXTENDED|REG_NOSUB) = %d", A(&expression));
  X(regexec(&expression, "caa", 0, NULL, 0), "regexec(%s, \"caa\", 0, nil, 0) = %d",
    A(&expression));
  X(regexec(&expression, "b", 0, NULL, 0) == REG_NOMATCH ? "REG_NOMATCH" : "?",
    "regexec(%s, \"b\", 0, nil, 0) = %s", A(&expression));
  XV(regfree(&expression), "regfree(%s) = <void>", A(&expression));
  char path[] = "/a/b.c";
  X(basename(path), "basename(\"/a/b.c\") = \"%s\"");
  X(dirname(path), "dirname(\"/a/b.c\") = \"%s\"");
  static char* arguments[] = {(char*)"program", (char*)"-x", NULL};
  X(getopt(2, arguments, "x"), "getopt(2, [ \"program\", \"-x\" ], \"x\") = %d");
  X(getopt_long(2, arguments, "x", NULL, NULL),
    "getopt_long(2, [ \"program\", \"-x\" ], \"x\", nil, nil) = %d");
  int sorted[] = {3, 1, 2}, key = 2;
  XV(qsort(sorted, 3, sizeof sorted[0], compare), "qsort(%s, 3, 4, %s) = <void>", A(sorted),
     A((void*)compare));
  XP(bsearch(&key, sorted, 3, sizeof sorted[0], compare), "bsearch(%s, %s, 3, 4, %s) = %s", A(&key),
     A(sorted), A((void*)compare));
  I(hcreate(8));
  ENTRY item = {(char*)"key", NULL};
  const ENTRY* found = hsearch(item, ENTER);
  expect_line("hsearch({ \"key\", nil }, ENTER) = { \"%s\", nil }", found->key);
  V(hdestroy());
}

static void memory(void) {
  void* block = malloc(100);
  expect_line("malloc(100) = %s", A(block));
  void* const old = block;
  block = realloc(block, 5000);
  expect_line("realloc(%s, 5000) = %s", A(old), A(block));
  XV(free(block), "free(%s) = <void>", A(block));
  block = calloc(3, 4);
  expect_line("calloc(3, 4) = %s", A(block));
  X(malloc_usable_size(block), "malloc_usable_size(%s) = %lu", A(block));
  XV(free(block), "free(%s) = <void>", A(block));
  XV(free(NULL), "free(nil) = <void>");
  block = aligned_alloc(64, 128);
  expect_line("aligned_alloc(64, 128) = %s", A(block));
  XV(free(block), "free(%s) = <void>", A(block));
  block = memalign(32, 8);
  expect_line("memalign(32, 8) = %s", A(block));
  XV(free(block), "free(%s) = <void>", A(block));
  X(posix_memalign(&block, 64, 8), "posix_memalign(%s, 64, 8) = %d", A(block));
  XV(free(block), "free(%s) = <void>", A(block));
  void* other = NULL;
  X(posix_memalign(&other, 3, 8) == EINVAL ? "EINVAL" : "?", "posix_memalign(%s, 3, 8) = %s",
    A(&other));
  block = reallocarray(NULL, 2, 8);
  expect_line("reallocarray(nil, 2, 8) = %s", A(block));
  XV(free(block), "free(%s) = <void>", A(block));
  I(malloc_trim(0));
  I(mallopt(M_PERTURB, 0));

  char* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  expect_line("mmap(nil, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = %s",
              A(page));
  X(mprotect(page, 4096, PROT_NONE), "mprotect(%s, 4096, PROT_NONE) = %d", A(page));
  X(madvise(page, 4096, MADV_DONTNEED), "madvise(%s, 4096, MADV_DONTNEED) = %d", A(page));
  X(msync(page, 4096, MS_SYNC), "msync(%s, 4096, MS_SYNC) = %d", A(page));
  X(munmap(page, 4096), "munmap(%s, 4096) = %d", A(page));
  XP(sbrk(0), "sbrk(0) = %s");
}

static void files(void) {
  char path[] = "/tmp/sonictrace-calls-XXXXXX";
  int fd = mkstemp(path);
  expect_line("mkstemp(\"%s\") = %d", path, fd);
  X(write(fd, "a\0b", 3), "write(%d, \"a\\000b\", 3) = %ld", fd);
  X(pwrite(fd, "xyz", 3, 8), "pwrite(%d, \"xyz\", 3, 8) = %ld", fd);
  X(lseek(fd, 0, SEEK_SET), "lseek(%d, 0, SEEK_SET) = %ld", fd);
  X(read(fd, buffer, 3), "read(%d, \"a\\000b\", 3) = %ld", fd);
  X(pread(fd, buffer, 100, 8), "pread(%d, \"xyz\", 100, 8) = %ld", fd);
  X(read(-1, buffer, 3), "read(-1, %s, 3) = %ld", A(buffer));
  struct iovec parts[2] = {{(char*)"one", 3}, {(char*)"two", 3}};
  X(writev(fd, parts, 2), "writev(%d, [ { \"one\", 3 }, { \"two\", 3 } ], 2) = %ld", fd);
  X(ftruncate(fd, 5), "ftruncate(%d, 5) = %d", fd);
  X(fsync(fd), "fsync(%d) = %d", fd);
  X(fdatasync(fd), "fdatasync(%d) = %d", fd);
  X(fchmod(fd, 0600), "fchmod(%d, 0600) = %d", fd);
  X(flock(fd, LOCK_EX | LOCK_NB), "flock(%d, LOCK_EX|LOCK_NB) = %d", fd);
  X(lockf(fd, F_TEST, 0), "lockf(%d, F_TEST, 0) = %d", fd);
  X(posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM), "posix_fadvise(%d, 0, 0, POSIX_FADV_RANDOM) = %d",
    fd);
  X(fcntl(fd, F_SETFD, 1), "fcntl(%d, F_SETFD, 1) = %d", fd);
  X(fcntl(fd, F_GETFD), "fcntl(%d, F_GETFD) = %d", fd);
  X(isatty(fd), "isatty(%d) = %d", fd);
  X(dup2(fd, 77), "dup2(%d, 77) = %d", fd);
  X(dup3(fd, 78, O_CLOEXEC), "dup3(%d, 78, O_CLOEXEC) = %d", fd);
  I(close(77));
  I(close(78));
  X(close(fd), "close(%d) = %d", fd);
  X(access(path, R_OK | W_OK), "access(\"%s\", R_OK|W_OK) = %d", path);
  X(chmod(path, 0644), "chmod(\"%s\", 0644) = %d", path);
  X(truncate(path, 1), "truncate(\"%s\", 1) = %d", path);
  fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
  expect_line("open(\"%s\", O_RDWR|O_APPEND|O_CLOEXEC) = %d", path, fd);
  X(close(fd), "close(%d) = %d", fd);
  fd = openat(AT_FDCWD, path, O_RDONLY);
  expect_line("openat(AT_FDCWD, \"%s\", O_RDONLY) = %d", path, fd);
  X(close(fd), "close(%d) = %d", fd);
  char renamed[sizeof path];
  for (size_t at = 0; at < sizeof path; ++at)
    renamed[at] = path[at] == '-' ? '_' : path[at];
  X(rename(path, renamed), "rename(\"%s\", \"%s\") = %d", path, renamed);
  X(unlink(renamed), "unlink(\"%s\") = %d", renamed);
  X(unlink(renamed), "unlink(\"%s\") = %d", renamed);
  I(access("/", F_OK));
  char directory[] = "/tmp/sonictrace-calls-XXXXXX";
  X(mkdtemp(directory), "mkdtemp(\"%s\") = \"%s\"", directory);
  X(symlinkat("target", AT_FDCWD, "/tmp/sonictrace-calls-no/such"),
    "symlinkat(\"target\", AT_FDCWD, \"/tmp/sonictrace-calls-no/such\") = %d");
  X(chdir(directory), "chdir(\"%s\") = %d", directory);
  I(mkdir("sub", 0755));
  I(mkdirat(AT_FDCWD, "sub2", 0700));
  I(symlink("sub", "link"));
  X(readlink("link", buffer, 64), "readlink(\"link\", \"sub\", 64) = %ld");
  I(link("link", "hard"));
  I(mkfifo("pipe", 0600));
  I(utimensat(AT_FDCWD, "pipe", nil, AT_SYMLINK_NOFOLLOW));
  X(getcwd(buffer, sizeof buffer), "getcwd(%s, 256) = \"%s\"", A(buffer));
  X(realpath("sub/..", NULL) == NULL ? "nil" : directory, "realpath(\"sub/..\", nil) = \"%s\"");
  DIR* stream = opendir("sub");
  expect_line("opendir(\"sub\") = %s", A(stream));
  const struct dirent* entry = readdir(stream);
  expect_line("readdir(%s) = { \"%s\" }", A(stream), entry->d_name);
  X(dirfd(stream), "dirfd(%s) = %d", A(stream));
  XV(rewinddir(stream), "rewinddir(%s) = <void>", A(stream));
  X(closedir(stream), "closedir(%s) = %d", A(stream));
  I(unlink("link"));
  I(unlink("hard"));
  I(remove("pipe"));
  I(rmdir("sub"));
  I(unlinkat(AT_FDCWD, "sub2", AT_REMOVEDIR));
  I(chdir("/"));
  X(rmdir(directory), "rmdir(\"%s\") = %d", directory);
  struct stat status;
  X(stat("/no/such", &status), "stat(\"/no/such\", %s) = %d", A(&status));
  const mode_t mask = umask(022);
  expect_line("umask(022) = %s%o", "0", mask);
  X(umask(mask), "umask(%s%o) = 0%o", "0", mask);
  X(gnu_dev_makedev(8, 1), "gnu_dev_makedev(8, 1) = %llu");
  X(gnu_dev_major(0x801), "gnu_dev_major(0x801) = %u");
  X(gnu_dev_minor(0x801), "gnu_dev_minor(0x801) = %u");
}

static void descriptors(void) {
  int ends[2];
  X(pipe(ends), "pipe([ %d, %d ]) = %d", ends[0], ends[1]);
  X(close(ends[0]), "close(%d) = %d", ends[0]);
  X(close(ends[1]), "close(%d) = %d", ends[1]);
  X(pipe2(ends, O_CLOEXEC | O_NONBLOCK), "pipe2([ %d, %d ], %s) = %d", ends[0], ends[1],
    "O_CLOEXEC|O_NONBLOCK");
  struct pollfd polled[2] = {{ends[0], POLLIN, 0}, {ends[1], POLLOUT, 0}};
  X(poll(polled, 2, 0), "poll([ { %d, POLLIN, 0 }, { %d, POLLOUT, POLLOUT } ], 2, 0) = %d", ends[0],
    ends[1]);
  fd_set set;
  memset(&set, 0, sizeof set);
  expect_line("memset(%s, '\\0', 128) = %s", A(&set), A(&set));
  FD_SET(3, &set);
  struct timeval none = {0, 0};
  X(select(0, &set, NULL, NULL, &none), "select(0, <3>, nil, nil, { 0, 0 }) = %d");
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  expect_line("epoll_create1(EPOLL_CLOEXEC) = %d", epoll);
  struct epoll_event event = {.events = EPOLLOUT, .data = {.u64 = 5}}, events[2];
  X(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[1], &event),
    "epoll_ctl(%d, EPOLL_CTL_ADD, %d, { EPOLLOUT, 5, 0 }) = %d", epoll, ends[1]);
  X(epoll_wait(epoll, events, 2, 0), "epoll_wait(%d, [ { EPOLLOUT, 5, 0 } ], 2, 0) = %d", epoll);
  X(close(epoll), "close(%d) = %d", epoll);
  X(close(ends[0]), "close(%d) = %d", ends[0]);
  X(close(ends[1]), "close(%d) = %d", ends[1]);
  const int counter = eventfd(3, EFD_CLOEXEC | EFD_NONBLOCK);
  expect_line("eventfd(3, EFD_CLOEXEC|EFD_NONBLOCK) = %d", counter);
  eventfd_t value = 0;
  X(eventfd_read(counter, &value), "eventfd_read(%d, 3) = %d", counter);
  X(eventfd_write(counter, 9), "eventfd_write(%d, 9) = %d", counter);
  X(close(counter), "close(%d) = %d", counter);
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  expect_line("timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK) = %d", timer);
  const struct itimerspec when = {{1, 2}, {3, 4}};
  X(timerfd_settime(timer, 0, &when, NULL),
    "timerfd_settime(%d, 0, { { 1, 2 }, { 3, 4 } }, nil) = %d", timer);
  X(close(timer), "close(%d) = %d", timer);
  const int memory = memfd_create("name", MFD_CLOEXEC);
  expect_line("memfd_create(\"name\", MFD_CLOEXEC) = %d", memory);
  X(close(memory), "close(%d) = %d", memory);

  int pair[2];
  X(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair),
    "socketpair(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0, [ %d, %d ]) = %d", pair[0], pair[1]);
  X(send(pair[0], "ping", 4, MSG_NOSIGNAL), "send(%d, \"ping\", 4, MSG_NOSIGNAL) = %ld", pair[0]);
  X(recv(pair[1], buffer, 64, 0), "recv(%d, \"ping\", 64, 0) = %ld", pair[1]);
  X(sendto(pair[0], "p", 1, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0),
    "sendto(%d, \"p\", 1, %s, nil, 0) = %ld", pair[0], "MSG_DONTWAIT|MSG_NOSIGNAL");
  X(shutdown(pair[0], SHUT_WR), "shutdown(%d, SHUT_WR) = %d", pair[0]);
  X(close(pair[0]), "close(%d) = %d", pair[0]);
  X(close(pair[1]), "close(%d) = %d", pair[1]);
  X(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), "socketpair(AF_UNIX, SOCK_DGRAM, 0, [ %d, %d ]) = %d",
    pair[0], pair[1]);
  X(send(pair[0], "ping", 4, 0), "send(%d, \"ping\", 4, 0) = %ld", pair[0]);
  X(recv(pair[1], buffer, 2, MSG_TRUNC), "recv(%d, \"pi\", 2, MSG_TRUNC) = %ld", pair[1]);
  X(close(pair[0]), "close(%d) = %d", pair[0]);
  X(close(pair[1]), "close(%d) = %d", pair[1]);
  const int internet = socket(AF_INET, SOCK_DGRAM, 0);
  expect_line("socket(AF_INET, SOCK_DGRAM, 0) = %d", internet);
  struct sockaddr_in discard = {.sin_family = AF_INET};
  discard.sin_port = 0x0900;
  discard.sin_addr.s_addr = 0x0100007f;
  X(connect(internet, (const struct sockaddr*)&discard, sizeof discard),
    "connect(%d, \"\\002\\000\\000\\t\\177\\000\\000\\001%s\", 16) = %d", internet,
    "\\000\\000\\000\\000\\000\\000\\000\\000");
  X(close(internet), "close(%d) = %d", internet);
  X(htons(0x1234), "htons(4660) = %u");
  X(ntohs(0x1234), "ntohs(4660) = %u");
  X(htonl(1), "htonl(1) = %u");
  X(ntohl(1), "ntohl(1) = %u");
  struct in_addr address;
  H(inet_addr("127.0.0.1"));
  X(inet_aton("10.0.0.1", &address), "inet_aton(\"10.0.0.1\", %s) = %d", A(&address));
  X(inet_ntoa(address), "inet_ntoa({ 0x100000a }) = \"%s\"");
  X(inet_pton(AF_INET, "1.2.3.4", &address), "inet_pton(AF_INET, \"1.2.3.4\", %s) = %d",
    A(&address));
  X(inet_ntop(AF_INET, &address, buffer, 64), "inet_ntop(AF_INET, %s, %s, 64) = \"%s\"",
    A(&address), A(buffer));
  S(gai_strerror(EAI_NONAME));
  S(hstrerror(NO_DATA));
  const struct protoent* protocol = getprotobyname("no such protocol");
  expect_line("getprotobyname(\"no such protocol\") = %s", protocol == NULL ? "nil" : "?");
}

static void times(void) {
  time_t then = 86400;
  X(time(NULL), "time(nil) = %ld");
  struct tm parts;
  X(gmtime_r(&then, &parts) == &parts ? "{ 0, 0, 0, 2, 0, 70, 5, 1, 0 }" : "?",
    "gmtime_r(86400, %s) = %s", A(&parts));
  X(gmtime(&then) == NULL ? "nil" : "{ 0, 0, 0, 2, 0, 70, 5, 1, 0 }", "gmtime(86400) = %s");
  X(strftime(buffer, 64, "%Y-%m-%d", &parts),
    "strftime(\"1970-01-02\", 64, \"%%Y-%%m-%%d\", { 0, 0, 0, 2, 0, 70, 5, 1, 0 }) = %lu");
  X(timegm(&parts), "timegm({ 0, 0, 0, 2, 0, 70, 5, 1, 0 }) = %ld");
  X(asctime(&parts) == NULL ? "nil" : "\"Fri Jan  2 00:00:00 1970\\n\"",
    "asctime({ 0, 0, 0, 2, 0, 70, 5, 1, 0 }) = %s");
  X(strptime("07", "%M", &parts) == NULL ? "nil" : "\"\"", "strptime(\"07\", \"%%M\", %s) = %s",
    A(&parts));
  D(difftime(5, 3));
  struct timespec now, pause = {0, 1000};
  X(clock_gettime(CLOCK_MONOTONIC, &now), "clock_gettime(CLOCK_MONOTONIC, { %ld, %ld }) = %d",
    now.tv_sec, now.tv_nsec);
  X(clock_getres(CLOCK_REALTIME, NULL), "clock_getres(CLOCK_REALTIME, nil) = %d");
  X(nanosleep(&pause, NULL), "nanosleep({ 0, 1000 }, nil) = %d");
  X(clock_nanosleep(CLOCK_REALTIME, 0, &pause, NULL),
    "clock_nanosleep(CLOCK_REALTIME, 0, { 0, 1000 }, nil) = %d");
  struct timeval day;
  X(gettimeofday(&day, NULL), "gettimeofday({ %ld, %ld }, nil) = %d", day.tv_sec, day.tv_usec);
  I(usleep(10));
  I(sleep(0));
  U(alarm(0));
  const struct itimerval never = {{0, 0}, {0, 0}};
  X(setitimer(ITIMER_REAL, &never, NULL),
    "setitimer(ITIMER_REAL, { { 0, 0 }, { 0, 0 } }, nil) = %d");
}

static void processes(void) {
  const pid_t itself = getpid();
  expect_line("getpid() = %d", itself);
  I(getppid());
  X(prctl(PR_GET_DUMPABLE), "prctl(PR_GET_DUMPABLE) = %d");
  X(prctl(PR_SET_KEEPCAPS, 0), "prctl(PR_SET_KEEPCAPS, 0) = %d");
  int status = 0;
  X(waitpid(-1, &status, WNOHANG), "waitpid(-1, %s, WNOHANG) = %d", A(&status));
  U(getuid());
  U(geteuid());
  U(getgid());
  U(getegid());
  I(getpgrp());
  I(getpgid(0));
  I(getsid(0));
  I(gettid());
  I(getpagesize());
  I(sysconf(_SC_PAGESIZE));
  I(nice(0));
  I(sched_yield());
  N(sched_getscheduler(0), SCHED_OTHER);
  I(sched_get_priority_max(SCHED_FIFO));
  I(getpriority(PRIO_PROCESS, 0));
  struct rlimit limit;
  X(getrlimit(RLIMIT_NOFILE, &limit), "getrlimit(RLIMIT_NOFILE, { %ld, %ld }) = %d",
    (long)limit.rlim_cur, (long)limit.rlim_max);
  struct utsname names;
  X(uname(&names), "uname({ %s, %s, %s, %s, %s }) = %d", Q(names.sysname), Q(names.nodename),
    Q(names.release), Q(names.version), Q(names.machine));
  X(system("exit 4"), "system(\"exit 4\") = %d");
  sigset_t set;
  X(sigemptyset(&set), "sigemptyset(<>) = %d");
  X(sigaddset(&set, SIGINT), "sigaddset(<>, SIGINT) = %d");
  X(sigismember(&set, SIGINT), "sigismember(<1>, SIGINT) = %d");
  X(sigprocmask(SIG_BLOCK, &set, NULL), "sigprocmask(SIG_BLOCK, <1>, nil) = %d");
  X(sigprocmask(SIG_UNBLOCK, &set, NULL), "sigprocmask(SIG_UNBLOCK, <1>, nil) = %d");
  X(sigdelset(&set, SIGINT), "sigdelset(<1>, SIGINT) = %d");
  X(sigfillset(&set), "sigfillset(~<31-32>) = %d");
  struct sigaction action;
  memset(&action, 0, sizeof action);
  expect_line("memset(%s, '\\0', %lu) = %s", A(&action), sizeof action, A(&action));
  action.sa_flags = SA_RESTART | SA_NODEFER;
  action.sa_handler = SIG_DFL;
  X(sigaction(SIGUSR1, &action, NULL),
    "sigaction(SIGUSR1, { nil, <>, SA_RESTART|SA_NODEFER }, nil) = %d");
  X(signal(SIGUSR2, SIG_IGN) == SIG_DFL ? "SIG_DFL" : "?", "signal(SIGUSR2, SIG_IGN) = %s");
  I(raise(SIGUSR2));
  X(kill(itself, 0), "kill(%d, 0) = %d", itself);
  const struct passwd* user = getpwuid(0);
  expect_line("getpwuid(0) = { %s, %u, %u, %s, \"%s\", \"%s\" }", Q(user->pw_name), user->pw_uid,
              user->pw_gid, Q(user->pw_gecos), user->pw_dir, user->pw_shell);
  const struct group* group = getgrnam("no such group");
  expect_line("getgrnam(\"no such group\") = %s", group == NULL ? "nil" : "?");
  X(getentropy(buffer, 0), "getentropy(\"\", 0) = %d");
  X(getrandom(buffer, 0, GRND_NONBLOCK), "getrandom(\"\", 0, GRND_NONBLOCK) = %ld");
  X(gethostname(buffer, sizeof buffer), "gethostname(%s, 256) = %d", Q(buffer));
}

static void* in_thread(void* argument) { return argument; }

static void threads(void) {
  pthread_t thread;
  void* result = NULL;
  X(pthread_create(&thread, NULL, in_thread, buffer), "pthread_create(0x%lx, nil, %s, %s) = %d",
    (unsigned long)thread, A((void*)in_thread), A(buffer));
  X(pthread_join(thread, &result), "pthread_join(0x%lx, %s) = %d", (unsigned long)thread,
    A(buffer));
  const pthread_t thread_itself = pthread_self();
  expect_line("pthread_self() = 0x%lx", thread_itself);
  pthread_attr_t attributes;
  X(pthread_attr_init(&attributes), "pthread_attr_init(%s) = %d", A(&attributes));
  X(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED),
    "pthread_attr_setdetachstate(%s, PTHREAD_CREATE_DETACHED) = %d", A(&attributes));
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  X(pthread_attr_setstacksize(&attributes, 1) == EINVAL ? "EINVAL" : "?",
    "pthread_attr_setstacksize(%s, 1) = %s", A(&attributes));
  X(pthread_attr_destroy(&attributes), "pthread_attr_destroy(%s) = %d", A(&attributes));
  X(pthread_mutex_lock(&mutex), "pthread_mutex_lock(%s) = %d", A(&mutex));
  X(pthread_mutex_trylock(&mutex) == EBUSY ? "EBUSY" : "?", "pthread_mutex_trylock(%s) = %s",
    A(&mutex));
  X(pthread_mutex_unlock(&mutex), "pthread_mutex_unlock(%s) = %d", A(&mutex));
  X(pthread_mutex_destroy(&mutex), "pthread_mutex_destroy(%s) = %d", A(&mutex));
  pthread_mutexattr_t kind;
  X(pthread_mutexattr_init(&kind), "pthread_mutexattr_init(%s) = %d", A(&kind));
  X(pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE),
    "pthread_mutexattr_settype(%s, PTHREAD_MUTEX_RECURSIVE) = %d", A(&kind));
  int type = 0;
  X(pthread_mutexattr_gettype(&kind, &type),
    "pthread_mutexattr_gettype(%s, PTHREAD_MUTEX_RECURSIVE) = %d", A(&kind));
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  X(pthread_cond_signal(&condition), "pthread_cond_signal(%s) = %d", A(&condition));
  X(pthread_cond_broadcast(&condition), "pthread_cond_broadcast(%s) = %d", A(&condition));
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  X(pthread_rwlock_rdlock(&lock), "pthread_rwlock_rdlock(%s) = %d", A(&lock));
  X(pthread_rwlock_unlock(&lock), "pthread_rwlock_unlock(%s) = %d", A(&lock));
  pthread_once_t once = PTHREAD_ONCE_INIT;
  X(pthread_once(&once, nothing), "pthread_once(%s, %s) = %d", A(&once), A((void*)nothing));
  pthread_key_t key = 0;
  X(pthread_key_create(&key, NULL), "pthread_key_create(%u, nil) = %d", key);
  X(pthread_setspecific(key, &key), "pthread_setspecific(%u, %s) = %d", key, A(&key));
  XP(pthread_getspecific(key), "pthread_getspecific(%u) = %s", key);
  X(pthread_key_delete(key), "pthread_key_delete(%u) = %d", key);
  const pthread_t self = thread_itself;
  X(pthread_equal(self, self), "pthread_equal(0x%lx, 0x%lx) = %d", self, self);
  X(pthread_setname_np(self, "named"), "pthread_setname_np(0x%lx, \"named\") = %d", self);
  X(pthread_getname_np(self, buffer, 16), "pthread_getname_np(0x%lx, \"named\", 16) = %d", self);
  X(pthread_kill(self, 0), "pthread_kill(0x%lx, 0) = %d", self);
  int state = 0;
  X(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state),
    "pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, PTHREAD_CANCEL_ENABLE) = %d");
  sem_t semaphore;
  X(sem_init(&semaphore, 0, 2), "sem_init(%s, false, 2) = %d", A(&semaphore));
  int value = 0;
  X(sem_getvalue(&semaphore, &value), "sem_getvalue(%s, 2) = %d", A(&semaphore));
  X(sem_wait(&semaphore), "sem_wait(%s) = %d", A(&semaphore));
  X(sem_post(&semaphore), "sem_post(%s) = %d", A(&semaphore));
  X(sem_destroy(&semaphore), "sem_destroy(%s) = %d", A(&semaphore));
  void* const handle = dlopen("libm.so.6", RTLD_NOW | RTLD_GLOBAL);
  expect_line("dlopen(\"libm.so.6\", RTLD_NOW|RTLD_GLOBAL) = %s", A(handle));
  XP(dlsym(handle, "cos"), "dlsym(%s, \"cos\") = %s", A(handle));
  XP(dlsym(handle, "no_such"), "dlsym(%s, \"no_such\") = %s", A(handle));
  X(dlclose(handle), "dlclose(%s) = %d", A(handle));
}

static void compression(void) {
  S(zlibVersion());
  H(crc32(0, nil, 0));
  X(crc32(0, (const Bytef*)"abc", 3), "crc32(0, \"abc\", 3) = 0x%lx");
  X(adler32(1, (const Bytef*)"abc", 3), "adler32(0x1, \"abc\", 3) = 0x%lx");
  U(compressBound(100));
  S(zError(Z_DATA_ERROR));
  Bytef packed[64], unpacked[64];
  uLongf size = sizeof packed, whole = sizeof unpacked;
  X(compress(packed, &size, (const Bytef*)"abc", 3) == Z_OK ? "Z_OK" : "?",
    "compress(%s, %lu, \"abc\", 3) = %s", A(packed), size);
  X(uncompress(unpacked, &whole, packed, size) == Z_OK ? "Z_OK" : "?",
    "uncompress(%s, 3, \"%s\", %lu) = %s", A(unpacked), "x\\234KLJ\\006\\000\\002M\\001'", size);
  const gzFile file = gzopen("/dev/null", "rb");
  expect_line("gzopen(\"/dev/null\", \"rb\") = %s", A(file));
  X(gzread(file, unpacked, 8), "gzread(%s, \"\", 8) = %d", A(file));
  X(gzgetc_(file), "gzgetc_(%s) = %d", A(file));
  X(gzeof(file), "gzeof(%s) = %d", A(file));
  X(gzclose(file) == Z_BUF_ERROR ? "Z_BUF_ERROR" : "Z_OK", "gzclose(%s) = %s", A(file));
}

int main(void) {
  strings();
  characters();
  numbers();
  formats();
  environment();
  memory();
  files();
  descriptors();
  times();
  processes();
  threads();
  compression();
  return 0;
}
