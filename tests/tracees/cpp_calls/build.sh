#!/bin/sh
# build.sh FROM TO LIBCXX COMPILER...: compiles the library and the program into TO, with debug
# information, and into TO-bare without. LIBCXX: where libcxx.sh has put LLVM's library; `-`: that of
# the compiler. If it is not there, there will be nothing in TO but the reason.
set -eu
from=$1 to=$2 libcxx=$3
shift 3
mkdir -p "$to" "$to-bare"
rm -f "$to"/* "$to-bare"/*
headers=
libraries=
if [ "$libcxx" != - ]; then
  if [ -e "$libcxx/missing" ]; then
    cp "$libcxx/missing" "$to/missing"
    cp "$libcxx/missing" "$to-bare/missing"
    exit 0
  fi
  root=$libcxx/usr/lib/llvm-14
  headers="-nostdinc++ -isystem $root/include/c++/v1"
  libraries="-nostdlib++ -L$root/lib -Wl,-rpath,$root/lib -lc++ -lc++abi"
fi
cd "$from"
flags="-std=c++17 -Wall -Wextra -Werror -g $headers"
# shellcheck disable=SC2086
"$@" $flags -fPIC -shared values.cpp classes.cpp -Wl,-soname,libcpp_calls.so $libraries \
  -o "$to/libcpp_calls.so"
# shellcheck disable=SC2086,SC2016
"$@" $flags -g0 main.cpp "$to/libcpp_calls.so" $libraries -Wl,-rpath,'$ORIGIN' -o "$to/cpp_calls"
objcopy --strip-debug "$to/libcpp_calls.so" "$to-bare/libcpp_calls.so"
cp "$to/cpp_calls" "$to-bare/cpp_calls"
