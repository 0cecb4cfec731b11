#!/bin/sh
# Is the new version worse than the old one? A job for CI, to be copied: only OLD, NEW and LIMITS are of
# this example. Traces both versions seven times each, taking turns, so that a machine that grows slow
# does so for both; then sonicreport compares the runs. Exit status: 0 no worse, 1 worse, 2 could not be
# judged.
#
#   SONICTRACE, SONICREPORT  the programs, if they are not in the PATH
#   WORK                     where the logs and the fingerprint go; ./compare-results if not set
#   SLOWER                   how much slower one step of the new version is, in per cent; 10 if not set
set -eu
here=$(cd "$(dirname "$0")" && pwd)
SONICTRACE=${SONICTRACE:-sonictrace}
SONICREPORT=${SONICREPORT:-sonicreport}
WORK=${WORK:-compare-results}
RUNS=7 # of each version: with 7, one slow function of up to 85 can be told from chance

build() { # DIRECTORY SLOWER
  mkdir -p "$1"
  cc -O2 -DSLOWER="$2" -DLIBRARY -shared -fPIC -Wl,-soname,libframes.so -o "$1/libframes.so" "$here/frames.c"
  cc -O2 -o "$1/frames" "$here/frames.c" -L"$1" -lframes '-Wl,-rpath,$ORIGIN'
}
mkdir -p "$WORK"
build "$WORK/old" 0
build "$WORK/new" "${SLOWER:-10}"
OLD=$WORK/old/frames
NEW=$WORK/new/frames
# Calls are counted exactly: none may be added. A function's time may grow by 5 %, beyond its noise.
LIMITS="--max-increase calls=0 --max-increase time=5% --max-increase new=0"

run=1
while [ "$run" -le "$RUNS" ]; do
  "$SONICTRACE" -T -tt -o "$WORK/old-$run.log" "$OLD" > /dev/null || exit 2
  "$SONICTRACE" -T -tt -o "$WORK/new-$run.log" "$NEW" > /dev/null || exit 2
  run=$((run + 1))
done

# Kept for the next comparison, when the old version can't be run any more: diff takes it in place of logs.
"$SONICREPORT" fingerprint "$WORK"/new-*.log -o "$WORK/new.sfp"

status=0
# shellcheck disable=SC2086
"$SONICREPORT" diff --old "$WORK"/old-*.log --new "$WORK"/new-*.log $LIMITS || status=$?
exit "$status"
