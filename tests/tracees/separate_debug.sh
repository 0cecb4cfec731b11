#!/bin/sh
# separate_debug.sh HOW FROM TO NAME...: copies libraries with debug information from directory FROM
# to TO, where the debug information lies elsewhere: `link` (.gnu_debuglink, in .debug), `build-id`
# (TO/debug/.build-id), `dwz` (the same, with what they share in one file), `compressed`.
set -e
how=$1 from=$2 to=$3
shift 3
mkdir -p "$to"
for name; do
  cp "$from/$name" "$to/$name"
  [ "$how" = module ] && continue
  if [ "$how" = compressed ]; then
    objcopy --compress-debug-sections=zlib "$to/$name"
    continue
  fi
  objcopy --only-keep-debug "$to/$name" "$to/$name.debug"
  objcopy --strip-debug "$to/$name"
  case $how in
  link)
    mkdir -p "$to/.debug"
    mv "$to/$name.debug" "$to/.debug/$name.debug"
    objcopy --remove-section .note.gnu.build-id --add-gnu-debuglink="$to/.debug/$name.debug" "$to/$name"
    ;;
  build-id | dwz)
    id=$(readelf -n "$to/$name" | sed -n 's/.*Build ID: //p')
    mkdir -p "$to/debug/.build-id/$(echo "$id" | cut -c1-2)"
    file="$to/debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug"
    mv "$to/$name.debug" "$file"
    files="$files $file"
    ;;
  esac
done
if [ "$how" = dwz ]; then
  rm -f "$to/debug/shared.debug"
  # shellcheck disable=SC2086
  dwz -m "$to/debug/shared.debug" -M ../../shared.debug $files
fi
