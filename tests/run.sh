#!/usr/bin/env bash
# Everything that is checked, from nothing: installs what it needs (Debian 12; root or sudo), then
#     test    g++, warnings as errors; all tests
#     asan    unit tests, and traces of the golden programs, with ASan and UBSan
#     fuzz    each fuzz target for FUZZ_SECONDS (60), seeded with real files
#     clang   clang 14 compiles everything, warnings as errors
#     bench   what a traced call costs: reported, not judged
# Names of parts run only these; --quick is `test`. The last line sums up. Fails when anything did.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1

parts=()
for argument in "$@"; do
  case $argument in
    --quick) parts+=(test) ;;
    test | asan | fuzz | clang | bench) parts+=("$argument") ;;
    *) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
done
[ ${#parts[@]} -gt 0 ] || parts=(test asan fuzz clang bench)

jobs=$(nproc)
launcher=()
! command -v ccache >/dev/null || launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
passed=0 failed=0 skipped=0

step() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }
pass() { passed=$((passed + 1)); }
fail() { failed=$((failed + 1)); printf 'FAILED: %s\n' "$*"; }

# build DIRECTORY [TARGET...] -- CMAKE_OPTION...
build() {
  local directory=$1 targets=()
  shift
  while [ "$1" != -- ]; do targets+=(--target "$1"); shift; done
  shift
  cmake --log-level=WARNING -S . -B "$directory" -G Ninja "${launcher[@]}" "$@" >/dev/null &&
    cmake --build "$directory" -j "$jobs" "${targets[@]}" >"$directory/build.log" 2>&1 && return
  [ ! -e "$directory/build.log" ] || grep -v '^\[' "$directory/build.log" | head -n 60
  return 1
}

# count_tests JUNIT-FILE: passed, failed and skipped of one run of ctest. A skip is told with its
# reason, and one for want of ptrace is a failure: all that matters here is behind it.
count_tests() {
  python3 - "$1" <<'PYTHON'
import re, sys
import xml.etree.ElementTree as ET
tests = list(ET.parse(sys.argv[1]).getroot().iter("testcase"))
failed = sum(t.get("status") == "fail" for t in tests)
skipped = 0
for test in tests:
    if test.get("status") not in ("notrun", "disabled"):
        continue
    said = test.findtext("system-out") or ""
    reason = re.search(r": Skipped\n(.*)", said)
    reason = reason[1].strip() if reason else (said.strip().splitlines() or ["disabled"])[-1]
    fatal = "ptrace" in reason.lower()
    failed, skipped = failed + fatal, skipped + (not fatal)
    print(f"skipped{', which fails' if fatal else ''}: {test.get('name')}: {reason}", file=sys.stderr)
print(len(tests) - failed - skipped, failed, skipped)
PYTHON
}

# run_tests DIRECTORY [CTEST-OPTION...]: all tests in it, or those chosen, added to the sums.
run_tests() {
  local directory=$1 counts
  shift
  rm -f "$directory/junit.xml"
  ctest --test-dir "$directory" -j 2 --output-on-failure --no-tests=error "$@" \
    --output-junit "$root/$directory/junit.xml" </dev/null >"$directory/ctest.log" 2>&1
  if ! counts=$(count_tests "$directory/junit.xml"); then
    tail -n 20 "$directory/ctest.log"
    fail "ctest in $directory"
    return
  fi
  # What the failed tests said (all of it is in ctest.log), and ctest's closing lines.
  grep -v ' Test *#.* Passed \|^ *Start ' "$directory/ctest.log" |
    sed '/^[0-9]*% tests passed/,$d' | awk '/ Test *#[0-9]+:/ { lines = 0 } ++lines <= 50'
  sed -n '/^[0-9]*% tests passed/,$p' "$directory/ctest.log"
  read -r -a counts <<<"$counts"
  passed=$((passed + counts[0])) failed=$((failed + counts[1])) skipped=$((skipped + counts[2]))
}

run_fuzz_target() { # TARGET SEEDS
  local target=$1 seeds=$2 work=build-fuzz/work-$1
  mkdir -p "$work/corpus" "$seeds" # some have none
  if ./build-fuzz/tests/fuzz/"$target" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 \
    -rss_limit_mb=3000 -max_len=1000000 -print_final_stats=1 -artifact_prefix="$work/finding-" \
    "$work/corpus" "$seeds" </dev/null >"$work/log" 2>&1; then
    printf '%s: %s\n' "$target" "$(grep ' cov: ' "$work/log" | tail -n 1)"
  else
    tail -n 40 "$work/log"
    return 1
  fi
}

collect_fuzz_seeds() {
  local elf=build-fuzz/seeds/elf_fuzz selectors=build-fuzz/seeds/selector_fuzz
  local names=build-fuzz/seeds/demangle_fuzz prototypes=build-fuzz/seeds/proto_fuzz
  rm -rf build-fuzz/seeds
  mkdir -p "$elf" "$selectors" "$names" "$prototypes"
  # Small programs and libraries: of this machine, and the tests' tracees, which have the odd ones.
  find /usr/bin /usr/lib/x86_64-linux-gnu build-test/tests -type f -size -64k \
    \( -perm -u+x -o -name '*.so*' \) -print0 2>/dev/null |
    LC_ALL=C xargs -0 grep -l -a -m 1 $'^\x7fELF' 2>/dev/null | sort | awk 'NR % 3 == 0' | head -n 200 |
    while read -r file; do cp "$file" "$elf/$(echo "$file" | tr / _)"; done
  local number=0 name file
  nm -D --defined-only /usr/lib/x86_64-linux-gnu/libstdc++.so.6 | awk '$3 ~ /^_Z/ && NR % 20 == 0 { print $3 }' |
    while read -r name; do printf '%s' "${name%%@*}" >"$names/$(md5sum <<<"$name" | cut -c 1-8)"; done
  printf '_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE' >"$names/rust-legacy"
  printf '_RNvMs0_NtCs5n8Rq_4core3fmtNtB5_9Formatter9write_str' >"$names/rust-v0"
  local fingerprints=build-fuzz/seeds/fingerprint_fuzz logs=build-fuzz/seeds/log_fuzz
  mkdir -p "$fingerprints" "$logs"
  cp tests/fuzz/sample.sfp "$fingerprints/"
  for file in tests/golden/cases/*/expected.073*; do
    [ ! -f "$file" ] || cp "$file" "$logs/$(echo "$file" | tr / _)"
  done
  local formats=build-fuzz/seeds/format_fuzz
  mkdir -p "$formats"
  printf '%%d %%-05.3s %%*.*f %%2$ls %%hhn %%Lg %%%%' >"$formats/print"
  printf '%%d,%%n %%*s %%5c %%[^]a-z] %%ms %%2$lf %%hhx' >"$formats/scan"
  # Limits for strings and arrays, something to make a memory of, then a prototype file.
  printf '\020\004\001' >"$prototypes/grammar"
  cat >>"$prototypes/grammar" <<'GRAMMAR'
; All of the grammar.
typedef list = struct;
typedef list = struct(int, list*, array(list*, elt1)*);
typedef bits = flags[ulong](A=1, B=0x2, ; two
  C=04);
typedef kind = enum(X, Y=-1, Z);
list* f1(list, +hex(list*), bits, kind, enum[char](P, Q=0x10));
function double f2(float, double, ldouble, struct(double, int), struct(float, float));
long f3(string, string[arg2], string0, +string(array(char, zero(arg2))*), path, bytes[retval]);
int f4(wstring, wchar, wstring[arg2], string(array(char, 6)), bitvec(array(char, 16)*));
int f5(vaformat, addr); int f6();
int f7(int, scanformat);
hide(int) f8(hide(long), bool(int), oct(short), guess(long), octal, file, format);
void f9(void);
import "libc.so";
long f10(+bytes[min(arg2, retval)], ulong, bytes[arg2*4], +?int*, +!int*);
int f11(kind, unless[arg1](X, -1) hex(int), wformat); int f12(vawformat, addr); int f13(wscanformat);
GRAMMAR
  for file in src/proto/prototypes/*.conf; do
    split -l 30 --filter="{ printf '\\020\\004\\002'; cat; } >$prototypes/\$FILE" "$file" "$(basename "$file" .conf)-"
  done
  # A mangled name without its _Z, then a pack.
  local packs=build-fuzz/seeds/pack_fuzz
  mkdir -p "$packs"
  { echo N1a5Mixed3runENS_6HandleENS_4ModeEi; cat <<'PACK'; } >"$packs/all"
# A library 1.2.
library liba.so.1
enum a::Mode i1 Off On=5 Auto
flags a::Access u4 READ=1 WRITE EXECUTE=4 NONE=0
class a::Handle R
class a::Nothing 0
class a::Pair ii
class a::Vague *2
result v
result N1a6HandleE
scope - n s
 _Z1fi 1
scope a::Base v m
 act 0
scope a::Mixed c
 run#0badcafe m1 3=a::Access
 run m0 3=a::Access 2=a::Mode
 stop s1
scope a::Tools c s1
PACK
  for name in opencv libtorch; do
    { echo N2cv6resizeERKNS_3MatEii; shuf -n 60 --random-source="$0" src/proto/prototypes/$name.pack | sort; } >"$packs/$name"
  done
  while read -r line; do
    number=$((number + 1))
    printf '%s' "$line" >"$selectors/$number"
  done <<'SELECTORS'
*@libtorch*
malloc,free+calloc-realloc@libc.so.6
-*@libc*
at::native::*@libtorch_cpu.so.1.13
prog->puts@MAIN
std::map<int, std::string>::operator[]@libstdc++.so.6
operator new(unsigned long)
operator+,operator-@MAIN
/^str[a-z]+$/@/libc\.so/
[a-c]?lloc@/usr/lib/*/libc.so.6
@MAIN-@libm*
f@_C.cpython-311-x86_64-linux-gnu.so
SELECTORS
}

step "packages"
"$root/.ci/install" build test fleet || exit 1

for part in "${parts[@]}"; do
  case $part in
    test)
      step "test: build"
      if build build-test -- -DSONICTRACE_WERROR=ON; then
        step "test: run"
        run_tests build-test
      else
        fail "build with g++"
      fi
      ;;
    asan)
      step "asan: build"
      # Less optimised: it compiles in half the time. Warnings are the other builds' business.
      targets=(sonictrace tracees)
      for layer in tests/unit/*/; do targets+=("unit_$(basename "$layer")"); done
      if build build-asan "${targets[@]}" -- -DSONICTRACE_SANITIZE=ON '-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1'; then
        step "asan: run"
        # The tracer is what is checked; its tracees are built without. LeakSanitizer stops a
        # process with ptrace, which it can't where one is traced already: those end by _exit.
        ASAN_OPTIONS=detect_leaks=1:${ASAN_OPTIONS:-} UBSAN_OPTIONS=print_stacktrace=1 \
          run_tests build-asan -L 'unit|golden'
      else
        fail "build with ASan and UBSan"
      fi
      ;;
    fuzz)
      step "fuzz: build"
      targets=()
      for source in tests/fuzz/*_fuzz.cpp; do targets+=("$(basename "$source" .cpp)"); done
      if build build-fuzz "${targets[@]}" -- -DSONICTRACE_FUZZ=ON '-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -g1' \
        -DCMAKE_C_COMPILER=clang-14 \
        -DCMAKE_CXX_COMPILER=clang++-14; then
        collect_fuzz_seeds
        step "fuzz: run"
        running=()
        for target in "${targets[@]}"; do
          run_fuzz_target "$target" "build-fuzz/seeds/$target" &
          running+=($!)
        done
        for i in "${!targets[@]}"; do
          if wait "${running[$i]}"; then pass; else fail "fuzz target ${targets[$i]}"; fi
        done
      else
        fail "build of the fuzz targets"
      fi
      ;;
    clang)
      step "clang: build"
      # Not to be run, so not optimised: clang's warnings don't depend on it.
      if build build-clang -- -DSONICTRACE_WERROR=ON -DCMAKE_C_COMPILER=clang-14 \
        -DCMAKE_CXX_COMPILER=clang++-14 -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0; then pass; else fail "build with clang"; fi
      ;;
    bench)
      step "bench"
      if build build-test -- -DSONICTRACE_WERROR=ON; then
        sonictrace=$(find build-test -name sonictrace -type f -perm -u+x | head -n 1)
        python3 tests/bench/run.py --programs build-test/tests/bench --sonictrace "$sonictrace"
        python3 tests/bench/syscalls.py --programs build-test/tests/bench --sonictrace "$sonictrace"
        build-test/tests/bench/bench_render
      else
        fail "build of the benchmark"
      fi
      ;;
  esac
done

printf '\n%d s\n' "$SECONDS"
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
