#!/bin/sh
# mini_debug.sh LIBRARY: strips it, but for a .gnu_debugdata with the names of its local functions, as
# distributions do (gdb's manual, "MiniDebugInfo").
set -eu
library=$1
nm -D "$library" --format=posix --defined-only | cut -d ' ' -f 1 | sort >"$library.dynamic"
nm "$library" --format=posix --defined-only | awk '$2 ~ /[Tt]/ { print $1 }' | sort >"$library.all"
comm -13 "$library.dynamic" "$library.all" >"$library.kept"
objcopy --only-keep-debug "$library" "$library.mini"
objcopy -S --remove-section .comment --keep-symbols="$library.kept" "$library.mini"
strip --strip-all "$library"
xz -f "$library.mini"
objcopy --add-section .gnu_debugdata="$library.mini.xz" "$library"
rm -f "$library".*
