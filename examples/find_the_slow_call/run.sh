#!/bin/sh
# Finds out why pipeline.c is slow, and whether what was done about it has helped: README.md says what to
# see in the answers. Needs cc, and the two programs.
#
#   SONICTRACE, SONICREPORT  the programs, if they are not in the PATH
#   WORK                     where everything goes; ./slow-call-results if not set
set -eu
here=$(cd "$(dirname "$0")" && pwd)
SONICTRACE=${SONICTRACE:-sonictrace}
SONICREPORT=${SONICREPORT:-sonicreport}
WORK=${WORK:-slow-call-results}

build() { # DIRECTORY [OPTION]
  mkdir -p "$1"
  cc -O2 ${2:-} -DLIBRARY -shared -fPIC -Wl,-soname,libpipeline.so -o "$1/libpipeline.so" "$here/pipeline.c"
  cc -O2 ${2:-} -o "$1/pipeline" "$here/pipeline.c" -L"$1" -lpipeline '-Wl,-rpath,$ORIGIN'
}
step() { printf '\n$ %s\n' "$*"; }
mkdir -p "$WORK"
build "$WORK/slow"
build "$WORK/fixed" -DFIXED
cd "$WORK"
head -c 2097152 /dev/zero >model.bin
slow/pipeline model.bin >untraced.out

step "sonictrace -T -tt -e '*@*' -o slow.log slow/pipeline model.bin"
"$SONICTRACE" -T -tt -e '*@*' -o slow.log slow/pipeline model.bin | tee traced.out
cmp untraced.out traced.out

step "sonicreport top -n 6 slow.log"
"$SONICREPORT" top -n 6 slow.log
step "sonicreport top --sum ret --func fread --format csv -U calls,function slow.log"
"$SONICREPORT" top --sum ret --func fread --format csv -U calls,function slow.log
step "sonicreport gaps --from audio_decode --to frame_generate --top 2 slow.log"
"$SONICREPORT" gaps --from audio_decode --to frame_generate --top 2 slow.log
step "sonicreport rules --frame-func frame_generate slow.log"
"$SONICREPORT" rules --frame-func frame_generate slow.log
step "sonicreport flame -o slow.svg slow.log"
"$SONICREPORT" flame -o slow.svg slow.log

step "sonictrace -T -tt -e '*@*' -o fixed.log fixed/pipeline model.bin"
"$SONICTRACE" -T -tt -e '*@*' -o fixed.log fixed/pipeline model.bin
step "sonicreport diff --allow-single slow.log fixed.log"
"$SONICREPORT" diff --allow-single slow.log fixed.log
